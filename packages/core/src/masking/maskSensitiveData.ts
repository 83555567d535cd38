import { NAMED_RULES, UNKNOWN_RULES } from './broadRules.ts';
import { encodedRules } from './encodedTexts.ts';
import { runToEnd, type Work } from './inTurns.ts';
import { applyRules, type RuleSet } from './MaskRule.ts';
import { OWN_FORMS } from './maskPrecise.ts';
import { maskSlices } from './maskSlices.ts';
import { type SecretRegistry, secretRegistry } from './SecretRegistry.ts';
import { MASK_REACH } from './safeCut.ts';
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
