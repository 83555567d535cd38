import type { Callbacks } from '@langchain/core/callbacks/manager';
import type { Durability } from '../../config/durability.ts';
import { endingWith, isDevsError } from '../../errors/DevsError.ts';
import { isAborted } from '../../events/onAbort.ts';
import { afterBarrier } from '../../state/commits/CommitBarrier.ts';
import { AWAITS_INPUT, awaitsInput, hasEnded, type Lease } from '../../state/threads/threadRecords.ts';
import type { DueCriteria } from '../../state/threads/WaitStore.ts';
import { outsideGraphs } from '../execution/ambientConfig.ts';
import { withDriveContext } from '../execution/driveContext.ts';
import { lawOf, underLaw } from '../execution/lawOf.ts';
import { StopControl } from '../execution/StopControl.ts';
import { shouldYield, yieldToEventLoop } from '../execution/yieldToEventLoop.ts';
import type { EngineStore } from '../gates/EngineStore.ts';
import type { Goal } from '../graph/NodeEngine.ts';
import { ClaimedRun } from './ClaimedRun.ts';
import { followStops, SignalWatch } from './draining.ts';
import { dueCriteria, hasContinuableChild } from './due.ts';
import type { Engine } from './Engine.ts';
import {
  beginDrive,
  type ClaimedDrive,
  claimAndBegin,
  releaseIgnoringErrors,
  releasing,
  takeRoom,
} from './lease.ts';
import type { OwnRuns } from './ownRuns.ts';
import { type Driven, ended, isOver, reasonOf, type SessionOutcome, stopped } from './RunResult.ts';
import { recordedOptions } from './runInput.ts';

/** How a run is executed. */
export interface DriveOptions {
  /**
   * Abort it to stop at once, as with LangGraph: nodes, steps, subgraphs and tools in flight are aborted. The run is paused and
   * is not due; calls without a result are made again when it is resumed.
   */
  readonly signal?: AbortSignal;
  /** Another name of `signal`. */
  readonly abort?: AbortSignal;
  /** Abort it to pause the run at the next safe point: calls in flight end first. The run stays due. */
  readonly drain?: AbortSignal;
  /** How far the run may be ahead of the disk while this call executes it. @defaultValue the app's */
  readonly durability?: Durability;
  /** LangChain handlers for this call. */
  readonly callbacks?: Callbacks;
  /** The point to execute to; stored until it is reached. @defaultValue the stored goal, else the end */
  readonly goal?: Goal;
  /** Called with the lease before the run is examined, to finish work of a process that died. */
  readonly prepare?: (lease: Lease) => Promise<void>;
  /** Checked under the lease: whether the run begins without `prepare`. @defaultValue it does not */
  readonly isPrepared?: () => boolean;
  /**
   * Fire timers that the run already has and that are due up to this time, in milliseconds since the Unix epoch. New
   * timers use the clock. @defaultValue the clock's time
   */
  readonly now?: number;
  /**
   * Checked under the lease. If it returns false, the run is left as it is. A run that must execute alone is also left
   * if this process runs others.
   */
  readonly isDue?: () => boolean;
  /** Aborted once somebody else has the run. */
  readonly lost?: AbortSignal;
  /** Of the run above, which drives this one. */
  readonly above?: StopControl;
  /** Whether the caller settles the run before anybody hears of its end: the end is not waited for to arrive. @defaultValue false */
  readonly settles?: boolean;
}

/** Somebody was faster, or it is left to others: the run stays as it is. */
function asItIs(threadId: string, { threads, sessions, children }: EngineStore): SessionOutcome {
  const { status, reason } = threads.require(threadId);
  if (status === 'waiting') {
    const until = children.untilOf([threadId]);
    const gates = sessions.listOpen(threadId);
    return { status, reason: null, gates, ...(until !== null && { until }) };
  }
  return hasEnded(status) ? ended(status, reason) : stopped(status, 'it is not due');
}

/**
 * Drives a run until it ends, waits for a human or is asked to stop. Any process may call it, any number of times.
 *
 * @throws DevsError `THREAD_BUSY` while another process drives the run; engine faults (`STATE_…`, `LEASE_LOST`, …) as they are: the run stays resumable.
 */
export async function drive(
  threadId: string,
  engine: Engine,
  { settles = false, ...options }: DriveOptions = {},
): Promise<Driven> {
  return outsideGraphs(async () => {
    const driven = await driveAlone(threadId, engine, options);
    return settles && hasEnded(driven.outcome.status) ? driven : afterBarrier(engine.store.outlet, driven);
  });
}

async function driveAlone(
  threadId: string,
  engine: Engine,
  { isDue, ...options }: DriveOptions,
): Promise<Driven> {
  const thread = engine.store.threads.require(threadId);
  if (isOver(thread.status)) return { outcome: ended(thread.status, thread.reason) };
  if (awaitsInput(thread)) return { outcome: stopped('paused', AWAITS_INPUT) };
  const signals = [options.drain, options.signal, options.abort, options.above?.drained];
  const leave = await takeRoom(threadId, engine.store, { waits: isDue === undefined, signals });
  if (leave === null) return { outcome: asItIs(threadId, engine.store) };
  return endingWith(leave, async () => {
    while (shouldYield()) await yieldToEventLoop(); // many may be taken up in one turn
    const { status, reason } = engine.store.threads.require(threadId);
    if (isOver(status)) return { outcome: ended(status, reason) };
    const held = await claimAndBegin(threadId, engine.store, { isDue, ...options });
    return releasing(held, async () => {
      if (!held.isDue) return { outcome: asItIs(threadId, engine.store) };
      const heard = engine.streams.voices(threadId, options.callbacks, isDue !== undefined);
      return driveHeld(held, engine, options, heard.callbacks).finally(heard.end);
    });
  });
}

async function driveHeld(
  held: ClaimedDrive,
  engine: Engine,
  { goal, prepare, callbacks, now, durability = engine.durability, ...stops }: Omit<DriveOptions, 'isDue'>,
  heard: Callbacks | undefined,
): Promise<Driven> {
  const { threadId } = held.lease;
  const control = new StopControl();
  const requests = new SignalWatch(engine.store, held.lease, control);
  const forget = followStops(control, stops);
  try {
    requests.consume('pause'); // asked for before this drive, which has overtaken it
    const { statusBefore, begun } = held;
    if (begun === null) await prepare?.(held.lease);
    const { recoveries } = begun ?? beginDrive(held, statusBefore, engine.store);
    // A node that ends its process must be counted: its input is on disk before it works.
    const afterProgress = held.recovered || recoveries > 0;
    if (durability === 'async') engine.store.mayWriteLate(held.lease, { afterProgress });
    requests.look();
    engine.faults.forget(threadId);
    engine.store.budgets.startClock(threadId);
    const { webhook, ...recorded } = await recordedOptions(threadId, engine);
    const given = { ...recorded, ...(heard && { callbacks: heard }) };
    const claimed = new ClaimedRun(
      { held, recoveries, statusBefore, control, requests, goal, now, callbacks, given, webhook },
      engine,
    );
    const law = lawOf(engine.store.threads.require(threadId));
    const toEnd = (): Promise<Driven> => underLaw(law, () => claimed.toEnd());
    const driven = await withDriveContext(engine.store.fenceOf(held.lease), toEnd);
    engine.saver.left?.(held.lease);
    return driven;
  } catch (error) {
    tellIfLost(error, held, engine);
    await noteFault(error, held, engine);
    throw error;
  } finally {
    forget();
    requests.stop();
    engine.store.endWrites(held.lease);
    engine.store.budgets.stopClock(threadId);
    // Calls that were cut off may still be ending: what they work in is not anybody else's yet.
    if (!control.aborted.aborted) await releaseIgnoringErrors(held.lease, engine);
  }
}

/** Lists show it. A caller gets the error even if the file cannot hold it. */
async function noteFault(error: unknown, { lease }: ClaimedDrive, { store }: Engine): Promise<void> {
  await store.runs.whenFree(() => store.threads.noteFault(lease, reasonOf(error))).catch(() => undefined);
}

/** On the bus alone: the log belongs to the new driver. */
function tellIfLost(error: unknown, { lease: { threadId, epoch } }: ClaimedDrive, { events }: Engine): void {
  if (isDevsError(error, 'LEASE_LOST')) events.emit('LEASE_LOST', { epoch }, { threadId });
}

export interface RunDueOptions extends Pick<DriveOptions, 'signal' | 'abort' | 'drain' | 'callbacks'> {
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
export type DriveOne<Result> = (id: string, options: DriveOptions) => Promise<Result>;

/** Which runs are driven, and how. */
export interface DueWork<Result> {
  readonly own: OwnRuns;
  readonly store: EngineStore;
  readonly drive: DriveOne<Result>;
}

interface DueId {
  readonly id: string;
  /** Drivers that died with it; a suspect has several. */
  readonly deaths: number;
}

/** Runs that may be due, suspects last. @param limit - @defaultValue all */
export function dueOf(own: OwnRuns, since: DueCriteria, store: EngineStore, limit = -1): readonly DueId[] {
  const { waits, children, threads } = store;
  const due = own.among((scope) => waits.dueRuns(since, scope), limit);
  const parents = own.among((scope) => children.waitingParents(scope), -1);
  const ids = [...new Set([...due, ...parents])];
  return ids.map((id) => ({ id, deaths: threads.deathsOf(id) })).toSorted((a, b) => a.deaths - b.deaths);
}

/**
 * Drives every run that can go on without a human, one after the other, the one that is due longest first; those that drivers
 * have died with come last, and are left to others where this process drives something else. A run that another process drives
 * is its business.
 *
 * @throws RangeError for a `limit` that is no number of runs, or a `now` that is no time.
 */
export async function runDue<Result extends object>(
  { now, limit = Number.POSITIVE_INFINITY, ...options }: RunDueOptions,
  { own, store, drive }: DueWork<Result>,
): Promise<DueRuns<Result>> {
  if (now !== undefined && !Number.isFinite(now)) throw new RangeError(`now: expected a time, got ${now}`);
  if (!(limit >= 1)) throw new RangeError(`limit: expected 1 or more, got ${limit}`);
  const { now: clock } = store;
  const since = dueCriteria(clock(), now);
  const how = { ...options, ...(now !== undefined && { now }) };
  const isLeaving = (): boolean => isAborted([options.drain, options.signal, options.abort]);
  const driven: (Result & { readonly id: string })[] = [];
  const refused: RefusedRun[] = [];
  for (const { id } of dueOf(own, since, store)) {
    if (driven.length >= limit || isLeaving()) break;
    const looked = await driveIfDue(id, { since, how, drive }, store);
    if (looked === null) continue;
    if (looked.isDriven) driven.push({ id, ...looked.result });
    else refused.push({ id, error: looked.error });
  }
  return { driven, refused };
}

export type DueLook<Result> =
  | { readonly isDriven: true; readonly result: Result }
  | { readonly isDriven: false; readonly error: unknown };

/** `null` where another process has the run, or was faster. */
export async function driveIfDue<Result>(
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
