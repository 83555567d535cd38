import { FileNews } from '../../db/FileNews.ts';
import { LOOK_EVERY_MS } from '../../db/FileWatch.ts';
import { assertSameFile } from '../../db/fileIdentity.ts';
import type { EngineStore } from '../EngineStore.ts';
import { hasContinuableChild } from './canContinue.ts';
import { dueCriteria } from './dueCriteria.ts';
import { isOver } from './outcome.ts';

/** A run that is waited for. */
export interface WakeTarget {
  readonly threadId: string;
  /** When its first timer is due, in milliseconds since the Unix epoch. */
  readonly until?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Whether what is waited for has ended otherwise. @defaultValue no */
  readonly isOver?: (() => boolean) | undefined;
}

/**
 * Returns true once a signal came in that no driver has handled and none is about to, once the run is due, or once another
 * driver has brought it to its end; false once `signal` was aborted. No lease is held meanwhile.
 *
 * @throws DevsError `STATE_REPLACED` if the file is not the one at its path any more: nobody's decision would be in it.
 */
export async function waitUntilWoken(store: EngineStore, awaiting: WakeTarget): Promise<boolean> {
  const { until = Number.POSITIVE_INFINITY, signal } = awaiting;
  const news = new FileNews(store.db);
  try {
    while (signal?.aborted !== true) {
      if (hasWoken(store, { ...awaiting, until })) return true;
      const left = until - store.now();
      await news.next(left > 0 ? Math.min(left, LOOK_EVERY_MS) : LOOK_EVERY_MS, signal);
    }
    return false;
  } finally {
    news.stop();
  }
}

function hasWoken(
  store: EngineStore,
  { threadId, until, isOver: isTurnOver }: WakeTarget & { readonly until: number },
): boolean {
  const { threads, now } = store;
  assertSameFile(store.db);
  if (isTurnOver?.() === true) return true;
  const { wakeSeq, handledSeq, status } = threads.signals.wakesOf(threadId);
  if (isOver(status)) return true;
  const hasCome = (): boolean =>
    until <= now() || wakeSeq > handledSeq || hasContinuableChild(threadId, dueCriteria(now()), store);
  return threads.driverOf(threadId) === null && hasCome();
}
