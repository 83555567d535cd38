import { NAMED_RULES, UNKNOWN_RULES } from './broadRules.ts';
import { encodedRules } from './encodedTexts.ts';
import { runToEnd, type Work } from './inTurns.ts';
import { applyRules, type RuleSet, redacted } from './MaskRule.ts';
import { OWN_FORMS } from './maskPrecise.ts';
import { type SecretRegistry, secretRegistry } from './SecretRegistry.ts';
import { MASK_REACH, type Mask, maskSlices, safeCut } from './safeCut.ts';
import { NEWER_URL_RULES } from './urlCredentials.ts';
import { NEWER_RULES } from './vendorTokens.ts';

const FORMS: readonly RuleSet[] = [...OWN_FORMS, ...NEWER_RULES, ...NEWER_URL_RULES];

/** Forms come first: another rule's mark could take away what they tell a secret by. */
const SHOWN_RULES: readonly RuleSet[] = [
  ...FORMS,
  ...encodedRules((text) => applyRules(text, FORMS).count > 0 || applyRules(text, NAMED_RULES).count > 0),
  ...NAMED_RULES,
  ...UNKNOWN_RULES,
];

/**
 * Masks everything that looks like a secret or has a secret's name, for output: errors, logs, events.
 *
 * Too broad for control data: `password=rules` becomes `[SECRET=REDACTED]`. Idempotent. Time is linear in the length of
 * the text.
 *
 * @param registry - Registered values to mask too; a number is ignored, so that `texts.map(maskSensitiveData)` works.
 *
 * @example
 * ```ts
 * maskSensitiveData('Authorization: Bearer abc.def'); // → 'Authorization: Bearer [REDACTED]'
 * ```
 */
export function maskSensitiveData(text: string, registry: SecretRegistry | number = secretRegistry): string {
  return runToEnd(maskingOf(text, typeof registry === 'number' ? secretRegistry : registry));
}

/** {@link maskSensitiveData} in pieces of work. */
export function maskingOf(text: string, registry: SecretRegistry = secretRegistry): Work<string> {
  const rules = [...registry.rules(), ...SHOWN_RULES];
  return maskSlices(text, (slice) => applyRules(slice, rules, registry.isAllowed).value, {
    reach: Math.max(MASK_REACH, registry.longest + 1),
  });
}

/** What is longer was cut. */
const CUT = '…';

const broad: Mask = (text) => maskSensitiveData(text);

/**
 * The beginning of a text, masked: at most `limit` characters are looked at and shown, and one reach more to see that no secret
 * is cut in two. A text of any length takes no time.
 */
export function maskStart(text: string, limit: number, mask: Mask = broad): string {
  if (text.length <= limit) return mask(text);
  const read = text.slice(0, limit + MASK_REACH);
  const cut = safeCut(read, { from: Math.floor(limit / 2), to: limit }, mask);
  return (cut === null ? redacted('overlong') : cut.head) + CUT;
}

/** Characters after the reach in which a place to cut is looked for first. */
const NEAR = 1024;

/**
 * Masks a text whose beginning was cut off, as the tail of a log is: what may be the rest of a secret at its front is
 * left out, about {@link MASK_REACH} characters.
 */
export function maskCutText(text: string): string {
  if (text.length <= MASK_REACH) return '';
  const mask: Mask = (part) => maskSensitiveData(part);
  for (const to of [MASK_REACH + NEAR, 2 * MASK_REACH, text.length]) {
    const cut = safeCut(text, { from: MASK_REACH - 1, to: Math.min(to, text.length) }, mask);
    if (cut !== null) return cut.rest;
  }
  return redacted('overlong');
}
