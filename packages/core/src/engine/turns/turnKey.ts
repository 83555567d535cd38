import { DevsError } from '../../errors/DevsError.ts';
import { maskPrecise } from '../../masking/maskPrecise.ts';

/** Characters of a turn's key: the id of a message, of whatever service. */
const LONGEST_KEY = 1000;

/**
 * A key is compared as it is: two that differ in a secret alone would be one once they are masked.
 *
 * @throws TypeError if it is no text with characters, RangeError if it is too long.
 * @throws DevsError `INVALID_INPUT` if it holds a secret.
 */
export function assertTurnKey(key: unknown, threadId: string): asserts key is string {
  if (typeof key !== 'string' || key === '') throw new TypeError('Expected turn as a text with characters.');
  if (!(key as string & { isWellFormed(): boolean }).isWellFormed())
    throw new TypeError('Expected turn as a text without lone surrogates.');
  if (key.length > LONGEST_KEY) {
    throw new RangeError(`Expected turn to have at most ${LONGEST_KEY} characters, got ${key.length}.`);
  }
  if (maskPrecise(key).count === 0) return;
  throw new DevsError(`The key of a turn of run "${threadId}" holds a secret.`, {
    code: 'INVALID_INPUT',
    remedy: 'Name the turn by the id of the message it answers, or by a hash of it.',
    context: { threadId },
  });
}
