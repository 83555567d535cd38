import { BROAD_RULES } from './broadRules.ts';
import { applyRules } from './MaskRule.ts';
import { maskPrecise } from './maskPrecise.ts';
import { type SecretRegistry, secretRegistry } from './SecretRegistry.ts';

/**
 * Masks everything that looks like a secret or is named like one, for errors, logs, events and output.
 *
 * Too broad for control data: `password=rules` becomes `[SECRET=REDACTED]`. What enters the state goes through
 * {@link maskPrecise} instead (law L5). Idempotent and linear in the length of the text.
 *
 * @param registry - Whose values are masked, too; a number is none, so that `texts.map(maskSensitiveData)` works.
 *
 * @example
 * ```ts
 * maskSensitiveData('Authorization: Bearer abc.def'); // → 'Authorization: Bearer [REDACTED]'
 * ```
 */
export function maskSensitiveData(text: string, registry: SecretRegistry | number = secretRegistry): string {
  const known = typeof registry === 'number' ? secretRegistry : registry;
  // The precise rules come first: another rule's mark could take away what they tell a secret by.
  const precise = maskPrecise(text, known).value;
  return applyRules(precise, BROAD_RULES, known.isAllowed).value;
}
