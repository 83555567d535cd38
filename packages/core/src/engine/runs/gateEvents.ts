// Reads the events about gates of all runs with a cursor: an event is read again until its reader has stored the cursor.

import { isGateEvent } from '../../events/events.ts';
import { News } from '../../events/News.ts';
import type { GateEvent, GateEventStore, OutboxEvent } from '../../state/events/EventStore.ts';
import type { GateEventPage } from './Runs.ts';

export interface GateEventOptions {
  /** The `cursor` of the last event that was acted on. @defaultValue the beginning: every event that is kept */
  readonly after?: string | undefined;
  /** Aborting it ends the loop. */
  readonly signal?: AbortSignal;
  /** `false`: ends after the last event that is there now. @defaultValue true */
  readonly wait?: boolean;
}

/** Where gate events are, with ends of runs among them. */
export interface GateEventSource {
  page(page: GateEventPage): readonly OutboxEvent[] | Promise<readonly OutboxEvent[]>;
  /** Calls `tell` soon after there may be more events. Returns a function that ends it. */
  watch(tell: () => void): (() => void) | Promise<() => void>;
}

/** Events that are read at once. */
const PAGE = 100;

export async function* readGateEvents(
  options: GateEventOptions,
  source: GateEventSource,
): AsyncGenerator<GateEvent, void> {
  const { after, signal, wait = true } = options;
  const isAborted = (): boolean => signal?.aborted === true;
  const news = new News();
  const end = wait ? await source.watch(() => news.tell()) : () => {};
  try {
    for (let cursor = after; !isAborted(); ) {
      const events = await source.page({ after: cursor, limit: PAGE });
      yield* unlessAborted(events.filter(isAboutGate), isAborted);
      cursor = events.at(-1)?.cursor ?? cursor;
      if (events.length === PAGE) continue;
      if (!wait) return;
      await news.next(undefined, signal);
    }
  } finally {
    end();
  }
}

const isAboutGate = (event: OutboxEvent): event is GateEvent => isGateEvent(event.name);

function* unlessAborted(events: readonly GateEvent[], isAborted: () => boolean): Generator<GateEvent, void> {
  for (const event of events) {
    if (isAborted()) return;
    yield event;
  }
}

/** @throws RangeError for an invalid cursor. */
export function eventPosition(after: string | undefined): number {
  if (after === undefined) return 0;
  if (/^\d{1,15}$/.test(after)) return Number(after);
  throw new RangeError('after: expected the `cursor` of a gate event');
}

/** @throws RangeError for a cursor that was not given out here. */
export function gateEventsAfter(
  { after, limit }: GateEventPage,
  store: Pick<GateEventStore, 'after' | 'last'>,
): readonly OutboxEvent[] {
  const position = eventPosition(after);
  const events = store.after(position, limit);
  if (events.length === 0 && position > store.last()) throw unknownCursor();
  return events;
}

/** A restored backup uses positions again. */
export const unknownCursor = (): RangeError =>
  new RangeError(
    'after: the cursor is later than every event here. If you restored a backup or use another file, begin without a cursor.',
  );
