import { setTimeout as sleep } from 'node:timers/promises';
import type { ThreadStore } from '../../state/ThreadStore.ts';
import { isOver } from './outcome.ts';

/** How often a waiting process looks for a decision. It holds no lease meanwhile. */
const LOOK_EVERY_MS = 500;

/** Returns true once a signal came in that no driver has handled, or another process has ended the run; false once `signal` was aborted. */
export async function awaitWake(
  threads: ThreadStore,
  threadId: string,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  while (signal?.aborted !== true) {
    const { wakeSeq, handledSeq, status } = threads.require(threadId);
    if (wakeSeq > handledSeq || isOver(status)) return true;
    await sleep(LOOK_EVERY_MS);
  }
  return false;
}
