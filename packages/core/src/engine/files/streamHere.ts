import { DevsError } from '../../errors/DevsError.ts';
import { News } from '../../events/News.ts';
import { onAbort } from '../../events/onAbort.ts';
import type { HeldApp } from './HeldApp.ts';

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

type Streaming<Graph, State, Update> = Parameters<HeldApp<Graph, State, Update>['app']['stream']>;

/** Drives a held run as often as it is called, and tells what it streams meanwhile: each event once. */
export function streamingDrive<Graph, State, Update, Event>(
  [id, input, { abort, ...options } = {}]: Streaming<Graph, State, Update>,
  tell: (event: Event) => void,
): (held: HeldApp<Graph, State, Update>) => Promise<void> {
  let { after } = options;
  return (held) => {
    after ??= held.parts.streams?.store.lastSeq(id) ?? 0;
    return held.drive(async (told) => {
      const how = { ...options, ...told, ...(after !== undefined && { after }) };
      for await (const event of held.app.stream(id, input, how)) {
        if ('seq' in event) after = event.seq;
        tell(event as Event);
      }
    }, abort);
  };
}

/** What nobody's process here has. */
export const streamsElsewhere = (id: string): DevsError =>
  new DevsError(`Run "${id}" is in files elsewhere: what it streams is told where it is driven.`, {
    code: 'RUN_ELSEWHERE',
    remedy: 'Read what is recorded with follow(id), or drive it here with stream(id).',
    context: { threadId: id },
  });
