import type { Callbacks } from '@langchain/core/callbacks/manager';
import { isBusy } from '../../db/busy.ts';
import { FileNews, LOOK_EVERY_MS } from '../../db/FileWatch.ts';
import { assertSameFile } from '../../db/fileIdentity.ts';
import { isDevsError } from '../../errors/DevsError.ts';
import { type DueLook, type DueWork, driveIfDue, dueOf } from './drive.ts';
import { workCriteria } from './due.ts';
import { isSuspect } from './lease.ts';

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
   * Called with the error of a run that cannot be executed, such as `GRAPH_CHANGED`, and again when the error changes. The
   * run is tried again after pauses of up to a minute. @defaultValue a warning of the process
   */
  readonly onError?: (error: unknown, id: string) => void;
}

const CONCURRENCY = 10;
/** Runs that one look finds. */
const BATCH = 256;
/** A look is followed by a rest of so many times its duration, so that looks take at most a tenth of a processor. */
const REST_FACTOR = 10;
/** Before a run that could not be driven is tried again, ms; doubled each time. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 60_000;
/** How long the runs in hand may take to end before a suspect run has them stopped, ms. */
const PATIENCE_MS = 2_000;

/** A run that could not be driven. */
interface Pause {
  readonly times: number;
  /** On the clock of `performance`. */
  readonly until: number;
  /** Changes with the run: a changed run is tried at once. */
  readonly stamp: string;
  readonly told: string | null;
}

/**
 * Drives due runs and new ones, several at a time, until `signal` is aborted. Any number of processes may do so.
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
  /** Due runs to take, suspects last. */
  #found: { readonly id: string; readonly deaths: number }[] = [];
  /** When the next look may be, on the clock of `performance`. */
  #restedAt = 0;
  #isLookDue = false;
  /** A suspect: several drivers have died with it. It is driven alone until it makes progress. */
  #alone: string | null = null;
  #waitsAloneSince: number | null = null;
  /** Stops the runs in hand. */
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

  /** Takes as many runs as there is room for. Returns the milliseconds until the next look. */
  #takeUp(): number {
    try {
      while (this.#hasRoom()) {
        const next = this.#found[0] ?? this.#look();
        if (next === undefined) return this.#restMs();
        if (isSuspect(next.deaths) && this.#inHand.size > 0) return this.#waitAlone();
        this.#found.shift();
        this.#waitsAloneSince = null;
        if (isSuspect(next.deaths)) this.#alone = next.id;
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

  /** Runs in hand that do not end soon stop at their next safe point; they are due again then. */
  #waitAlone(): number {
    this.#waitsAloneSince ??= performance.now();
    if (performance.now() - this.#waitsAloneSince > PATIENCE_MS) {
      this.#leave.abort();
      this.#leave = new AbortController();
    }
    return LOOK_EVERY_MS;
  }

  /** Finds due runs; returns the first. */
  #look(): { readonly id: string; readonly deaths: number } | undefined {
    const { own, store } = this.#due;
    const begun = performance.now();
    this.#isLookDue = begun < this.#restedAt;
    if (this.#isLookDue) return undefined;
    this.#forgetPauses(begun);
    assertSameFile(store.db); // news would be in another file
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

  /** Of runs that other processes continued. */
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

  /** Always resolves. */
  async #drive(id: string): Promise<void> {
    const { signal, abort, callbacks } = this.#options;
    // A signal per drive: Node.js warns at the eleventh listener. An abort drains first, so that the run stays due.
    const how = {
      drain: AbortSignal.any([this.#leave.signal, ...(signal ? [signal] : []), ...(abort ? [abort] : [])]),
      ...(abort && { signal: AbortSignal.any([abort]) }),
      ...(callbacks && { callbacks }),
    };
    const { store, drive } = this.#due;
    try {
      const since = workCriteria(store.now());
      this.#ended(id, await driveIfDue(id, { since, how, drive }, store));
    } catch (error) {
      this.#pause(id, error); // the file was busy before the drive
    }
  }

  #ended(id: string, look: DueLook<Result> | null): void {
    if (look?.isDriven !== true) {
      this.#pause(id, look?.error ?? null);
      return;
    }
    this.#pauses.delete(id);
    const { onRun } = this.#options;
    if (onRun !== undefined) heard(() => onRun({ id, ...look.result }));
  }

  /** The run belongs to another process, or cannot be driven. Other runs are not held up. */
  #pause(id: string, error: unknown): void {
    const { times, told } = this.#pauses.get(id) ?? { times: 0, told: null };
    if (error === null || isDevsError(error, 'LEASE_LOST')) {
      this.#rest(id, 0, told);
      return;
    }
    const telling = toldOf(error);
    this.#rest(id, times + 1, telling);
    const { abort, onError = warn } = this.#options;
    if (telling !== told && abort?.aborted !== true) heard(() => onError(error, id));
  }

  #rest(id: string, times: number, told: string | null): void {
    const until = performance.now() + pauseMs(times);
    this.#pauses.set(id, { times, until, stamp: this.#stampOf(id), told });
  }
}

const pauseMs = (times: number): number => Math.min(FIRST_PAUSE_MS * 2 ** times, LONGEST_PAUSE_MS);

const toldOf = (error: unknown): string =>
  error instanceof Error ? `${isDevsError(error) ? error.code : error.name} ${error.message}` : String(error);

const warn = (error: unknown, id: string): void =>
  process.emitWarning(`Run "${id}" cannot be executed: ${String(error)}`, 'DevsWorkWarning');

/** An error of a callback does not stop the loop. */
function heard(tell: () => void): void {
  try {
    tell();
  } catch (error) {
    process.emitWarning(`A callback of work() failed: ${String(error)}`, 'DevsListenerWarning');
  }
}
