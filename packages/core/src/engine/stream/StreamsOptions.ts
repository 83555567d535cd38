/** What of the streams of runs is kept in the state file. */
export interface StreamsOptions {
  /** Events of each run that are kept at least, the newest ones. @defaultValue 10,000 */
  readonly keep?: number;
}

const KEEP = 10_000;

/**
 * How many events of a run are kept; `null` for none.
 *
 * @throws RangeError if that is not a whole number of at least 1.
 */
export function keptEvents(streams: StreamsOptions | false | undefined): number | null {
  if (streams === false) return null;
  const { keep = KEEP } = streams ?? {};
  if (Number.isSafeInteger(keep) && keep >= 1) return keep;
  throw new RangeError(`Expected streams.keep to be a whole number of at least 1, got ${String(keep)}.`);
}
