import { News } from '../../events/News.ts';
import { onAbort } from '../../events/onAbort.ts';

/**
 * What `work` tells, as it tells it. Who takes it slowly holds nothing up: what was not taken yet stays in memory, as the file
 * that it is from is let go of. Who leaves the loop has `work` aborted, and waits for its end.
 *
 * @param work - Rejects as the loop does.
 */
export async function* toldBy<Event>(
  work: (tell: (event: Event) => void, signal: AbortSignal) => Promise<unknown>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Event, void> {
  const stop = new AbortController();
  const forget = onAbort(signal, () => stop.abort(signal?.reason));
  const news = new News();
  const events: Event[] = [];
  const tell = (event: Event): void => {
    events.push(event);
    news.tell();
  };
  let isOver = false;
  const working = work(tell, stop.signal).finally(() => {
    isOver = true;
    news.tell();
  });
  const ended = working.catch(() => undefined);
  try {
    while (!isOver || events.length > 0) {
      yield* events.splice(0);
      if (!isOver) await news.next();
    }
    await working;
  } finally {
    stop.abort();
    forget();
    await ended;
  }
}
