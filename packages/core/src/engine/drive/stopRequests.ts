// Requests that a run stops, each with the person or policy that makes it.

import { DevsError } from '../../errors/DevsError.ts';
import { type NewEvent, newEventsOf } from '../../events/events.ts';
import type { Principal } from '../../state/gates/hitlSession.ts';
import type { NewSignal, Signal } from '../../state/threads/SignalStore.ts';
import { hasEnded, type ThreadStatus } from '../../state/threads/threadRecords.ts';
import type { EngineStore } from '../gates/EngineStore.ts';
import { principalOf, principalText } from '../gates/principals.ts';
import { isOver } from './RunResult.ts';

/** How a run is paused. */
export interface PauseOptions {
  /** Aborts calls in flight, as `signal` does; otherwise they end first. @defaultValue false */
  readonly abort?: boolean;
  /** The person or policy that asks; recorded in the log as `STOP_REQUESTED`. @defaultValue not recorded */
  readonly by?: Principal;
}

/** How a run is cancelled. */
export interface CancelOptions extends Pick<PauseOptions, 'by'> {
  /**
   * Key of the turn to cancel: the current one, or a queued one, which does not begin then. Another one stays
   * as it is. @defaultValue the one that the run stands in
   */
  readonly turn?: string;
}

/** Result of `pause` and `cancel`. */
export interface StopReceipt {
  /** False if the run, or the named turn, has ended. The request is recorded only if this is true. */
  readonly isAccepted: boolean;
  /** Where the run stands now. A run that a process executes ends or pauses once that process has followed the request. */
  readonly status: ThreadStatus;
}

/** A request to stop, without its id. */
export type StopRequest = { readonly by?: Principal } & (
  | { readonly kind: 'cancel'; readonly turn?: string }
  | { readonly kind: 'pause'; readonly abort?: true }
);

/** The request of a pause. @throws TypeError, DevsError as {@link asker}. */
export const pauseRequest = ({ abort = false, by }: PauseOptions): StopRequest => ({
  ...{ kind: 'pause', ...asker(by) },
  ...(abort && { abort }),
});

/** The request of a cancel. @throws TypeError, DevsError as {@link asker}. */
export const cancelRequest = ({ by, turn }: CancelOptions): StopRequest => ({
  ...{ kind: 'cancel', ...asker(by) },
  ...(turn !== undefined && { turn }),
});

/**
 * The principal of a request, read once.
 *
 * @throws TypeError for a value that is not a principal.
 * @throws DevsError `AGENT_MAY_NOT_DECIDE`, `INVALID_PRINCIPAL`
 */
function asker(by: Principal | undefined): Pick<StopRequest, 'by'> {
  if (by === undefined) return {};
  const principal = principalOf(by);
  if (principal.kind !== 'agent') return { by: principal };
  throw new DevsError('An agent cannot stop a run.', {
    code: 'AGENT_MAY_NOT_DECIDE',
    remedy: 'Ask a person to do it.',
    context: { agent: principal.id },
  });
}

/** `abort` is a pause that aborts calls in flight. */
type Stop = 'pause' | 'abort' | 'cancel';

const stopOf = (request: StopRequest): Stop =>
  request.kind === 'pause' && request.abort === true ? 'abort' : request.kind;

interface StopPayload {
  readonly abort?: true;
  /** Such as `human:ada`. */
  readonly by?: string;
}

/** A run that is to stop, and has not stopped. */
export interface StopView {
  readonly stop: Stop;
  /** Such as `human:ada`; `null` for a request without a name. */
  readonly principal: string | null;
  /** ISO 8601, UTC. */
  readonly at: string;
}

/**
 * Records a request to stop, and its principal in the log, in one transaction. A known id is the same request.
 *
 * @returns The wake sequence of the request.
 * @throws DevsError `THREAD_NOT_FOUND`
 */
export function recordStop(
  threadId: string,
  id: string,
  request: StopRequest,
  { runs, threads }: Pick<EngineStore, 'runs' | 'threads'>,
): number {
  return runs.together(() => {
    const isTold = isOver(threads.require(threadId).status) || threads.signals.find(id) !== null;
    return runs.signal(threadId, stopSignal(id, request), isTold ? [] : stopFacts(threadId, request));
  });
}

/** {@link recordStop} for a new pause. A run that has ended is left as it is, a failed one too. */
export function requestPause(
  threadId: string,
  id: string,
  request: StopRequest,
  store: Pick<EngineStore, 'runs' | 'threads'>,
): StopReceipt {
  return store.runs.together(() => {
    const { status } = store.threads.require(threadId);
    if (hasEnded(status)) return { isAccepted: false, status };
    recordStop(threadId, id, request, store);
    return { isAccepted: true, status };
  });
}

function stopSignal(id: string, request: StopRequest): NewSignal {
  const payload: StopPayload = {
    ...(stopOf(request) === 'abort' && { abort: true }),
    ...(request.by !== undefined && { by: principalText(request.by) }),
  };
  return { id, kind: request.kind, payload: Object.keys(payload).length === 0 ? null : payload };
}

/** A request without a name would only repeat the end of the run in the log. */
function stopFacts(threadId: string, request: StopRequest): readonly NewEvent[] {
  const { by } = request;
  if (by === undefined) return [];
  const payload = { stop: stopOf(request), principal: principalText(by) };
  return newEventsOf((emit) => emit('STOP_REQUESTED', payload, { threadId }));
}

const FIRST: readonly Stop[] = ['cancel', 'abort', 'pause'];

/** The request that a run will follow: a cancel before a pause, and one that aborts before one that waits. */
export function pendingStop(threadId: string, { threads }: Pick<EngineStore, 'threads'>): StopView | null {
  if (hasEnded(threads.require(threadId).status)) return null;
  const stops = threads.signals.pending(threadId, ['pause', 'cancel']).map(stopView);
  return stops.sort((a, b) => FIRST.indexOf(a.stop) - FIRST.indexOf(b.stop))[0] ?? null;
}

function stopView({ kind, payload, createdAt }: Signal): StopView {
  const { abort, by = null } = (payload ?? {}) as StopPayload;
  const stop = kind === 'cancel' ? 'cancel' : abort === true ? 'abort' : 'pause';
  return { stop, principal: by, at: new Date(createdAt).toISOString() };
}
