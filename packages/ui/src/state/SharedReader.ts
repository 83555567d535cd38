import { isDevsError, type Orchestrator } from '@devs/core';

/** How long an open file is kept for who reads next, ms. */
const KEPT_MS = 10_000;

interface Held {
  readonly opening: Promise<Orchestrator>;
  users: number;
  /** Lent to nobody else; closed by its last user. */
  isRetired: boolean;
}

/**
 * One open state file for everybody who reads, and for some seconds after the last: opening verifies every decision. A file
 * that was deleted, replaced or damaged meanwhile is opened anew by who reads next.
 */
export class SharedReader {
  readonly #open: () => Promise<Orchestrator>;
  #held: Held | null = null;
  #idle: NodeJS.Timeout | undefined;

  constructor(open: () => Promise<Orchestrator>) {
    this.#open = open;
  }

  /** @throws What opening throws, and what `work` does. */
  async use<T>(work: (devs: Orchestrator) => Promise<T>): Promise<T> {
    if (this.#held !== null) await this.#lent((devs) => devs.dataVersion()).catch(() => undefined);
    return this.#lent(work);
  }

  async #lent<T>(work: (devs: Orchestrator) => Promise<T>): Promise<T> {
    clearTimeout(this.#idle);
    this.#held ??= { opening: this.#open(), users: 0, isRetired: false };
    const held = this.#held;
    held.users += 1;
    try {
      const devs = await held.opening.catch((error: unknown) => {
        this.#retire(held);
        throw error;
      });
      return await work(devs);
    } catch (error) {
      if (isDevsError(error) && error.code.startsWith('STATE_')) this.#retire(held);
      throw error;
    } finally {
      held.users -= 1;
      if (held.users === 0) this.#rest(held);
    }
  }

  #rest(held: Held): void {
    if (held.isRetired) {
      close(held);
      return;
    }
    this.#idle = setTimeout(() => {
      this.#retire(held);
      close(held);
    }, KEPT_MS).unref();
  }

  #retire(held: Held): void {
    held.isRetired = true;
    if (this.#held === held) this.#held = null;
  }
}

/** One that could not be opened has nothing to close. */
function close({ opening }: Held): void {
  opening.then(
    (devs) => devs.close(),
    () => undefined,
  );
}
