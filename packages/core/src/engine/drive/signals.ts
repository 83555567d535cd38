import { tooLarge } from '../../config/limits.ts';
import { DevsError, isDevsError } from '../../errors/DevsError.ts';
import { type NewEvent, newEventsOf } from '../../events/events.ts';
import { maskSensitiveData } from '../../masking/maskSensitiveData.ts';
import { afterBarrier } from '../../state/commits/CommitBarrier.ts';
import type { Principal } from '../../state/gates/hitlSession.ts';
import type { NewSignal, Signal } from '../../state/threads/SignalStore.ts';
import { hasEnded, type Lease } from '../../state/threads/threadRecords.ts';
import { canonicalJson, hashOf } from '../../values/canonicalJson.ts';
import { heaviestPlace } from '../../values/heaviestPlace.ts';
import { type Law, lawOf } from '../execution/lawOf.ts';
import type { EngineStore } from '../gates/EngineStore.ts';
import { interruptGate } from '../gates/engineGates.ts';
import { principalOf, principalText } from '../gates/principals.ts';
import { runEnded } from '../stream/RunStreams.ts';
import { type Message, signalName } from '../waits/waits.ts';
import type { Engine, RecordingEngine } from './Engine.ts';
import { holdRun } from './lease.ts';
import { type GraphParts, stageCancelledCalls } from './openToolCalls.ts';
import { isOver, saveRunStatus } from './outcome.ts';

// Signals to a run, and requests that it stops, each with the person or policy that makes it.

/** How a run is paused. */
export interface PauseOptions {
  /** Aborts calls in flight, as `signal` does; otherwise they end first. @defaultValue false */
  readonly abort?: boolean;
  /** The person or policy that asks; recorded in the log as `STOP_REQUESTED`. @defaultValue not recorded */
  readonly by?: Principal;
}

/** How a run is cancelled. */
export type CancelOptions = Pick<PauseOptions, 'by'>;

/** A request to stop, without its id. */
export type StopRequest = { readonly by?: Principal } & (
  | { readonly kind: 'cancel' }
  | { readonly kind: 'pause'; readonly abort?: true }
);

/** The request of a pause. @throws TypeError, DevsError as {@link asker}. */
export const pauseRequest = ({ abort = false, by }: PauseOptions): StopRequest => ({
  ...{ kind: 'pause', ...asker(by) },
  ...(abort && { abort }),
});

/** The request of a cancel. @throws TypeError, DevsError as {@link asker}. */
export const cancelRequest = ({ by }: CancelOptions): StopRequest => ({ kind: 'cancel', ...asker(by) });

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

/** Sender and id of a signal. */
export interface SignalOptions {
  readonly by: Principal;
  /** Id of the signal. The same id is the same signal in every process, so you can send it again. */
  readonly signalId: string;
}

/** Result of `signal`. */
export interface SignalReceipt {
  /** False if the signal was recorded before. */
  readonly isNew: boolean;
}

/**
 * Records a signal of a run and wakes the run, in one transaction; see `DurableApp.signal`.
 *
 * @param given - With the `id` of its row, where it was told elsewhere.
 * @throws DevsError `THREAD_NOT_FOUND`, `SIGNAL_NOT_TAKEN`, `VALUE_NOT_STORABLE`, `VALUE_TOO_LARGE`
 * @throws TypeError, RangeError as of `signalName` and `principalOf`, and for an empty `signalId`.
 */
export function signalRun(
  threadId: string,
  given: {
    readonly name: string;
    readonly payload: unknown;
    readonly id?: string;
  } & SignalOptions,
  { store }: { readonly store: EngineStore },
): SignalReceipt {
  const by = principalOf(given.by);
  const { signalId, payload = null } = given;
  signalName(given.name, lawOf(null));
  if (typeof signalId !== 'string' || signalId === '')
    throw new TypeError('signalId must be a string that is not empty and is unique to the signal.');
  assertStorable(payload, threadId);
  // What was told elsewhere was measured there.
  if (given.id === undefined) assertSignalSize(payload, threadId, store);
  const { id = messageId(threadId, signalId) } = given;
  return store.runs.together(() => {
    const thread = store.threads.require(threadId);
    const law = lawOf(thread);
    const name = signalName(given.name, law);
    const message: Message = { name, signalId, payload, by };
    const known = store.threads.signals.find(id)?.payload as Message | undefined;
    if (known !== undefined) return assertSame(known, message, { threadId, law });
    const { status } = thread;
    if (isOver(status))
      throw signalRefused(
        threadId,
        `the run is ${status}`,
        'Start a new run, or send the signal to a run that has not ended.',
      );
    const told = { name: maskSensitiveData(name), signalId: maskSensitiveData(signalId) };
    const facts = newEventsOf((emit) =>
      emit('SIGNAL_RECEIVED', { ...told, principal: principalText(by) }, { threadId }),
    );
    store.runs.signal(threadId, { id, kind: 'message', payload: message }, facts);
    return { isNew: true };
  });
}

/** Of the row that a message is. */
export const messageId = (threadId: string, signalId: string): string =>
  `message:${hashOf([threadId, signalId])}`;

/** What an answer may be: a node gets both in the same way. */
function assertStorable(payload: unknown, threadId: string): void {
  const { error } = interruptGate.given().safeParse({ value: payload });
  if (error === undefined) return;
  const problem = error.issues[0]?.message ?? '';
  throw new DevsError(`The signal payload for run "${threadId}" cannot be stored. ${problem}.`, {
    code: 'VALUE_NOT_STORABLE',
    remedy: 'Send plain JSON. For large or binary content, send a reference to it.',
    context: { threadId },
  });
}

function assertSignalSize(payload: unknown, threadId: string, { limits }: EngineStore): void {
  const bytes = Buffer.byteLength(canonicalJson(payload));
  if (bytes <= limits.signalBytes) return;
  const what = `The signal payload for run "${threadId}"`;
  const path = heaviestPlace(payload, 'payload');
  throw tooLarge({ what, limit: 'signalBytes', bytes, path, limits, context: { threadId } });
}

function assertSame(
  known: Message,
  given: Message,
  { threadId, law }: { readonly threadId: string; readonly law: Law },
): SignalReceipt {
  const [before, now] = [known, given].map(({ name, payload }) =>
    canonicalJson(law.keep([name, payload]).value),
  );
  if (before === now) return { isNew: false };
  const why = `the signalId "${known.signalId}" is already used for another signal`;
  throw signalRefused(threadId, why, 'Use a different signalId for each signal of a run.');
}

const signalRefused = (threadId: string, why: string, remedy: string): DevsError =>
  new DevsError(`Run "${threadId}" cannot receive the signal: ${why}.`, {
    code: 'SIGNAL_NOT_TAKEN',
    remedy,
    context: { threadId },
  });

/** A request to cancel, with its id. */
type CancelRequest = StopRequest & { readonly id: string };

/** Why a run ended that was asked to. */
export const CANCELLED_BY_REQUEST = 'cancelled by request';

/**
 * Ends a run, and those below it: at once where nobody drives it, else by a request to its driver.
 *
 * @param request - With the same `id` it is the same request, done once.
 */
export async function cancelRun(
  threadId: string,
  { id, ...request }: CancelRequest,
  engine: RecordingEngine & Pick<Engine, 'leave'> & GraphParts,
): Promise<void> {
  const { store } = engine;
  const isNew = store.runs.together(() => {
    const { wakeSeq } = store.threads.require(threadId);
    if (recordStop(threadId, id, request, store) <= wakeSeq) return false;
    cancelBelow(threadId, engine);
    return true;
  });
  if (!isNew || store.threads.driverOf(threadId) !== null) return afterBarrier(store.outlet, undefined);
  try {
    const end = async (lease: Lease): Promise<void> =>
      endCancelled(lease, engine, await stageCancelledCalls(lease, engine));
    await holdRun(threadId, end, engine);
  } catch (error) {
    // Somebody took it up in between, and finds the request.
    if (!isDevsError(error, 'THREAD_BUSY') && !isDevsError(error, 'LEASE_LOST')) throw error;
  }
}

/** Ends a run that nobody drives, and those below it, in one transaction. `answer` answers its open tool calls. */
export function endCancelled(lease: Lease, engine: RecordingEngine, answer = (): void => {}): void {
  engine.store.runs.together(() => {
    endAlone(lease, engine, answer);
    cancelBelow(lease.threadId, engine);
  });
}

/**
 * Cancels every run below a run that has not ended: at once where nobody drives it, else by a request to its driver. In the
 * caller's transaction.
 */
export function cancelBelow(threadId: string, engine: RecordingEngine): void {
  const { runs, children } = engine.store;
  for (const id of children.openBelow(threadId)) {
    runs.signal(id, { id: `cancel of ${id} with ${threadId}`, kind: 'cancel', payload: null });
    const claim = runs.claim(id);
    if (claim.kind === 'busy') continue;
    endAlone(claim.lease, engine);
    runs.release(claim.lease);
  }
}

/** Ends a run that nobody drives, in the caller's transaction: its open questions are withdrawn and the request is done. */
function endAlone(lease: Lease, engine: RecordingEngine, answer = (): void => {}): void {
  const { runs, threads } = engine.store;
  const { threadId } = lease;
  const { status, wakeSeq } = threads.require(threadId);
  const isAsked = threads.signals.pending(threadId, ['cancel']).length > 0;
  runs.consume(lease, 'cancel');
  // Without a request, it was done since, or the turn that it was about has been followed by another.
  if (isOver(status) || !isAsked) return;
  const settlement = {
    status: 'cancelled',
    reason: CANCELLED_BY_REQUEST,
    seenWakeSeq: wakeSeq,
    facts: [{ name: 'RUN_FINISHED', payload: { outcome: 'cancelled' }, scope: { threadId } }],
    withdrawsQuestions: true,
    inSameTransaction: answer,
  } as const;
  saveRunStatus(lease, settlement, [runEnded('cancelled', CANCELLED_BY_REQUEST)], engine);
}
