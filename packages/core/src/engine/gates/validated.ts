import type { AnswerSchema, Validated } from './DeclaredGate.ts';

/**
 * What a schema makes of a value.
 *
 * @throws TypeError for a schema that does not answer at once: the node that asks cannot wait for it.
 */
export function validated<Value>(schema: AnswerSchema<Value>, value: unknown): Validated<Value> {
  const result = schema['~standard'].validate(value);
  if (result instanceof Promise) throw new TypeError('The schema of an answer must be synchronous.');
  return result;
}
