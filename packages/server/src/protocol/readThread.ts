import { setTimeout as sleep } from 'node:timers/promises';
import type { StreamEvent } from '@devs/core/langgraph';
import type { ServedApp } from '../apps/ServedApp.ts';
import { readEach } from '../runs/readEach.ts';
import { begunTurns, rests, type Turn, turnId } from '../runs/standing.ts';
import { type EventFilter, matches, type ProtocolEvent } from './ProtocolEvent.ts';
import { type EventGroup, ThreadEvents } from './ThreadEvents.ts';

/** A thread, of the assistant of this name. */
export interface ReadThread {
  readonly app: ServedApp;
  readonly graph: string;
  readonly thread: string;
}

const MODES = ['updates', 'values', 'custom', 'messages'] as const;
/** Before a thread is looked at that has asked, until it rests, ms; twice as long each time without news of it. */
const LOOK_AT_ONCE_MS = 10;
/** The same for one that waits for an answer, ms. */
const LOOK_SOON_MS = 50;
const LOOK_LATE_MS = 500;
const LOOK_EVERY_MS = 1_000;

/** Yields the events that a subscription wants, over all turns, until `signal` is aborted. */
export async function* readThread(
  place: ReadThread,
  filter: EventFilter,
  signal: AbortSignal,
): AsyncGenerator<readonly ProtocolEvent[], void> {
  const { app, thread, graph } = place;
  const turns = await app.turns(thread);
  const from = Math.max(0, filter.since === undefined ? beginningOf(turns) : filter.since - 1);
  const begun = begunTurns(turns).findLast(({ afterSeq }) => afterSeq <= from);
  const events = new ThreadEvents({ graph, run: begun === undefined ? thread : turnId(thread, begun) });
  const stream = app.stream(thread, null, {
    streamMode: MODES,
    subgraphs: true,
    overTurns: true,
    after: from,
    signal,
  });
  const wanted = (group: EventGroup, seq: number): EventGroup => {
    const isKnown = filter.since !== undefined && seq <= filter.since;
    return isKnown ? [] : group.filter((event) => matches(filter, event));
  };
  const looks = new Looks(place, events);
  for await (const event of readEach(stream, () => looks.ms)) {
    if (event === 'quiet') {
      if (await looks.isNew()) yield* standing(events, place);
      continue;
    }
    looks.begin();
    const open = await openAt(event);
    if (events.asks) yield wanted(events.answered(open), Number.POSITIVE_INFINITY);
    const seq = 'seq' in event ? event.seq : Number.POSITIVE_INFINITY;
    const group = events.groupOf(event, open);
    // A page that has the question and takes the run for working would send a message as to a run that works.
    const isAtRest = event.mode === 'gate' && events.asks && (await restsSoon(place, events.last, signal));
    yield wanted(isAtRest ? [...group, ...events.waits()] : group, seq);
  }

  async function openAt({ mode }: StreamEvent): Promise<ReadonlySet<string>> {
    return mode === 'gate' || events.asks ? openSessions(app, thread) : NONE;
  }

  async function* standing(told: ThreadEvents, at: ReadThread): AsyncGenerator<EventGroup, void> {
    yield wanted(told.answered(await openSessions(at.app, at.thread)), Number.POSITIVE_INFINITY);
    if (await waitsNow(at, told.last)) yield wanted(told.waits(), Number.POSITIVE_INFINITY);
  }
}

const NONE: ReadonlySet<string> = new Set();

const openSessions = async (app: ServedApp, thread: string): Promise<ReadonlySet<string>> =>
  new Set((await app.gates(thread)).map(({ sessionId }) => sessionId));

/** The turn that a thread stands in. */
const currentTurn = async ({ app, thread }: ReadThread): Promise<Turn | undefined> =>
  begunTurns(await app.turns(thread)).at(-1);

/** Whether the thread stands at its questions, and all events before were sent. */
async function waitsNow(place: ReadThread, last: number): Promise<boolean> {
  const turn = await currentTurn(place);
  return turn !== undefined && turn.lastSeq <= last && (await rests(place.app, place.thread, turn.status));
}

/** How long a question is held back until its run rests: other branches may work for long, ms. */
const MOST_HELD_MS = 300;

async function restsSoon(place: ReadThread, last: number, signal: AbortSignal): Promise<boolean> {
  for (const until = performance.now() + MOST_HELD_MS; performance.now() < until && !signal.aborted; ) {
    const turn = await currentTurn(place);
    if (turn !== undefined && turn.lastSeq > last) return false;
    if (turn !== undefined && (await rests(place.app, place.thread, turn.status))) return true;
    await sleep(LOOK_AT_ONCE_MS);
  }
  return false;
}

/** Looks at a quiet thread: rarer each time without news of it. */
class Looks {
  readonly #place: ReadThread;
  readonly #events: ThreadEvents;
  /** Looks without news. */
  #vain = 0;
  #known = '';

  constructor(place: ReadThread, events: ThreadEvents) {
    this.#place = place;
    this.#events = events;
  }

  /** Until the next one. */
  get ms(): number {
    const { asks, isRunning } = this.#events;
    if (!asks) return LOOK_EVERY_MS;
    return Math.min((isRunning ? LOOK_AT_ONCE_MS : LOOK_SOON_MS) * 2 ** this.#vain, LOOK_LATE_MS);
  }

  begin(): void {
    this.#vain = 0;
  }

  async isNew(): Promise<boolean> {
    const { asks, isRunning } = this.#events;
    const stamp = asks || isRunning ? await this.#stamp() : this.#known;
    const isNew = stamp !== this.#known;
    this.#vain = isNew ? 0 : this.#vain + 1;
    this.#known = stamp;
    return isNew;
  }

  /** Becomes another one with everything that a look could find. A decision makes a run due. */
  async #stamp(): Promise<string> {
    const run = await this.#place.app.get(this.#place.thread);
    if (run === null) return '';
    return [run.status, run.updatedAt, run.isDue, run.isDriven, this.#events.last].join(' ');
  }
}

/** A new client receives the events of the last two runs. The state has the rest. */
function beginningOf(turns: readonly Turn[]): number {
  const { afterSeq = 0 } = begunTurns(turns).at(-2) ?? {};
  return afterSeq - 1;
}
