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

/** Before a quiet run is looked at that may ask for an answer, ms; twice as long each time. */
const LOOK_SOON_MS = 25;
/** How often a quiet run is looked at at least: it may have been paused, without an event, ms. */
const LOOK_EVERY_MS = 1_000;

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
  let asks = false;
  let lookMs = LOOK_SOON_MS;
  try {
    for await (const event of readEach(events, () => lookMs)) {
      const isOver = event === 'quiet' && (await isAtEnd({ app, thread, run, after: last }));
      if (isOver) return;
      if (event === 'quiet') {
        lookMs = Math.min(lookMs * 2, LOOK_EVERY_MS);
        continue;
      }
      asks ||= event.mode === 'gate';
      if ('seq' in event) lookMs = asks ? LOOK_SOON_MS : LOOK_EVERY_MS;
      if ('seq' in event) last = event.seq;
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
