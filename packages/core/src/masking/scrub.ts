import type { Masked } from './MaskRule.ts';
import { maskPreciseDeep } from './maskPrecise.ts';

/**
 * A text, or a plain JSON value with its texts, without the secrets that their own shape or {@link secretRegistry} tells, and
 * how many there were: for texts of models and checks, before they enter a graph's state. What is clean is returned as it is.
 *
 * @example
 * ```ts
 * const answer = await step(() => model.invoke(prompt), { key: 'ask' });
 * return { answer: scrub(answer.text).value };
 * ```
 */
export function scrub<T>(value: T): Masked<T> {
  return maskPreciseDeep(value);
}
