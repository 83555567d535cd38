import { hasEnded } from '../../state/threads/threadRecords.ts';
import type { Principal } from '../gates/principals.ts';
import type { RecordingEngine } from './Engine.ts';
import { type NextTurn, queueTurn } from './queuedTurns.ts';
import { type CancellingEngine, type CancelRequest, endIfFree, requestCancel } from './signals.ts';
import { cancelRequest } from './stopRequests.ts';

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
