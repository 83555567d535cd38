import { isWellFormed } from '../../values/isWellFormed.ts';

/**
 * The id of a run, as a caller gives it. Without types, SQLite would keep the number 5 as the text "5.0".
 *
 * @throws TypeError
 */
export function runIdOf(id: unknown): string {
  if (typeof id === 'string') return id;
  const what = typeof id === 'object' && id !== null ? 'an object' : String(id);
  const isNumber = typeof id === 'number' || typeof id === 'bigint';
  const hint = isNumber ? `Pass String(${id}).` : 'It is the first argument, as in app.run(id, input).';
  throw new TypeError(`The id of a run must be a string, got ${what}. ${hint}`);
}

/**
 * The same for a run that may begin with it. Half a character becomes U+FFFD in the file, where two ids would then be one.
 *
 * @throws TypeError
 */
export function newRunIdOf(id: unknown): string {
  const text = runIdOf(id);
  if (text === '') throw new TypeError('The id of a run must not be empty.');
  if (isWellFormed(text)) return text;
  throw new TypeError('The id of a run must be a string without lone surrogates.');
}
