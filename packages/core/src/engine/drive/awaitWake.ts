import { setTimeout as sleep } from 'node:timers/promises';
import type { EngineStore } from '../EngineStore.ts';
import { hasChildThatCan } from './canGoOn.ts';
import { dueSince } from './dueSince.ts';
import { isOver } from './outcome.ts';

/** How often a waiting process looks for a decision, a signal or the hour. It holds no lease meanwhile. */
const LOOK_EVERY_MS = 500;

/** A run that is waited for. */
export interface Awaiting {
  readonly threadId: string;
  /** When its first timer is due, in milliseconds since the Unix epoch. */
  readonly until?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Whether what is waited for has ended otherwise. @defaultValue no */
  readonly isOver?: (() => boolean) | undefined;
}

/**
 * Returns true once a signal came in that no driver has handled and none is about to, once the run is due, or once another
 * driver has brought it to its end; false once `signal` was aborted.
 */
export async function awaitWake(
  store: EngineStore,
  { threadId, until = Number.POSITIVE_INFINITY, signal, isOver: isTurnOver = () => false }: Awaiting,
): Promise<boolean> {
  const { threads, now } = store;
  while (signal?.aborted !== true) {
    if (isTurnOver()) return true;
    const { wakeSeq, handledSeq, status } = threads.require(threadId);
    if (isOver(status)) return true;
    const left = until - now();
    const hasCome = (): boolean =>
      left <= 0 || wakeSeq > handledSeq || hasChildThatCan(threadId, dueSince(now()), store);
    if (threads.driverOf(threadId) === null && hasCome()) return true;
    await sleep(left > 0 ? Math.min(left, LOOK_EVERY_MS) : LOOK_EVERY_MS);
  }
  return false;
}
