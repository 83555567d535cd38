// Turns that wait for the end of the one before: how they are recorded, begun and cancelled. Each in the caller's transaction.

import type { TypedBytes } from '../../state/checkpoints/checkpointRecords.ts';
import type { Lease, ThreadStatus } from '../../state/threads/threadRecords.ts';
import type { EngineStore } from '../gates/EngineStore.ts';
import { turnBegun } from '../stream/runStreamEvents.ts';
import type { RecordingEngine } from './Engine.ts';

/** A turn with its key. */
export interface NextTurn {
  readonly threadId: string;
  readonly key: string;
  readonly given: TypedBytes;
}

/** Puts a run that has ended at the beginning of its next turn, under a lease. */
export function recordTurn(
  { threadId, key, given }: NextTurn,
  lease: Lease,
  { store, streams }: RecordingEngine,
): void {
  const { threads, inputs, steps, sessions, waits, checkpoints, failureGate } = store;
  const { status, reason } = threads.require(threadId);
  const checkpointId = checkpoints.loadLatest({ threadId, checkpointNs: '' })?.checkpointId ?? null;
  inputs.end(threadId, { status, reason, checkpointId });
  sessions.closeTurn(threadId);
  const stuck = failureGate.getGateStatus(threadId);
  if (stuck !== null) failureGate.withdraw(threadId, stuck.sessionId, 'cancelled');
  steps.abandon(threadId);
  waits.keepOnly(threadId, []);
  inputs.insert(threadId, given, key);
  streams?.record(threadId, [turnBegun(key)]);
  threads.beginTurn(lease);
}

/** Whether another turn follows this end by itself: a run that was given up waits for a person. */
const canFollow = (status: ThreadStatus): boolean =>
  status === 'completed' || status === 'failed' || status === 'cancelled';

/** Begins the turn that waits longest, if the run has ended and its lease is free; a worker goes on with it. */
export function beginQueued(threadId: string, engine: RecordingEngine): void {
  const { threads, queue } = engine.store;
  const next = queue.next(threadId);
  if (next === null || !canFollow(threads.require(threadId).status)) return;
  const claim = threads.claim(threadId);
  if (claim.kind === 'busy') return;
  try {
    queue.remove(threadId, next.key);
    recordTurn({ threadId, key: next.key, given: next.given }, claim.lease, engine);
  } finally {
    threads.release(claim.lease);
  }
  threads.signals.wake(threadId);
}

/** Records a new turn behind the others. */
export function queueTurn({ threadId, key, given }: NextTurn, engine: RecordingEngine): void {
  engine.store.queue.insert(threadId, key, given);
  beginQueued(threadId, engine);
}

/** Whether a request is about the turn that a run stands in. One that waits is cancelled here. */
export function isOfCurrentTurn(
  threadId: string,
  turn: string | undefined,
  { inputs, queue }: Pick<EngineStore, 'inputs' | 'queue'>,
): boolean {
  if (turn === undefined) return true;
  return !queue.drop(threadId, turn) && inputs.latest(threadId)?.key === turn;
}
