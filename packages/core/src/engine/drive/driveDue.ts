import { isDevsError } from '../../errors/DevsError.ts';
import type { DueSince } from '../../state/WaitStore.ts';
import type { EngineStore } from '../EngineStore.ts';
import type { DriveOptions } from './drive.ts';
import { ASKED_TO_STOP } from './drainOnAbort.ts';

export interface DriveDueOptions extends Pick<DriveOptions, 'signal' | 'abort' | 'callbacks'> {
  /** What is due by then has come, in milliseconds since the Unix epoch. @defaultValue the app's clock */
  readonly now?: number;
  /** Of the runs that are driven. @defaultValue all that are due */
  readonly limit?: number;
}

/** What a look at everything that is due has led to. */
export interface DrivenDue<Result> {
  /** Runs that this call has driven, in that order, and where they stand. */
  readonly driven: readonly (Result & { readonly id: string })[];
  /** Runs that are due and could not be driven, such as those of another graph: they stay due. */
  readonly refused: readonly { readonly id: string; readonly error: unknown }[];
}

/** Drives one run, unless it is not due any more once it is held. */
export type DriveIfDue<Result> = (id: string, options: DriveOptions) => Promise<Result>;

/**
 * Drives every run that can go on without a human, one after the other, the one that is due longest first. A run that
 * another process drives is its business.
 *
 * @throws RangeError for a `limit` that is no number of runs, or a `now` that is no time.
 */
export async function driveDue<Result>(
  { now, limit = Number.POSITIVE_INFINITY, ...options }: DriveDueOptions,
  { threads, waits, now: clock }: EngineStore,
  drive: DriveIfDue<Result>,
): Promise<DrivenDue<Result>> {
  if (now !== undefined && !Number.isFinite(now)) throw new RangeError(`now: expected a time, got ${now}`);
  if (!(limit >= 1)) throw new RangeError(`limit: expected 1 or more, got ${limit}`);
  const since: DueSince = { now: now ?? clock(), leftFor: ASKED_TO_STOP };
  const driven: (Result & { readonly id: string })[] = [];
  const refused: { readonly id: string; readonly error: unknown }[] = [];
  for (const id of waits.dueRuns(since)) {
    if (driven.length >= limit || options.signal?.aborted || options.abort?.aborted) break;
    if (threads.driverOf(id) !== null) continue;
    let wasDue = false;
    const isDue = (): boolean => {
      wasDue = waits.isDue(id, since);
      return wasDue;
    };
    try {
      const result = await drive(id, { ...options, ...(now !== undefined && { now }), isDue });
      if (wasDue) driven.push({ id, ...result });
    } catch (error) {
      if (!isDevsError(error, 'THREAD_BUSY')) refused.push({ id, error });
    }
  }
  return { driven, refused };
}
