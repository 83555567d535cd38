import { KEY_BLOCK_RULES } from './keyBlocks.ts';
import { redacted } from './MaskRule.ts';
import { SECRET_PAIR_RULES } from './secretPairs.ts';
import { TOKEN_SHAPES } from './tokenShapes.ts';
import { URL_CREDENTIAL_RULES } from './urlCredentials.ts';
import { VENDOR_RULES } from './vendorTokens.ts';

const NAMED = [
  ...KEY_BLOCK_RULES,
  ...SECRET_PAIR_RULES,
  ...URL_CREDENTIAL_RULES,
  ...VENDOR_RULES,
  ...TOKEN_SHAPES,
].flatMap((rule) => ('name' in rule ? [rule.name] : []));

/** Everything a mask leaves behind. A secret that is a part of it could never be masked for good. */
const MARKS = [
  'Bearer [REDACTED]',
  '[API_KEY=REDACTED]',
  '[AWS_KEY=REDACTED]',
  '[SECRET=REDACTED]',
  '://[CREDENTIALS_REDACTED]@',
  ...[...NAMED, 'registered', 'token', 'encoded'].map(redacted),
];

/** True for a text that masks themselves write. */
export function isPartOfMark(text: string): boolean {
  return MARKS.some((mark) => mark.includes(text));
}
