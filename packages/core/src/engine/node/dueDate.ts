/** The last moment that a `Date` can name, in milliseconds since the Unix epoch. */
const LAST_MOMENT = 8.64e15;

/** How long, in milliseconds, or until when. */
export type Until = number | Date;

/**
 * When it is over, in milliseconds since the Unix epoch, counted from `now`.
 *
 * @throws TypeError for what is neither; RangeError for a date that is none, or a number that is negative or leads to none.
 */
export function dueDate(until: Until, now: number): number {
  if (until instanceof Date) {
    const at = until.getTime();
    if (!Number.isNaN(at)) return at;
    throw new RangeError('Expected a valid date.');
  }
  if (typeof until !== 'number') throw new TypeError('Expected milliseconds or a Date.');
  const at = now + until;
  if (until >= 0 && at <= LAST_MOMENT) return Math.ceil(at);
  throw new RangeError(`Expected milliseconds from 0 up to the year 275760, got ${until}.`);
}
