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
 * @example
 * ```ts
 * maskSensitiveData('Authorization: Bearer abc.def'); // → 'Authorization: Bearer [REDACTED]'
 * ```
 */
export function maskSensitiveData(text: string, registry: SecretRegistry = secretRegistry): string {
  // The precise rules come first: another rule's mark could take away what they tell a secret by.
  const precise = maskPrecise(text, registry).value;
  return applyRules(precise, BROAD_RULES, registry.isAllowed).value;
}
