import type { Orchestrator } from '@devs/core';
import type { StateFile } from './StateFile.ts';

/** Between two looks at the file, ms: a page is told within a second. */
const LOOK_EVERY_MS = 300;

/**
 * Tells pages that the state file has something new, or is another one, or cannot be read any more. One connection looks for
 * all of them, while there is one: it asks for a number and holds no snapshot, so the write-ahead log is not held back.
 */
export class ChangeFeed {
  readonly #file: Pick<StateFile, 'openReader'>;
  readonly #listeners = new Set<() => void>();
  #timer: NodeJS.Timeout | null = null;
  #reader: Orchestrator | null = null;
  #isLooking = false;
  /** What was seen last. A number counts for its connection alone, so it goes with the time that was opened. */
  #seen = '';
  #opened = 0;

  constructor(file: Pick<StateFile, 'openReader'>) {
    this.#file = file;
  }

  /** Whoever subscribes looks at the file afterwards: what is committed from then on is told. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    if (this.#timer === null) {
      this.#timer = setInterval(() => void this.#look(), LOOK_EVERY_MS);
      this.#timer.unref();
      void this.#look();
    }
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.#rest();
    };
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    const seen = await this.#see();
    this.#isLooking = false;
    // The last page may have gone while the file was opened.
    if (this.#listeners.size === 0) return this.#rest();
    if (seen === this.#seen) return;
    this.#seen = seen;
    for (const listener of this.#listeners) listener();
  }

  async #see(): Promise<string> {
    try {
      if (this.#reader === null) {
        this.#reader = await this.#file.openReader();
        this.#opened += 1;
      }
      return `${this.#opened} ${await this.#reader.dataVersion()}`;
    } catch (error) {
      this.#closeReader();
      return String(error);
    }
  }

  #rest(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    this.#closeReader();
  }

  #closeReader(): void {
    this.#reader?.close();
    this.#reader = null;
  }
}
