import { setTimeout as sleep } from 'node:timers/promises';
import type { ThreadStore } from '../../state/ThreadStore.ts';
import { isOver } from './outcome.ts';

/** How often a waiting process looks for a decision. It holds no lease meanwhile. */
const LOOK_EVERY_MS = 500;

export interface AwaitedWake {
  readonly signal?: AbortSignal | undefined;
  /** Whether what is waited for has ended otherwise. @defaultValue no */
  readonly isOver?: (() => boolean) | undefined;
}

/**
 * Returns true once a signal came in that no driver has handled and none is about to, or once another driver has brought
 * the run to its end; false once `signal` was aborted.
 */
export async function awaitWake(
  threads: ThreadStore,
  threadId: string,
  { signal, isOver: isTurnOver = () => false }: AwaitedWake,
): Promise<boolean> {
  while (signal?.aborted !== true) {
    if (isTurnOver()) return true;
    const { wakeSeq, handledSeq, status } = threads.require(threadId);
    if (isOver(status)) return true;
    if (wakeSeq > handledSeq && threads.driverOf(threadId) === null) return true;
    await sleep(LOOK_EVERY_MS);
  }
  return false;
}
