import type { Law } from '../lawOf.ts';

const MAX_NAME = 200;

/**
 * A name as it is recorded, so that who waits and who tells have the same.
 *
 * @throws TypeError for what is no text; RangeError for an empty one or more than 200 characters.
 */
export function signalName(name: unknown, law: Law): string {
  if (typeof name !== 'string') throw new TypeError('The name of the signal is missing.');
  if (name === '' || name.length > MAX_NAME)
    throw new RangeError(`The name of a signal must have 1 to ${MAX_NAME} characters, got ${name.length}.`);
  return law.keep(name).value;
}
