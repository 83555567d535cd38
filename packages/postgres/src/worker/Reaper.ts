import { setTimeout as sleep } from 'node:timers/promises';
import type { Leases } from '../rows/Leases.ts';
import type { SessionOwner } from '../server/SessionOwner.ts';

export interface ReaperParts {
  readonly owner: Pick<SessionOwner, 'leads'>;
  readonly leases: Pick<Leases, 'reap' | 'wakeDue' | 'tidy' | 'freeUnconfirmed' | 'restoreJobs'>;
  /** Told of what it did. */
  readonly onReaped: (runs: number) => void;
  readonly onDue: (runs: number) => void;
  readonly onUnconfirmed: (runs: number) => void;
  readonly onRestored: (runs: number) => void;
  /** Told why it cannot do it now. */
  readonly onError: (error: unknown) => void;
}

/** How soon a death is noticed, ms. */
const TICK_MS = 500;
/** Between two times that it tidies up, ticks. */
const TIDY_TICKS = 30;

/**
 * Looks after the runs of all workers, in one process at a time: that of the worker whose session has the lock. Where it dies
 * or stands still, the lock goes with its session, and the next one has it.
 */
export class Reaper {
  readonly #parts: ReaperParts;
  readonly #stopping = new AbortController();
  readonly #done: Promise<void>;

  constructor(parts: ReaperParts) {
    this.#parts = parts;
    this.#done = this.#loop();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#done;
  }

  async #loop(): Promise<void> {
    const { signal } = this.#stopping;
    for (let tick = 0; !signal.aborted; tick += 1) {
      try {
        if (await this.#parts.owner.leads()) await this.#look(tick);
      } catch (error) {
        this.#parts.onError(error);
      }
      await sleep(TICK_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  async #look(tick: number): Promise<void> {
    const { leases, onReaped, onDue, onUnconfirmed, onRestored } = this.#parts;
    onReaped(await leases.reap());
    onDue(await leases.wakeDue());
    if (tick % TIDY_TICKS !== 0) return;
    await leases.tidy();
    onUnconfirmed(await leases.freeUnconfirmed());
    onRestored(await leases.restoreJobs());
  }
}
