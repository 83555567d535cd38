import type { Callbacks } from '@langchain/core/callbacks/manager';
import { isDevsError } from '../../errors/DevsError.ts';
import { endingWith } from '../../errors/endingWith.ts';
import { afterBarrier } from '../../state/commits/CommitBarrier.ts';
import type { Lease } from '../../state/threads/ThreadStore.ts';
import { hasEnded } from '../../state/threads/threadRecords.ts';
import type { EngineStore } from '../EngineStore.ts';
import { lawOf, underLaw } from '../execution/lawOf.ts';
import type { Goal } from '../graph/GraphProfile.ts';
import { assertSameGraph } from '../graph/graphShape.ts';
import { withDriveContext } from '../node/driveContext.ts';
import { ClaimedRun } from './ClaimedRun.ts';
import type { DriverDeps } from './DriverDeps.ts';
import { DrainControl, drainOnAbort, SignalWatch } from './draining.ts';
import { outsideGraphs } from './graphCall.ts';
import { type ActiveLease, holdLease, releaseIgnoringErrors, releasing, takeRoom } from './lease.ts';
import { ended, isOver, type SessionOutcome, stopped } from './outcome.ts';

/** How a run is executed. */
export interface DriveOptions {
  /** Abort it to pause the run at the next safe point. */
  readonly signal?: AbortSignal;
  /** Abort it to end the calls in flight too; they are made again on resume. */
  readonly abort?: AbortSignal;
  /** LangChain handlers for this call. */
  readonly callbacks?: Callbacks;
  /** The point to execute to; stored until it is reached. @defaultValue the stored goal, else the end */
  readonly goal?: Goal;
  /** Called with the lease before the run is examined, to finish work of a process that died. */
  readonly prepare?: (lease: Lease) => Promise<void>;
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
 * @throws DevsError `THREAD_BUSY` while another process drives the run; `GRAPH_CHANGED` when the run was started on
 *   a different graph; engine faults (`STATE_…`, `LEASE_LOST`, …) as they are: the run stays resumable.
 */
export async function drive(
  threadId: string,
  deps: DriverDeps,
  options: DriveOptions = {},
): Promise<SessionOutcome> {
  return outsideGraphs(() => afterBarrier(deps.store.outlet, driveAlone(threadId, deps, options)));
}

async function driveAlone(
  threadId: string,
  deps: DriverDeps,
  { isDue, ...options }: DriveOptions,
): Promise<SessionOutcome> {
  const thread = deps.store.threads.require(threadId);
  if (isOver(thread.status)) return ended(thread.status, thread.reason);
  assertSameGraph(thread, deps.shape);
  const signals = [options.signal, options.abort];
  const leave = await takeRoom(threadId, deps.store, { waits: isDue === undefined, signals });
  if (leave === null) return asItIs(threadId, deps.store);
  return endingWith(leave, async () => {
    const { status, reason } = deps.store.threads.require(threadId);
    if (isOver(status)) return ended(status, reason);
    const held = await holdLease(deps.store.runs, threadId);
    return releasing(held, async () =>
      isDue?.() === false ? asItIs(threadId, deps.store) : driveHeld(held, deps, options),
    );
  });
}

async function driveHeld(
  held: ActiveLease,
  deps: DriverDeps,
  { signal, abort, goal, prepare, callbacks, now }: DriveOptions,
): Promise<SessionOutcome> {
  const { threadId } = held.lease;
  const control = new DrainControl();
  const requests = new SignalWatch(deps.store, held.lease, control);
  const forget = drainOnAbort(control, [signal, abort]);
  try {
    requests.consume('pause'); // asked for before this drive, which has overtaken it
    await prepare?.(held.lease);
    requests.look();
    deps.faults.forget(threadId);
    deps.store.budgets.startClock(threadId);
    const given = { ...(await deps.optionsOf?.()), ...(callbacks && { callbacks }) };
    const claimed = new ClaimedRun({ held, control, requests, abort, goal, now, callbacks, given }, deps);
    const law = lawOf(deps.store.threads.require(threadId));
    const toEnd = (): Promise<SessionOutcome> => underLaw(law, () => claimed.toEnd());
    return await withDriveContext(deps.store.fenceOf(held.lease), toEnd);
  } catch (error) {
    if (isDevsError(error, 'LEASE_LOST')) {
      // On the bus alone: the log belongs to the new driver.
      deps.events.emit('LEASE_LOST', { epoch: held.lease.epoch }, { threadId });
    }
    throw error;
  } finally {
    forget();
    requests.stop();
    deps.store.endWrites(held.lease);
    deps.store.budgets.stopClock(threadId);
    // Calls that were cut off may still be ending: what they work in is not anybody else's yet.
    if (abort?.aborted !== true) await releaseIgnoringErrors(held.lease, deps);
  }
}
