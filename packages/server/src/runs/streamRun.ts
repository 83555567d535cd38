import type { Principal } from '@devs/core';
import type { Access } from '../access/Access.ts';
import { errorView } from '../http/ApiError.ts';
import { eventStream, type SentEvent } from '../http/eventStream.ts';
import type { OpenStreams } from '../http/OpenStreams.ts';
import { readRun } from './readRun.ts';
import { type AskedEvents, engineModes, RunEvents } from './runEvents.ts';
import type { StartedRun } from './startRun.ts';
import { deleteStateless } from './waitForRun.ts';

interface StreamedRun {
  readonly streams: OpenStreams;
  readonly access: Access;
  readonly headers: Readonly<Record<string, string>>;
  /** The stream begins with its `metadata`. */
  readonly isFresh: boolean;
  readonly cancelsOnLeave: boolean;
  /** The thread is removed when the run has ended. */
  readonly deletes: boolean;
}

/** Answers with the events of a run until it has ended or waits for somebody. */
export function streamRun(
  run: StartedRun,
  asked: AskedEvents,
  { streams, access, headers, isFresh, cancelsOnLeave, deletes }: StreamedRun,
): Response {
  const { thread } = run;
  async function* read(signal: AbortSignal): AsyncGenerator<readonly SentEvent[], void> {
    if (isFresh) yield [{ event: 'metadata', data: { run_id: run.run, thread_id: thread, attempt: 1 } }];
    yield* groupsOf(run, asked, signal);
    if (deletes && !signal.aborted) await deleteStateless(run, access.principal);
  }
  return eventStream(read, {
    streams,
    reader: access.name,
    headers,
    ...(cancelsOnLeave && { onLeft: () => cancelQuietly(run, access.principal) }),
  });
}

/** For a client that has left: it cannot receive an error. */
export function cancelQuietly({ assistant: { app }, thread, run }: StartedRun, by: Principal): void {
  app.cancel(thread, { by, turn: run }).catch(() => undefined); // it has ended
}

async function* groupsOf(
  { assistant: { app }, thread, run, after }: StartedRun,
  asked: AskedEvents,
  signal: AbortSignal,
): AsyncGenerator<readonly SentEvent[], void> {
  const events = new RunEvents(asked);
  const modes = { streamMode: engineModes(asked), subgraphs: asked.subgraphs };
  try {
    for await (const event of readRun({ app, thread, run, after }, modes, signal))
      yield events.groupOf(event);
  } catch (error) {
    const { code, message } = errorView(error).body;
    yield [{ event: 'error', data: { error: code, message } }];
  }
}
