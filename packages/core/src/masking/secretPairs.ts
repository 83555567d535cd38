import { type MaskRule, redacted } from './MaskRule.ts';

/** Between an id and its secret, in the forms they are written down in; characters. */
const BETWEEN = '[\\s\\S]{1,200}?';
const ALONE = '(?<![A-Za-z0-9/+_-])';
const END = '(?![A-Za-z0-9/+=_-])';

/** Secrets without a shape of their own, told by the id that their vendor writes beside them. */
export const SECRET_PAIR_RULES: readonly MaskRule[] = [
  pairRule('aws_secret_key', '(?:AKIA|ASIA)[0-9A-Z]{16}', '[A-Za-z0-9/+]{40}', ['AKIA', 'ASIA']),
  pairRule('alibaba', 'LTAI[A-Za-z0-9]{12,20}', '[A-Za-z0-9]{30}', 'LTAI'),
  pairRule('tencent', 'AKID[A-Za-z0-9]{32}', '[A-Za-z0-9]{32}', 'AKID'),
  pairRule('razorpay', 'rzp_(?:live|test)_[A-Za-z0-9]{14}', '[A-Za-z0-9]{20,25}', 'rzp_'),
  pairRule('twilio', '(?:SK|AC)[0-9a-f]{32}', '[A-Za-z0-9]{32}', /(?:SK|AC)[0-9a-f]{32}/),
  pairRule('scaleway', 'SCW[A-Z0-9]{17}', '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}', 'SCW'),
  pairRule('google_hmac', 'GOOG[A-Z0-9]{20}(?:[A-Z0-9]{37})?', '[A-Za-z0-9/+]{40}', 'GOOG'),
  pairRule('digitalocean', 'DO00[A-Z0-9]{16}', '[A-Za-z0-9/+]{43}', 'DO00'),
];

/** The id stays for its own rule, which comes after. */
function pairRule(
  ...[name, id, secret, hint]: readonly [string, string, string, NonNullable<MaskRule['hint']>]
): MaskRule {
  return {
    name,
    hint,
    pattern: new RegExp(`((?<![A-Za-z0-9])${id}${END}${BETWEEN}${ALONE})(${secret})${END}`, 'g'),
    replace: ([whole, before = '', value = '']) => (isMixed(value) ? before + redacted(name) : whole),
  };
}

/** A hash in hex is no secret of these, but for one that is given as a UUID. */
function isMixed(value: string): boolean {
  return value.includes('-') || (/[a-z]/.test(value) && /[A-Z]/.test(value) && /\d/.test(value));
}
