import { setTimeout as sleep } from 'node:timers/promises';
import type { EndedRuns } from '../rows/EndedRuns.ts';
import type { Leases } from '../rows/Leases.ts';
import type { SessionOwner } from '../server/SessionOwner.ts';

export interface ReaperParts {
  readonly owner: Pick<SessionOwner, 'leads' | 'resign'>;
  readonly leases: Pick<Leases, 'reap' | 'wakeDue' | 'tidy' | 'freeUnconfirmed' | 'restoreJobs'>;
  readonly ended: Pick<EndedRuns, 'addUp' | 'sweep'>;
  /** Told of what it did. */
  readonly onReaped: (runs: number) => void;
  readonly onSwept: (runs: number) => void;
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
  #hasMoreToSweep = false;

  constructor(parts: ReaperParts) {
    this.#parts = parts;
    this.#done = this.#loop();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#done;
    await this.#parts.owner.resign();
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

  /** Deletes a small portion. */
  async #sweep(): Promise<void> {
    const { ended, onSwept } = this.#parts;
    const { runs, isMore } = await ended.sweep();
    this.#hasMoreToSweep = isMore;
    onSwept(runs);
  }

  async #look(tick: number): Promise<void> {
    const { leases, ended, onReaped, onDue, onUnconfirmed, onRestored } = this.#parts;
    onReaped(await leases.reap());
    onDue(await leases.wakeDue());
    const isTidyTick = tick % TIDY_TICKS === 0;
    if (isTidyTick || this.#hasMoreToSweep) await this.#sweep();
    if (!isTidyTick) return;
    await leases.tidy();
    await ended.addUp();
    onUnconfirmed(await leases.freeUnconfirmed());
    onRestored(await leases.restoreJobs());
  }
}
