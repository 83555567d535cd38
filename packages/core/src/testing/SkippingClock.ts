/**
 * A clock that stands still until a test moves it; a negative step sets it back.
 *
 * @example
 * ```ts
 * const clock = new SkippingClock();
 * const app = durable(builder, { file, now: clock.now });
 * clock.advance(3 * 24 * 60 * 60 * 1000);
 * ```
 */
export class SkippingClock {
  #at: number;

  /** @param start - Milliseconds since the Unix epoch, UTC, or a date. @defaultValue 2030-01-01 */
  constructor(start: number | Date = Date.UTC(2030, 0, 1)) {
    this.#at = validTime(Number(start));
  }

  /** Milliseconds since the Unix epoch, UTC. Can be passed on without its clock. */
  readonly now = (): number => this.#at;

  /** Moves the clock. @throws RangeError unless `ms` is a whole number of milliseconds. */
  advance(ms: number): void {
    this.#at = validTime(this.#at + ms);
  }
}

function validTime(at: number): number {
  if (Number.isSafeInteger(at)) return at;
  throw new RangeError(`Expected a time in whole milliseconds, got ${String(at)}.`);
}
