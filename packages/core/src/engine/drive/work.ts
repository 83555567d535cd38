import type { Callbacks } from '@langchain/core/callbacks/manager';
import { isBusy } from '../../db/busy.ts';
import { FileNews, LOOK_EVERY_MS } from '../../db/FileWatch.ts';
import { assertSameFile } from '../../db/fileIdentity.ts';
import { isDevsError } from '../../errors/DevsError.ts';
import { type DueLook, type DueWork, driveIfDue, dueOf } from './drive.ts';
import { workCriteria } from './due.ts';

/** Options of `work`. */
export interface WorkOptions<Result = object> {
  /** Runs that are executed at the same time. @defaultValue 10 */
  readonly concurrency?: number;
  /**
   * Abort it to stop: no more runs are taken, and those in hand stop at their next safe point, for another process to
   * continue. Calls in flight may end.
   */
  readonly signal?: AbortSignal;
  /** Abort it to stop and to end the calls in flight; they are made again when the run continues. */
  readonly abort?: AbortSignal;
  /** LangChain handlers for every run. */
  readonly callbacks?: Callbacks;
  /** Called when a run ended, waits or was stopped. */
  readonly onRun?: (run: Result & { readonly id: string }) => void;
  /**
   * Called with the error of a run that cannot be executed, such as `GRAPH_CHANGED`; once, until the error is another one. The run
   * is tried again after pauses of up to a minute. @defaultValue a warning of the process
   */
  readonly onError?: (error: unknown, id: string) => void;
}

const CONCURRENCY = 10;
/** Runs that one look finds. */
const BATCH = 256;
/** After a look nobody looks for so many times as long as it took: what others write costs at most a tenth of a processor. */
const REST_FACTOR = 10;
/** Before a run that could not be driven is tried again, ms; doubled each time. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 60_000;
/** So long a run that drivers have died with waits for the others to end by themselves, ms. */
const PATIENCE_MS = 2_000;

/** A run that could not be driven. */
interface Pause {
  readonly times: number;
  /** On the clock of `performance`. */
  readonly until: number;
  /** Of the run, as it was: what was done to it since is looked at at once. */
  readonly stamp: string;
  readonly told: string | null;
}

/**
 * Drives what is due and what comes, several runs at a time, until `signal` is aborted. Any number of processes may do so.
 *
 * @throws RangeError for a `concurrency` below 1; DevsError `STATE_…` if the file cannot be read any more.
 */
export async function work<Result extends object>(
  options: WorkOptions<Result>,
  due: DueWork<Result>,
): Promise<void> {
  const { concurrency = CONCURRENCY } = options;
  if (!Number.isInteger(concurrency) || concurrency < 1)
    throw new RangeError(`concurrency: expected a whole number from 1, got ${concurrency}`);
  await new WorkLoop({ ...options, concurrency }, due).untilStopped();
}

class WorkLoop<Result extends object> {
  readonly #options: WorkOptions<Result> & { readonly concurrency: number };
  readonly #due: DueWork<Result>;
  readonly #news: FileNews;
  readonly #inHand = new Map<string, Promise<void>>();
  readonly #pauses = new Map<string, Pause>();
  /** Found and not taken yet, those that drivers have died with last. */
  #found: { readonly id: string; readonly deaths: number }[] = [];
  /** When the next look may be, on the clock of `performance`. */
  #restedAt = 0;
  #isLookDue = false;
  /** A run that drivers have died with: nothing is driven beside it until it has made progress. */
  #alone: string | null = null;
  #waitsAloneSince: number | null = null;
  /** Stops what is in hand. */
  #leave = new AbortController();

  constructor(options: WorkOptions<Result> & { readonly concurrency: number }, due: DueWork<Result>) {
    this.#options = options;
    this.#due = due;
    this.#news = new FileNews(due.store.db);
  }

  async untilStopped(): Promise<void> {
    const { signal, abort } = this.#options;
    const stop = AbortSignal.any([signal, abort].filter((each) => each !== undefined));
    try {
      while (!stop.aborted) await this.#news.next(this.#takeUp(), stop);
    } finally {
      this.#leave.abort();
      this.#news.stop();
      await Promise.all(this.#inHand.values());
    }
  }

  /** Takes what there is room for. Returns after how many milliseconds there may be more that nobody tells of. */
  #takeUp(): number {
    try {
      while (this.#hasRoom()) {
        const next = this.#found[0] ?? this.#look();
        if (next === undefined) return this.#restMs();
        if (next.deaths > 0 && this.#inHand.size > 0) return this.#waitAlone();
        this.#found.shift();
        this.#waitsAloneSince = null;
        if (next.deaths > 0) this.#alone = next.id;
        this.#take(next.id);
      }
    } catch (error) {
      if (!isBusy(error)) throw error;
    }
    return LOOK_EVERY_MS;
  }

  #hasRoom(): boolean {
    const { threads } = this.#due.store;
    if (this.#alone !== null && this.#inHand.has(this.#alone) && threads.deathsOf(this.#alone) > 0)
      return false;
    this.#alone = null;
    return this.#inHand.size < this.#options.concurrency;
  }

  /** What is in hand stops at its next safe point where it does not end soon; it is due again then. */
  #waitAlone(): number {
    this.#waitsAloneSince ??= performance.now();
    if (performance.now() - this.#waitsAloneSince > PATIENCE_MS) {
      this.#leave.abort();
      this.#leave = new AbortController();
    }
    return LOOK_EVERY_MS;
  }

  /** Fills what is found; the first of it. */
  #look(): { readonly id: string; readonly deaths: number } | undefined {
    const { own, store } = this.#due;
    const begun = performance.now();
    this.#isLookDue = begun < this.#restedAt;
    if (this.#isLookDue) return undefined;
    this.#forgetPauses(begun);
    assertSameFile(store.db); // what others record would be in another file
    const since = workCriteria(store.now());
    const limit = BATCH + this.#inHand.size + this.#pauses.size;
    this.#found = dueOf(own, since, store, limit).filter(
      ({ id }) => !this.#inHand.has(id) && !this.#isPaused(id),
    );
    this.#restedAt = performance.now() + (performance.now() - begun) * REST_FACTOR;
    return this.#found[0];
  }

  #restMs(): number {
    const ownRestMs = Math.max(1, Math.ceil(this.#restedAt - performance.now()));
    if (this.#isLookDue) return ownRestMs;
    const { store } = this.#due;
    const now = store.now();
    const nextTime = store.waits.nextTime(now) ?? Number.POSITIVE_INFINITY;
    return Math.max(ownRestMs, Math.min(Math.ceil(nextTime - now), LOOK_EVERY_MS));
  }

  /** Of runs that somebody else went on with. */
  #forgetPauses(now: number): void {
    for (const [id, { until }] of this.#pauses) if (now > until + LONGEST_PAUSE_MS) this.#pauses.delete(id);
  }

  #isPaused(id: string): boolean {
    const pause = this.#pauses.get(id);
    return pause !== undefined && performance.now() < pause.until && pause.stamp === this.#stampOf(id);
  }

  #stampOf(id: string): string {
    const thread = this.#due.store.threads.get(id);
    return thread === null ? '' : `${thread.wakeSeq} ${thread.graphFingerprint}`;
  }

  #take(id: string): void {
    const done = this.#drive(id).finally(() => {
      this.#inHand.delete(id);
      this.#news.tell();
    });
    this.#inHand.set(id, done);
  }

  /** Never rejects. */
  async #drive(id: string): Promise<void> {
    const { signal, abort, callbacks } = this.#options;
    // Of each drive its own: a signal warns of more than ten who listen to it.
    const how = {
      signal: AbortSignal.any([this.#leave.signal, ...(signal ? [signal] : [])]),
      ...(abort && { abort: AbortSignal.any([abort]) }),
      ...(callbacks && { callbacks }),
    };
    const { store, drive } = this.#due;
    try {
      const since = workCriteria(store.now());
      this.#ended(id, await driveIfDue(id, { since, how, drive }, store));
    } catch (error) {
      this.#pause(id, error); // of the look that comes before
    }
  }

  #ended(id: string, look: DueLook<Result> | null): void {
    if (look === null) return this.#pause(id, null);
    if (!look.isDriven) return this.#pause(id, look.error);
    this.#pauses.delete(id);
    const { onRun } = this.#options;
    if (onRun !== undefined) heard(() => onRun({ id, ...look.result }));
  }

  /** Somebody else's, or it cannot be driven: it keeps no other from it. */
  #pause(id: string, error: unknown): void {
    const before = this.#pauses.get(id);
    const isLost = error === null || isDevsError(error, 'LEASE_LOST');
    const times = isLost ? 0 : (before?.times ?? 0) + 1;
    const until = performance.now() + Math.min(FIRST_PAUSE_MS * 2 ** times, LONGEST_PAUSE_MS);
    const told = isLost ? (before?.told ?? null) : toldOf(error);
    this.#pauses.set(id, { times, until, stamp: this.#stampOf(id), told });
    const isOver = this.#options.abort?.aborted === true;
    if (isLost || isOver || told === before?.told) return;
    const { onError = warn } = this.#options;
    heard(() => onError(error, id));
  }
}

const toldOf = (error: unknown): string =>
  error instanceof Error ? `${isDevsError(error) ? error.code : error.name} ${error.message}` : String(error);

const warn = (error: unknown, id: string): void =>
  process.emitWarning(`Run "${id}" cannot be executed: ${String(error)}`, 'DevsWorkWarning');

/** What a callback throws is its own. */
function heard(tell: () => void): void {
  try {
    tell();
  } catch (error) {
    process.emitWarning(`A callback of work() failed: ${String(error)}`, 'DevsListenerWarning');
  }
}
