import { hasEnded } from '../../state/threads/threadRecords.ts';
import { readValuesAt } from '../drive/readState.ts';
import type { FileApp } from '../FileApp.ts';
import type { FollowedFile } from '../runs/FollowedRun.ts';
import { notKept } from '../stream/readEvent.ts';
import type { StreamEvent } from '../stream/StreamEvent.ts';
import { type StreamOptions, type StreamParts, streamedSoFar } from '../stream/streamRun.ts';
import type { LeasedApp } from './LeasedApp.ts';

type Streaming<Graph, State, Update, Output> = Parameters<FileApp<Graph, State, Update, Output>['stream']>;

/** Drives a held run as often as it is called, and tells what it streams meanwhile: each event once. */
export function streamingDrive<Graph, State, Update, Output>(
  [id, input, { abort, ...options }]: Streaming<Graph, State, Update, Output>,
  tell: (event: StreamEvent) => void,
): (held: LeasedApp<Graph, State, Update, Output>) => Promise<void> {
  let { after } = options;
  return (held) => {
    after ??= held.file.engine.streams.store.lastSeq(id);
    return held.drive(async (told) => {
      const how = { ...options, ...told, ...(after !== undefined && { after }) };
      for await (const event of held.file.stream(id, input, how)) {
        if ('seq' in event) after = event.seq;
        tell(event);
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
export async function* streamThere<Graph, State, Update, Output>(
  id: string,
  { signal, ...options }: StreamOptions & { readonly signal?: AbortSignal | undefined },
  follow: () => Promise<FollowedFile<FileApp<Graph, State, Update, Output>>>,
): AsyncGenerator<StreamEvent, void> {
  const followed = await follow();
  let { after } = options;
  const isAborted = (): boolean => signal?.aborted === true;
  const read = async ({ graph, store, engine }: FileApp<Graph, State, Update, Output>) => {
    const isOver = hasEnded(store.threads.require(id).status);
    const asked = { ...options, ...(after !== undefined && { after }) };
    const valuesAt: StreamParts['valuesAt'] = (...at) => readValuesAt(graph, ...at);
    return { isOver, ...(await streamedSoFar(id, asked, { ...engine, valuesAt })) };
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
