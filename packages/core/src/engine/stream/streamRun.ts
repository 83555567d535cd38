import type { Callbacks } from '@langchain/core/callbacks/manager';
import { LOOK_EVERY_MS } from '../../db/FileWatch.ts';
import { onAbort } from '../../events/onAbort.ts';
import type { CommitBarrier } from '../../state/commits/CommitBarrier.ts';
import type { StreamRecord } from '../../state/events/StreamStore.ts';
import type { QueuedTurnStore } from '../../state/threads/QueuedTurnStore.ts';
import type { ThreadInputStore } from '../../state/threads/ThreadInputStore.ts';
import type { ThreadStore } from '../../state/threads/ThreadStore.ts';
import { hasEnded } from '../../state/threads/threadRecords.ts';
import type { DriveStops } from '../execution/StopControl.ts';
import type { LiveTokens } from './LiveTokens.ts';
import type { ReaderNews, RunStreams } from './RunStreams.ts';
import {
  notKept,
  readEvent,
  type StreamEvent,
  type StreamMode,
  type StreamSources,
  taskOf,
} from './StreamEvent.ts';
import type { HeardTokens } from './sentTokens.ts';

export interface StreamOptions<Mode extends StreamMode = StreamMode> {
  /** As LangGraph's. @defaultValue `updates` */
  readonly streamMode?: Mode | readonly Mode[];
  /** Whether updates and values of graphs inside nodes are streamed. @defaultValue false */
  readonly subgraphs?: boolean;
  /**
   * Position of the last event that is known. @defaultValue when driving, the newest event: what comes from now on; when
   * reading, the oldest one that is kept
   */
  readonly after?: number;
  /**
   * Read on over the ends of the run and its turns, until `signal` is aborted or the run is deleted. The beginnings of turns
   * are events then. Only with `null` as input. @defaultValue false
   */
  readonly overTurns?: boolean;
}

/** Options of a reader. */
export interface ReadOptions extends StreamOptions {
  /** Key of the turn to read: from its beginning, which may be still to come, to its end. @defaultValue the run */
  readonly turn?: string | undefined;
}

export interface StreamParts extends Pick<StreamSources, 'saver' | 'stateAt'> {
  readonly store: Pick<StreamSources, 'checkpoints' | 'sessions'> & {
    readonly threads: Pick<ThreadStore, 'get' | 'require'>;
    readonly inputs: Pick<ThreadInputStore, 'find' | 'latest'>;
    readonly queue: Pick<QueuedTurnStore, 'find'>;
    readonly outlet: CommitBarrier;
  };
  readonly streams: RunStreams;
}

const MODES: readonly StreamMode[] = ['updates', 'values', 'custom', 'messages'];

/** With what a drive is called. */
interface DriveCall {
  readonly drain?: AbortSignal | undefined;
  readonly callbacks?: Callbacks | undefined;
}

/** Drives the run. */
type Drive = (call: { readonly drain: AbortSignal; readonly callbacks?: Callbacks }) => Promise<unknown>;

/** Checked options of a stream. */
interface StreamQuery {
  readonly modes: ReadonlySet<string>;
  readonly subgraphs: boolean;
  readonly after: number | undefined;
  /** Its key, where one turn is read. */
  readonly turn: string | undefined;
  readonly overTurns: boolean;
}

/** @throws RangeError, TypeError for options that are not of their shape. */
function streamQuery({
  streamMode = 'updates',
  subgraphs = false,
  after,
  turn,
  overTurns = false,
}: ReadOptions): StreamQuery {
  const asked: readonly StreamMode[] = typeof streamMode === 'string' ? [streamMode] : streamMode;
  if (!Array.isArray(asked)) throw new TypeError('streamMode must be a string or a list of strings.');
  const unknown = asked.find((mode) => !MODES.includes(mode));
  if (unknown !== undefined) {
    throw new RangeError(`streamMode: unknown mode "${String(unknown)}", expected ${MODES.join(', ')}.`);
  }
  assertFlags({ subgraphs, overTurns });
  if (overTurns && turn !== undefined) throw new TypeError('Expected either turn or overTurns.');
  if (after !== undefined && !(Number.isSafeInteger(after) && after >= 0)) {
    throw new RangeError(`Expected after to be a whole number of at least 0, got ${String(after)}.`);
  }
  return { modes: new Set(asked), subgraphs, after, turn, overTurns };
}

function assertFlags(flags: Readonly<Record<string, unknown>>): void {
  for (const [name, flag] of Object.entries(flags))
    if (typeof flag !== 'boolean') throw new TypeError(`${name} must be true or false.`);
}

/**
 * Streams a run: while `drive` drives it, or as far as somebody does.
 *
 * @param drive - `null` to read only.
 */
export async function* streamRun(
  threadId: string,
  { signal, abort, drain, callbacks, ...options }: ReadOptions & DriveCall & DriveStops,
  drive: Drive | null,
  parts: StreamParts,
): AsyncGenerator<StreamEvent, void> {
  const query = streamQuery(options);
  if (drive !== null && query.overTurns)
    throw new TypeError('overTurns: only for a stream that reads, with `null` as input.');
  if (drive === null) yield* readStream(threadId, query, parts, signal ?? abort ?? drain);
  else yield* driveStream(threadId, query, parts, { drive, drain, callbacks });
}

/** Reads a run's events, in any process, until the run has ended or `signal` is aborted. */
async function* readStream(
  threadId: string,
  query: StreamQuery,
  parts: StreamParts,
  signal: AbortSignal | undefined,
): AsyncGenerator<StreamEvent, void> {
  parts.store.threads.require(threadId);
  const live = query.modes.has('messages') ? parts.streams.liveTokens(threadId, query.subgraphs) : null;
  try {
    const after = await whenBegun(threadId, query, parts, signal);
    if (after === null) return;
    const hasEnded = nowAndThen(() => isReadOver(threadId, query, parts));
    const until = { hasEnded, signal, tokens: live?.tokens };
    const last = yield* followFrom(threadId, { ...query, after }, parts, until);
    const isExpected = signal?.aborted === true || query.overTurns;
    if (last === 0 && !isExpected) throw notKept(threadId, 'not recorded', {});
  } finally {
    live?.end();
  }
}

/** The first position of a reader, once its turn has begun; `null` if the turn was cancelled, or `signal` is aborted before. */
async function whenBegun(
  threadId: string,
  query: StreamQuery,
  parts: StreamParts,
  signal: AbortSignal | undefined,
): Promise<number | null> {
  const news = parts.streams.news(threadId);
  try {
    for (;;) {
      const begin = beginOf(threadId, query, parts);
      if (begin !== null) return begin;
      if (signal?.aborted === true || isReadOver(threadId, query, parts)) return null;
      await news.next(signal);
    }
  } finally {
    news.stop();
  }
}

/**
 * The position before the first event that is read; `null` for a turn that has not begun.
 *
 * @throws DevsError `STREAM_NOT_KEPT` for a turn with a deleted beginning.
 */
function beginOf(threadId: string, { turn, after }: StreamQuery, parts: StreamParts): number | null {
  const { store } = parts.streams;
  if (turn === undefined) return after ?? Math.max(0, store.firstSeq(threadId) - 1);
  const begun = store.turnSeq(threadId, turn);
  if (begun !== null) return Math.max(begun, after ?? 0);
  if (parts.store.inputs.find(threadId, turn) === null) return null;
  throw notKept(threadId, store.lastSeq(threadId) === 0 ? 'not recorded' : 'trimmed', {});
}

/** Whether the reader has come to its end. */
function isReadOver(threadId: string, { turn, overTurns }: StreamQuery, { store }: StreamParts): boolean {
  if (overTurns) return store.threads.get(threadId) === null;
  const { status } = store.threads.require(threadId);
  if (turn === undefined) return hasEnded(status);
  const latest = store.inputs.latest(threadId)?.key;
  if (latest === turn) return hasEnded(status);
  if (store.inputs.find(threadId, turn) !== null) return true;
  return (store.queue.find(threadId, turn)?.droppedAt ?? null) !== null;
}

/** An end has an event, but for a run that is deleted: after a read without events, it is looked for every {@link LOOK_EVERY_MS}. */
function nowAndThen(isOver: () => boolean): StreamEnd['hasEnded'] {
  let askedAt = Number.NEGATIVE_INFINITY;
  return (isNews) => {
    if (!isNews && performance.now() - askedAt < LOOK_EVERY_MS) return false;
    askedAt = performance.now();
    return isOver();
  };
}

/** Events of a stream that were there. */
export interface StreamedSoFar {
  readonly events: readonly StreamEvent[];
  /** Position of the last one that was read, also of those that were not asked for. */
  readonly last: number;
  readonly isMore: boolean;
  /** Whether this is the end. */
  readonly isOver: boolean;
}

/**
 * The next few events of a run in a copy of its file, to which nothing comes.
 *
 * @param tokens - The words of models meanwhile.
 */
export async function streamedSoFar(
  threadId: string,
  options: ReadOptions,
  parts: StreamParts,
  tokens?: HeardTokens,
): Promise<StreamedSoFar> {
  const query = streamQuery(options);
  const { store } = parts.streams;
  const isOver = isReadOver(threadId, query, parts);
  const begin = beginOf(threadId, query, parts);
  if (begin === null) return { events: [], last: query.after ?? 0, isMore: false, isOver };
  let last = begin;
  assertThere(threadId, last, store.lastSeq(threadId));
  const page = store.page(threadId, last);
  const events: StreamEvent[] = [];
  for (const event of page) {
    if (isOfNextTurn(event, query)) return { events, last, isMore: false, isOver: true };
    last = positionAfter(threadId, last, event);
    events.push(...(tokens?.before(event.seq) ?? []));
    if (isAsked(event, query)) events.push(await readEvent(threadId, event, sourcesOf(parts)));
    noteEnds(event, tokens);
  }
  return { events, last, isMore: page.length > 0, isOver };
}

function noteEnds(event: StreamRecord, tokens: HeardTokens | undefined): void {
  const task = taskOf(event);
  if (task !== null) tokens?.ends(task);
  if (event.mode === 'end') tokens?.endAll();
}

/**
 * Drives a run and reads its events meanwhile. Who reads slowly does not hold the drive up; who stops reading asks it to
 * stop at the next safe point, and waits for that.
 *
 * @param drive - Rejects as the drive does.
 */
async function* driveStream(
  threadId: string,
  query: StreamQuery,
  parts: StreamParts,
  { drive, drain, callbacks }: DriveCall & { readonly drive: Drive },
): AsyncGenerator<StreamEvent, void> {
  const { streams } = parts;
  if (!streams.isKept) throw notKept(threadId, 'not recorded', {});
  const after = query.after ?? streams.store.lastSeq(threadId);
  const stop = new AbortController();
  const forget = onAbort(drain, () => stop.abort());
  let hasEnded = false;
  const live = query.modes.has('messages') ? streams.liveTokens(threadId, query.subgraphs) : null;
  const driven = drive({ drain: stop.signal, ...(callbacks && { callbacks }) }).finally(() => {
    hasEnded = true;
    live?.end();
    streams.wake(threadId);
  });
  const ended = driven.catch(() => undefined);
  try {
    const until = { hasEnded: () => hasEnded, signal: undefined, tokens: live?.tokens };
    yield* followFrom(threadId, { ...query, after }, parts, until);
    await driven;
  } finally {
    stop.abort();
    forget();
    await ended;
  }
}

interface StreamEnd {
  /**
   * Whether nothing is written after what can be read now.
   *
   * @param isNews - Events were read since it was asked last.
   */
  readonly hasEnded: (isNews: boolean) => boolean;
  readonly signal: AbortSignal | undefined;
  readonly tokens?: LiveTokens | undefined;
}

/** Returns the position it has come to. */
async function* followFrom(
  threadId: string,
  query: StreamQuery,
  parts: StreamParts,
  until: StreamEnd,
): AsyncGenerator<StreamEvent, number> {
  const news = parts.streams.news(threadId);
  try {
    return yield* followTold(threadId, query, parts, { ...until, news });
  } finally {
    news.stop();
  }
}

async function* followTold(
  threadId: string,
  query: StreamQuery,
  parts: StreamParts,
  { hasEnded, signal, tokens, news }: StreamEnd & { readonly news: ReaderNews },
): AsyncGenerator<StreamEvent, number> {
  const { store } = parts.streams;
  const { after = 0 } = query;
  const { outlet } = parts.store;
  const sources = sourcesOf(parts);
  const isAborted = (): boolean => signal?.aborted === true;
  assertThere(threadId, after, store.lastSeq(threadId));
  let last = after;
  let isNews = true;
  while (!isAborted()) {
    const isOver = hasEnded(isNews); // before the events are read: the words with the end are among them
    const events = store.page(threadId, last);
    isNews = events.length > 0;
    if (events.length > 0) await outlet.pending();
    for (const event of events) {
      if (isOfNextTurn(event, query)) return last;
      last = positionAfter(threadId, last, event);
      yield* tokensBefore(tokens, event.seq);
      if (isAsked(event, query)) yield await readEvent(threadId, event, sources);
      if (isAborted()) return last;
    }
    if (events.length > 0) continue;
    yield* tokensBefore(tokens);
    if (isOver) return last;
    await news.next(signal);
  }
  return last;
}

const sourcesOf = ({ store: { checkpoints, sessions }, ...parts }: StreamParts): StreamSources => ({
  ...parts,
  checkpoints,
  sessions,
});

function assertThere(threadId: string, after: number, last: number): void {
  if (after > last) throw notKept(threadId, 'ahead', { seq: after });
}

/** @throws DevsError `STREAM_NOT_KEPT` where an event is missing before it. */
function positionAfter(threadId: string, last: number, { seq }: StreamRecord): number {
  if (seq !== last + 1) throw notKept(threadId, 'trimmed', { seq: last + 1, first: seq });
  return seq;
}

/** Where one turn is read, it is over where another begins. */
const isOfNextTurn = ({ mode }: StreamRecord, { turn }: StreamQuery): boolean =>
  mode === 'turn' && turn !== undefined;

function isAsked({ mode, ns }: StreamRecord, { modes, subgraphs, overTurns }: StreamQuery): boolean {
  if (mode === 'turn') return overTurns;
  if (mode === 'gate' || mode === 'end') return true;
  return modes.has(mode) && (ns === '' || mode === 'custom' || subgraphs);
}

/** What models said before an event; all of it where none is given. */
const tokensBefore = (tokens: LiveTokens | undefined, seq?: number): readonly StreamEvent[] =>
  tokens?.before(seq) ?? [];
