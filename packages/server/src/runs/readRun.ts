import type { StreamEvent } from '@devs/core/langgraph';
import type { ServedApp } from '../apps/ServedApp.ts';
import { readEach } from './readEach.ts';
import { isSettled, requireTurn } from './standing.ts';

/** A run of a thread, and where to begin in it. */
export interface ReadRun {
  readonly app: ServedApp;
  readonly thread: string;
  readonly run: string;
  /** The `seq` of the last event that is known. @defaultValue the run's beginning */
  readonly after?: number | undefined;
}

export interface ReadModes {
  readonly streamMode: readonly ('updates' | 'values' | 'custom' | 'messages')[];
  readonly subgraphs: boolean;
}

/** How often a quiet run is looked at: it may have been paused, without an event, ms. */
const LOOK_EVERY_MS = 1_000;
/** The same while it may ask for an answer, ms. */
const LOOK_SOON_MS = 25;

/** Yields the events of a run until it has ended or waits for somebody, or `signal` is aborted. */
export async function* readRun(
  { app, thread, run, after }: ReadRun,
  { streamMode, subgraphs }: ReadModes,
  signal: AbortSignal,
): AsyncGenerator<StreamEvent, void> {
  const stop = new AbortController();
  const from = after === undefined ? {} : { after };
  const turn = run === thread ? {} : { turn: run };
  const events = app.stream(thread, null, {
    ...{ streamMode, subgraphs, ...from, ...turn },
    signal: AbortSignal.any([signal, stop.signal]),
  });
  let last = after ?? 0;
  let mayAsk = true;
  try {
    for await (const event of readEach(events, () => (mayAsk ? LOOK_SOON_MS : LOOK_EVERY_MS))) {
      const isOver = event === 'quiet' && (await isAtEnd({ app, thread, run, after: last }));
      if (isOver) return;
      if (event === 'quiet') continue;
      if ('seq' in event) last = event.seq;
      mayAsk = event.mode === 'gate' || (mayAsk && !('seq' in event));
      yield event;
    }
  } finally {
    stop.abort();
  }
}

/** Whether the run rests until a person acts, and all its events were read. */
async function isAtEnd({ app, thread, run, after = 0 }: ReadRun): Promise<boolean> {
  return (await isSettled(app, thread, run)) && (await requireTurn(app, thread, run)).lastSeq <= after;
}
