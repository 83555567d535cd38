/** What a worker counts since it started. */
export const COUNTED = [
  'fetched',
  'claimed',
  'settled',
  'again',
  'failed',
  'leasesLost',
  'reaped',
  'timers',
  'restoredJobs',
  'unknownLeases',
  'failedComparisons',
  'awayRetries',
  'ships',
  'shippedRuns',
  'shippedBytes',
  'shipMs',
] as const;

export type MeterName = (typeof COUNTED)[number];

/** Counts what a worker does, for `/metrics`. */
export class WorkerMeters {
  readonly #counts = new Map<MeterName, number>();

  add(what: MeterName, by = 1): void {
    this.#counts.set(what, this.of(what) + by);
  }

  /** A statement that carried changes. */
  shipped({ ms, runs, bytes }: { readonly ms: number; readonly runs: number; readonly bytes: number }): void {
    this.add('ships');
    this.add('shipMs', ms);
    this.add('shippedRuns', runs);
    this.add('shippedBytes', bytes);
  }

  of(what: MeterName): number {
    return this.#counts.get(what) ?? 0;
  }
}
