import { setTimeout as sleep } from 'node:timers/promises';
import { isDevsError, type PipelineRunInfo } from '@devs/core';
import { type ErrorView, toErrorView, UiError } from '../http/errors.ts';

/** Ends the execution of a run: `drain` at its next safe point, `signal` at once. */
export interface DriveStop {
  readonly drain: AbortSignal;
  readonly signal: AbortSignal;
}

/** Executes a run with the agents of its start, until it ends, waits or is stopped. */
export type DriveRun = (run: string, stop: DriveStop) => Promise<unknown>;

type Standing = Pick<PipelineRunInfo, 'driver' | 'status'>;

/** Between two looks at whether the run has begun, ms. */
const LOOK_EVERY_MS = 50;

/** Failures that are remembered. */
const MOST_FAILURES = 100;

/**
 * Runs that the page executes, in its process: they outlive the tab that asked. The lease of the engine decides between two
 * processes; here, a run is driven once.
 */
export class PageDrives {
  readonly #drive: DriveRun;
  readonly #running = new Map<string, Promise<void>>();
  readonly #failures = new Map<string, ErrorView>();
  readonly #draining = new AbortController();
  readonly #aborting = new AbortController();

  constructor(drive: DriveRun) {
    this.#drive = drive;
  }

  isDriving(run: string): boolean {
    return this.#running.has(run);
  }

  /** Why the last execution of a run ended here; `null` where it ended well. */
  failureOf(run: string): ErrorView | null {
    return this.#failures.get(run) ?? null;
  }

  /**
   * Begins to execute a run. Resolves once it is executed, or has been already.
   *
   * @throws UiError `THREAD_BUSY` while another process executes it, with the name of that process.
   * @throws Errors of the execution before it has begun, such as a missing key.
   */
  async start(run: string, standing: () => Promise<Standing>): Promise<void> {
    if (this.#draining.signal.aborted) throw isEnding();
    if (this.#running.has(run)) return;
    // Before anything is awaited: of two requests at one moment, one begins.
    await new Promise<void>((resolve, reject) => {
      const ended = this.#execute(run, standing, resolve).then(resolve, reject);
      this.#running.set(run, ended);
    });
  }

  /** Stops every execution at its next safe point, and waits for that. */
  async drain(): Promise<void> {
    this.#draining.abort();
    await Promise.all(this.#running.values());
  }

  /** Stops every execution at once. */
  abort(): void {
    this.#draining.abort();
    this.#aborting.abort();
  }

  async #execute(run: string, standing: () => Promise<Standing>, onBegun: () => void): Promise<void> {
    this.#failures.delete(run);
    const following = new AbortController();
    const stop = { drain: this.#draining.signal, signal: this.#aborting.signal };
    try {
      const { driver } = await standing();
      if (driver !== null) throw drivenElsewhere(run, driver);
      void tellWhenDriven(standing, onBegun, following.signal);
      await this.#drive(run, stop).catch(async (error: unknown) => {
        if (!isDevsError(error, 'THREAD_BUSY')) throw error;
        throw drivenElsewhere(run, (await standing()).driver);
      });
    } catch (error) {
      this.#remember(run, toErrorView(error));
      throw error;
    } finally {
      following.abort();
      this.#running.delete(run);
    }
  }

  #remember(run: string, failure: ErrorView): void {
    const [oldest] = this.#failures.keys();
    if (this.#failures.size >= MOST_FAILURES && oldest !== undefined) this.#failures.delete(oldest);
    this.#failures.set(run, failure);
  }
}

/** A failed look is repeated; the execution reports problems of the file. */
async function tellWhenDriven(
  standing: () => Promise<Standing>,
  onBegun: () => void,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const seen = await standing().catch(() => null);
    if (seen !== null && seen.driver !== null) return onBegun();
    await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
}

const drivenElsewhere = (run: string, driver: string | null): UiError =>
  new UiError(409, {
    code: 'THREAD_BUSY',
    message: `${driver ?? 'Another process'} already executes this run.`,
    remedy: `Nothing needs to be done: it takes decisions up by itself. To stop it there: devs pause ${run}.`,
  });

const isEnding = (): UiError =>
  new UiError(503, {
    code: 'SERVER_ENDING',
    message: 'The server of this page is about to stop.',
    remedy: 'Start devs ui again.',
  });
