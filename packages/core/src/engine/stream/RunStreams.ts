import type { Callbacks } from '@langchain/core/callbacks/manager';
import type { Database } from 'better-sqlite3';
import { type Limits, validLimits } from '../../config/limits.ts';
import { FileNews, isWatched } from '../../db/FileWatch.ts';
import {
  type FencedLease,
  immediateTransaction,
  leaseFence,
} from '../../state/commits/immediateTransaction.ts';
import { type NewStreamEvent, StreamStore } from '../../state/events/StreamStore.ts';
import { LiveTokens, type TokenReader } from './LiveTokens.ts';
import { ModelVoices } from './ModelVoices.ts';
import type { RunStreamEvent } from './runStreamEvents.ts';
import { StreamRecorder } from './StreamRecorder.ts';
import type { PlaceHere } from './tasks.ts';

/** How often a reader looks where the file cannot be watched. Writes of this app wake it at once. */
const READ_EVERY_MS = 50;

/** Wakes a reader when there may be something new; stop it when the reader leaves. */
export interface ReaderNews {
  /** Resolves when there may be something new since the last time, or after a moment. */
  next(signal: AbortSignal | undefined): Promise<void>;
  stop(): void;
}

interface DriveVoices {
  readonly callbacks: Callbacks | undefined;
  readonly end: () => void;
}

/** The streams of the runs of one app. */
export class RunStreams {
  readonly store: StreamStore;
  /** Whether this app records the runs that it drives. */
  readonly isKept: boolean;
  readonly #db: Database;
  readonly #keep: number;
  readonly #limits: Limits;
  readonly #placeHere: PlaceHere;
  readonly #recorders = new WeakMap<object, StreamRecorder>();
  /** Readers of messages, by run. */
  readonly #live = new Map<string, Set<TokenReader>>();
  /** The models of the runs that this process drives. */
  readonly #voices = new Map<string, ModelVoices>();
  readonly #waiting = new Map<string, Set<FileNews>>();

  /**
   * @param keep - Events of a run that are kept at least; `null` for none.
   * @param placeHere - Needed where runs are driven.
   */
  constructor(
    db: Database,
    keep: number | null,
    limits: Limits = validLimits(),
    placeHere: PlaceHere = () => null,
  ) {
    this.#db = db;
    this.#limits = limits;
    this.#placeHere = placeHere;
    this.store = new StreamStore(db);
    this.isKept = keep !== null;
    this.#keep = keep ?? 0;
  }

  /** A recorder for one call of a run's graph; `null` where nothing is kept. */
  recorder(lease: FencedLease, channels: readonly string[]): StreamRecorder | null {
    if (!this.isKept) return null;
    const { threadId } = lease;
    const append = (events: readonly NewStreamEvent[]): void => {
      for (const event of events) this.store.append(threadId, event, this.#keep);
    };
    const recorder = new StreamRecorder(
      { threadId, channels, limits: this.#limits, placeHere: this.#placeHere },
      {
        append,
        record: (events) =>
          immediateTransaction(this.#db, () => {
            leaseFence(this.#db, lease).assertInTx();
            append(events);
          }),
        wake: () => this.wake(threadId),
        isRead: () => this.#waiting.has(threadId),
        taskBegins: (task) => this.#voices.get(threadId)?.taskBegins(task),
      },
    );
    this.#recorders.set(lease, recorder);
    return recorder;
  }

  /** The recorder of the call that is made under a lease. */
  of(lease: unknown): StreamRecorder | undefined {
    return typeof lease === 'object' && lease !== null ? this.#recorders.get(lease) : undefined;
  }

  /** Where a run stands, in the transaction that records it. */
  record(threadId: string, told: readonly RunStreamEvent[]): void {
    if (!this.isKept) return;
    for (const event of told) this.store.append(threadId, event, this.#keep);
  }

  /**
   * The messages of models in a drive of a run, until `end`. With a callback, LangChain makes a run for each runnable, so there is
   * one only where somebody reads, or may come to read.
   *
   * @param mayCome - The drive is of a worker: its runs are read by others.
   */
  voices(threadId: string, callbacks: Callbacks | undefined, mayCome: boolean): DriveVoices {
    if (!this.isKept || !(mayCome || this.#live.has(threadId))) return { callbacks, end: () => undefined };
    const voices = new ModelVoices(() => this.#live.get(threadId));
    this.#voices.set(threadId, voices);
    const end = (): void => {
      if (this.#voices.get(threadId) === voices) this.#voices.delete(threadId);
    };
    return { callbacks: voices.among(callbacks), end };
  }

  /** The text of models while this process drives a run, until `end`. */
  liveTokens(
    threadId: string,
    subgraphs: boolean,
  ): { readonly tokens: LiveTokens; readonly end: () => void } {
    const tokens = new LiveTokens(subgraphs, {
      lastSeq: () => this.store.lastSeq(threadId),
      wake: () => this.wake(threadId),
    });
    return { tokens, end: this.tellTokens(threadId, tokens) };
  }

  /** Passes on the words of a run's models, until the returned function is called. */
  tellTokens(threadId: string, reader: TokenReader): () => void {
    const all = this.#live.get(threadId) ?? new Set();
    this.#live.set(threadId, all.add(reader));
    return () => {
      all.delete(reader);
      if (all.size === 0) this.#live.delete(threadId);
    };
  }

  wake(threadId: string): void {
    for (const news of this.#waiting.get(threadId) ?? []) news.tell();
  }

  /** Made before the reader looks for the first time. */
  news(threadId: string): ReaderNews {
    const news = new FileNews(this.#db);
    const waiting = this.#waiting.get(threadId) ?? new Set();
    this.#waiting.set(threadId, waiting.add(news));
    return {
      next: (signal) => news.next(isWatched(this.#db) ? undefined : READ_EVERY_MS, signal),
      stop: () => {
        news.stop();
        waiting.delete(news);
        if (waiting.size === 0) this.#waiting.delete(threadId);
      },
    };
  }
}

/** How much of the streams of runs the state file keeps. */
export interface StreamsOptions {
  /** Events of each run that are kept at least, the newest ones. @defaultValue 10,000 */
  readonly keep?: number;
}

const KEEP = 10_000;

/**
 * How many events of a run are kept; `null` for none.
 *
 * @throws RangeError if that is not a whole number of at least 1.
 */
export function keptEvents(streams: StreamsOptions | false | undefined): number | null {
  if (streams === false) return null;
  const { keep = KEEP } = streams ?? {};
  if (Number.isSafeInteger(keep) && keep >= 1) return keep;
  throw new RangeError(`Expected streams.keep to be a whole number of at least 1, got ${String(keep)}.`);
}
