import type { StreamEvent } from '@devs/core/langgraph';
import type { ServedApp } from '../apps/ServedApp.ts';
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

/** How often a quiet run is looked at: it may have been paused, which is no event, ms. */
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
  const leave = (): void => stop.abort();
  signal.addEventListener('abort', leave, { once: true });
  if (signal.aborted) stop.abort();
  const from = after === undefined ? {} : { after };
  const turn = run === thread ? {} : { turn: run };
  const events = app.stream(thread, null, { streamMode, subgraphs, ...from, ...turn, signal: stop.signal });
  try {
    yield* untilSettled(events, { app, thread, run, after });
  } finally {
    signal.removeEventListener('abort', leave);
    stop.abort();
  }
}

async function* untilSettled(
  events: AsyncGenerator<StreamEvent, void>,
  { app, thread, run, after = 0 }: ReadRun,
): AsyncGenerator<StreamEvent, void> {
  let last = after;
  let mayAsk = true;
  let next = events.next();
  for (;;) {
    const found = await within(next, mayAsk ? LOOK_SOON_MS : LOOK_EVERY_MS);
    if (found === 'late') {
      const isAtEnd = (await isSettled(app, thread, run)) && (await requireTurn(app, thread, run)).lastSeq <= last;
      if (isAtEnd) return;
      continue;
    }
    if (found.done === true) return;
    const { value: event } = found;
    if ('seq' in event) last = event.seq;
    mayAsk = event.mode === 'gate' || (mayAsk && event.mode === 'messages');
    next = events.next();
    yield event;
  }
}

/** What comes within so many milliseconds. The loop that waits for it goes on later. */
async function within<T>(coming: Promise<T>, ms: number): Promise<T | 'late'> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), ms);
  });
  try {
    return await Promise.race([coming, late]);
  } finally {
    clearTimeout(timer);
  }
}
