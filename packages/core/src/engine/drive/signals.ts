// Writes into a run's file: signals, requests to cancel, and turns behind the current one.

import { tooLarge } from '../../config/limits.ts';
import { DevsError, isDevsError } from '../../errors/DevsError.ts';
import { newEventsOf } from '../../events/events.ts';
import { maskSensitiveData } from '../../masking/maskSensitiveData.ts';
import { afterBarrier } from '../../state/commits/CommitBarrier.ts';
import { hasEnded, type Lease } from '../../state/threads/threadRecords.ts';
import { canonicalJson, hashOf } from '../../values/canonicalJson.ts';
import { heaviestPlace } from '../../values/heaviestPlace.ts';
import { type Law, lawOf } from '../execution/lawOf.ts';
import type { EngineStore } from '../gates/EngineStore.ts';
import { interruptGate } from '../gates/engineGates.ts';
import { type Principal, principalOf, principalText } from '../gates/principals.ts';
import { runEnded } from '../stream/runStreamEvents.ts';
import { type Message, signalName } from '../waits/waits.ts';
import type { Engine, RecordingEngine } from './Engine.ts';
import { type GraphParts, stageCancelledCalls } from './lastTurn.ts';
import { holdRun } from './lease.ts';
import { isOfCurrentTurn, type NextTurn, queueTurn } from './queuedTurns.ts';
import { isOver, runFinished, saveRunStatus } from './RunResult.ts';
import { recordedOptions } from './runInput.ts';
import { cancelRequest, recordStop, type StopReceipt, type StopRequest } from './stopRequests.ts';

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
 * Ends a run, and those below it: at once if it is free, else by a request to its driver. The request of a run that has ended
 * is recorded too: read again, it must not end the next turn.
 *
 * @param request - With the same `id` it is the same request, done once.
 */
export async function cancelRun(
  threadId: string,
  request: CancelRequest,
  engine: CancellingEngine,
): Promise<void> {
  const isNew = engine.store.runs.together(() => recordCancel(threadId, request, engine));
  await endIfNew(isNew, threadId, engine);
}

/** {@link cancelRun} for a new request. It is recorded only for a run, or a turn, that has not ended. */
export async function askToCancel(
  threadId: string,
  request: CancelRequest,
  engine: CancellingEngine,
): Promise<StopReceipt> {
  const { runs, threads } = engine.store;
  const { isAccepted, isNew } = runs.together(() => {
    const accepted = canEnd(threadId, turnOf(request), engine.store);
    return { isAccepted: accepted, isNew: accepted && recordCancel(threadId, request, engine) };
  });
  await endIfNew(isNew, threadId, engine);
  return { isAccepted, status: threads.get(threadId)?.status ?? 'cancelled' };
}

const turnOf = (request: CancelRequest): string | undefined =>
  request.kind === 'cancel' ? request.turn : undefined;

/** Whether a run, or a turn of it, has not ended; the runs below a dead letter may not have. */
function canEnd(
  threadId: string,
  turn: string | undefined,
  { threads, inputs, queue, children }: EngineStore,
): boolean {
  const { status } = threads.require(threadId);
  if (turn !== undefined) {
    if (queue.find(threadId, turn)?.droppedAt === null) return true;
    if (inputs.latest(threadId)?.key !== turn) return false;
  }
  return !isOver(status) || children.openBelow(threadId).length > 0;
}

/** False where the run itself has not been asked anew. */
function recordCancel(threadId: string, request: CancelRequest, engine: RecordingEngine): boolean {
  engine.store.threads.require(threadId);
  return isOfCurrentTurn(threadId, turnOf(request), engine.store) && requestCancel(threadId, request, engine);
}

const endIfNew = (isNew: boolean, threadId: string, engine: CancellingEngine): Promise<void> =>
  isNew ? endIfFree(threadId, engine) : afterBarrier(engine.store.outlet, undefined);

/** The parts that end a run. */
type CancellingEngine = RecordingEngine & Pick<Engine, 'leave'> & GraphParts;

/** Records a request to cancel a run and those below it, in the caller's transaction. False for one that is known. */
function requestCancel(
  threadId: string,
  { id, ...request }: CancelRequest,
  engine: RecordingEngine,
): boolean {
  const { wakeSeq } = engine.store.threads.require(threadId);
  if (recordStop(threadId, id, request, engine.store) <= wakeSeq) return false;
  cancelBelow(threadId, engine);
  return true;
}

/** Ends a run with a request to cancel, if its lease is free. */
export async function endIfFree(threadId: string, engine: CancellingEngine): Promise<void> {
  const { store } = engine;
  if (store.threads.driverOf(threadId) !== null) return afterBarrier(store.outlet, undefined);
  try {
    const end = async (lease: Lease): Promise<void> => {
      const answer = await stageCancelledCalls(lease, engine);
      endCancelled(lease, engine, { answer, webhook: await namedWebhook(threadId, engine) });
    };
    await holdRun(threadId, end, engine);
  } catch (error) {
    // Somebody took it up in between, and finds the request.
    if (!isDevsError(error, 'THREAD_BUSY') && !isDevsError(error, 'LEASE_LOST')) throw error;
  }
}

/** An input that cannot be read does not keep a run from being cancelled. */
async function namedWebhook(
  threadId: string,
  { store, saver }: CancellingEngine,
): Promise<string | undefined> {
  if (saver === undefined) return undefined;
  return (await recordedOptions(threadId, { store, saver }).catch(() => null))?.webhook;
}

interface CancelledEnd {
  /** Answers its open tool calls. */
  readonly answer?: () => void;
  /** That its caller named. */
  readonly webhook?: string | undefined;
}

/** Ends a run without a driver, and those below it, in one transaction. */
export function endCancelled(lease: Lease, engine: RecordingEngine, how: CancelledEnd = {}): void {
  engine.store.runs.together(() => {
    endAlone(lease, engine, how);
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
function endAlone(
  lease: Lease,
  engine: RecordingEngine,
  { answer = () => {}, webhook }: CancelledEnd = {},
): void {
  const { runs, threads } = engine.store;
  const { threadId } = lease;
  const { status, wakeSeq } = threads.require(threadId);
  const isAsked = threads.signals.pending(threadId, ['cancel']).length > 0;
  runs.consume(lease, 'cancel');
  // Without a request, it was done since, or the turn that it was about has been followed by another.
  if (isOver(status) || !isAsked) return;
  const turn = engine.store.inputs.latest(threadId)?.key;
  const settlement = {
    status: 'cancelled',
    reason: CANCELLED_BY_REQUEST,
    seenWakeSeq: wakeSeq,
    facts: [runFinished({ threadId, status: 'cancelled', turn, webhook })],
    withdrawsQuestions: true,
    inSameTransaction: answer,
  } as const;
  saveRunStatus(lease, settlement, [runEnded('cancelled', CANCELLED_BY_REQUEST, turn)], engine);
}

/** A turn for a run that may stand in another one. */
export interface TurnBehind extends NextTurn {
  /** LangGraph's word: the turn before ends by itself, or is cancelled. */
  readonly strategy: 'enqueue' | 'interrupt';
  /** The person at its start. */
  readonly by?: Principal | undefined;
}

/**
 * Records a turn behind the one that the run stands in, which ends by itself or is cancelled; with it those that wait. In the
 * caller's transaction.
 *
 * @throws DevsError `AGENT_MAY_NOT_DECIDE` for an agent that would cancel one.
 */
export function putBehind(turn: TurnBehind, engine: RecordingEngine): void {
  const { threadId, strategy } = turn;
  const { threads, queue } = engine.store;
  if (strategy === 'interrupt' && !hasEnded(threads.require(threadId).status)) {
    const request = interruptRequest(turn);
    queue.drop(threadId, null);
    requestCancel(threadId, request, engine);
  }
  queueTurn(turn, engine);
}

const interruptRequest = ({ key, by }: TurnBehind): CancelRequest => ({
  id: `interrupt for ${key}`,
  ...cancelRequest(by === undefined ? {} : { by }),
});

/** Records a turn that arrived as a signal; a known turn stays as it is. */
export async function takeTurn(turn: TurnBehind, engine: CancellingEngine): Promise<void> {
  const { threadId, key, strategy } = turn;
  const { runs, inputs, queue } = engine.store;
  const isNew = runs.together(() => {
    if (inputs.find(threadId, key) !== null || queue.find(threadId, key) !== null) return false;
    putBehind(turn, engine);
    return true;
  });
  if (isNew && strategy === 'interrupt') await endIfFree(threadId, engine);
}
