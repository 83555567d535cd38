import { News } from '../../events/News.ts';
import { onAbort } from '../../events/onAbort.ts';
import { hasEnded } from '../../state/threads/threadRecords.ts';
import type { AppInstance } from '../AppFactory.ts';
import { internalsOf } from '../appInternals.ts';
import { readValuesAt } from '../drive/readState.ts';
import { notKept } from '../stream/readEvent.ts';
import type { StreamEvent } from '../stream/StreamEvent.ts';
import { type StreamOptions, type StreamParts, streamedSoFar } from '../stream/streamRun.ts';
import type { FollowedRun } from './FollowedRun.ts';
import type { LeasedApp } from './LeasedApp.ts';

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

type Streaming<Graph, State, Update> = Parameters<LeasedApp<Graph, State, Update>['app']['stream']>;

/** Drives a held run as often as it is called, and tells what it streams meanwhile: each event once. */
export function streamingDrive<Graph, State, Update, Event>(
  [id, input, { abort, ...options } = {}]: Streaming<Graph, State, Update>,
  tell: (event: Event) => void,
): (held: LeasedApp<Graph, State, Update>) => Promise<void> {
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

function* unlessAborted<Event>(events: readonly Event[], isAborted: () => boolean): Generator<Event, void> {
  for (const event of events) {
    if (isAborted()) return;
    yield event;
  }
}

/** What a run has streamed that others drive, as it arrives, until the run has ended or `signal` is aborted. */
export async function* streamThere<Graph, State, Update>(
  id: string,
  { signal, ...options }: StreamOptions & { readonly signal?: AbortSignal | undefined },
  follow: () => Promise<FollowedRun<Graph, State, Update>>,
): AsyncGenerator<StreamEvent, void> {
  const followed = await follow();
  let { after } = options;
  const isAborted = (): boolean => signal?.aborted === true;
  const read = async ({ app, parts: { streams, ...parts } }: AppInstance<Graph, State, Update>) => {
    if (streams === undefined) throw notKept(id, 'not recorded', {});
    const isOver = hasEnded(internalsOf(app).store.threads.require(id).status);
    const asked = { ...options, ...(after !== undefined && { after }) };
    const valuesAt: StreamParts['valuesAt'] = (...at) => readValuesAt(app.graph, ...at);
    return { isOver, ...(await streamedSoFar(id, asked, { ...parts, streams, valuesAt })) };
  };
  try {
    while (!isAborted()) {
      const seen = await followed.look(read);
      yield* unlessAborted(seen?.events ?? [], isAborted);
      if (seen?.isMore === true) {
        after = seen.last;
        followed.forget();
      } else if (seen?.isOver !== true) await followed.next(signal);
      else if (seen.last > 0) return;
      else throw notKept(id, 'not recorded', {});
    }
  } finally {
    followed.close();
  }
}
