import { isDevsError } from '../../errors/DevsError.ts';
import type { DueCriteria } from '../../state/threads/WaitStore.ts';
import type { EngineStore } from '../EngineStore.ts';
import type { DriveOptions } from './drive.ts';
import { dueCriteria, hasContinuableChild } from './due.ts';

export interface RunDueOptions extends Pick<DriveOptions, 'signal' | 'abort' | 'callbacks'> {
  /** What runs wait for and is due by then has come, in milliseconds since the Unix epoch. @defaultValue the app's clock */
  readonly now?: number;
  /** Of the runs that are driven. @defaultValue all that are due */
  readonly limit?: number;
}

/** A run that is due and could not be driven, such as one of another graph: it stays due. */
interface RefusedRun {
  readonly id: string;
  readonly error: unknown;
}

/** What a look at everything that is due has led to. */
export interface DueRuns<Result> {
  /** Runs that this call has driven, in that order, and where they stand. */
  readonly driven: readonly (Result & { readonly id: string })[];
  readonly refused: readonly RefusedRun[];
}

/** Drives one run, if `isDue` still says so once it is held. */
type DriveOne<Result> = (id: string, options: DriveOptions) => Promise<Result>;

/**
 * Drives every run that can go on without a human, one after the other, the one that is due longest first; those that drivers
 * have died with come last, and are left to others where this process drives something else. A run that another process drives
 * is its business.
 *
 * @throws RangeError for a `limit` that is no number of runs, or a `now` that is no time.
 */
export async function runDue<Result extends object>(
  { now, limit = Number.POSITIVE_INFINITY, ...options }: RunDueOptions,
  store: EngineStore,
  drive: DriveOne<Result>,
): Promise<DueRuns<Result>> {
  if (now !== undefined && !Number.isFinite(now)) throw new RangeError(`now: expected a time, got ${now}`);
  if (!(limit >= 1)) throw new RangeError(`limit: expected 1 or more, got ${limit}`);
  const { waits, children, now: clock } = store;
  const since = dueCriteria(clock(), now);
  const how = { ...options, ...(now !== undefined && { now }) };
  const isLeaving = (): boolean => options.signal?.aborted === true || options.abort?.aborted === true;
  const driven: (Result & { readonly id: string })[] = [];
  const refused: RefusedRun[] = [];
  const due = [...new Set([...waits.dueRuns(since), ...children.waitingParents()])];
  const deaths = new Map(due.map((id) => [id, store.threads.deathsOf(id)]));
  for (const id of due.toSorted((a, b) => (deaths.get(a) ?? 0) - (deaths.get(b) ?? 0))) {
    if (driven.length >= limit || isLeaving()) break;
    const looked = await driveIfDue(id, { since, how, drive }, store);
    if (looked === null) continue;
    if (looked.isDriven) driven.push({ id, ...looked.result });
    else refused.push({ id, error: looked.error });
  }
  return { driven, refused };
}

type DueLook<Result> =
  | { readonly isDriven: true; readonly result: Result }
  | { readonly isDriven: false; readonly error: unknown };

/** `null` where another process has the run, or was faster. */
async function driveIfDue<Result>(
  id: string,
  {
    since,
    how,
    drive,
  }: { readonly since: DueCriteria; readonly how: DriveOptions; readonly drive: DriveOne<Result> },
  store: EngineStore,
): Promise<DueLook<Result> | null> {
  const { threads, waits, children } = store;
  const isDueNow = (): boolean => waits.isDue(id, since) || hasContinuableChild(id, since, store);
  if (threads.driverOf(id) !== null || !isDueNow()) return null;
  let isDriven = false;
  const isDue = (): boolean => {
    isDriven = isDueNow();
    return isDriven;
  };
  try {
    const result = await drive(id, { ...how, isDue });
    return isDriven ? { isDriven, result } : null;
  } catch (error) {
    if (isDevsError(error, 'THREAD_BUSY')) return null;
    // A child of another graph is driven with its parent, which is due as well.
    if (isDevsError(error, 'GRAPH_CHANGED') && children.find(id) !== null) return null;
    return { isDriven: false, error };
  }
}
