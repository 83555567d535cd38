import { isDevsError } from '@devs/core';
import type { Posts } from './posts.ts';

/** Runs that one process drives at a time. */
const MOST = 20;
const LOOK_EVERY_MS = 250;

/** Drives runs in the background: those that were started or answered here, and those that other processes have left. */
export class Worker {
  readonly #app: Posts;
  readonly #driven = new Map<string, Promise<void>>();
  readonly #leaving = new AbortController();
  readonly #timer: NodeJS.Timeout;

  constructor(app: Posts) {
    this.#app = app;
    this.#timer = setInterval(() => void this.#look().catch(report), LOOK_EVERY_MS);
  }

  /** Aborted once this process is to leave. */
  get leaving(): AbortSignal {
    return this.#leaving.signal;
  }

  /** Drives a run, unless this process does so or has enough to do: then whoever looks next takes it up. */
  take(id: string): void {
    const { leaving: signal } = this;
    if (signal.aborted || this.#driven.has(id) || this.#driven.size >= MOST) return;
    const driven = this.#app
      .run(id, undefined, { drain: signal })
      .then(() => {}, report)
      .finally(() => this.#driven.delete(id));
    this.#driven.set(id, driven);
  }

  /** Stops each run at its next safe point, and returns when all have. Another process goes on with them. */
  async leave(): Promise<void> {
    clearInterval(this.#timer);
    this.#leaving.abort();
    await Promise.all(this.#driven.values());
  }

  async #look(): Promise<void> {
    const { runs } = await this.#app.list({ due: true, graph: this.#app.fingerprint, limit: 100 });
    for (const { id, isDriven } of runs) if (!isDriven) this.take(id);
  }
}

/** Another process was faster: nothing to do. Of all else the run stays as it was recorded. */
function report(error: unknown): void {
  if (!isDevsError(error, 'THREAD_BUSY')) console.error(error);
}
