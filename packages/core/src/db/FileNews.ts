import type { Database } from 'better-sqlite3';
import { onAbort } from '../events/onAbort.ts';
import { onNews } from './FileWatch.ts';

/**
 * For who looks, waits for news of a state file, and looks again. Made before the first look, nothing is missed between two;
 * see `onNews`. Stop it when done.
 *
 * @example
 * ```ts
 * const news = new FileNews(db);
 * while (!hasCome()) await news.next(500, signal);
 * news.stop();
 * ```
 */
export class FileNews {
  readonly stop: () => void;
  #hasCome = false;
  #go = (): void => undefined;

  constructor(db: Database) {
    this.stop = onNews(db, () => this.tell());
  }

  /** For who knows that there is something to look at. */
  tell(): void {
    this.#hasCome = true;
    this.#go();
  }

  /**
   * Resolves when there may be news since the last time, after `atMostMs`, or when `signal` is aborted. The process stays
   * alive that long.
   */
  async next(atMostMs: number, signal?: AbortSignal): Promise<void> {
    if (!this.#hasCome && signal?.aborted !== true) await this.#told(atMostMs, signal);
    this.#hasCome = false;
  }

  #told(atMostMs: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const forget = onAbort(signal, () => go());
      const go = (): void => {
        clearTimeout(timer);
        forget();
        resolve();
      };
      const timer = setTimeout(go, atMostMs);
      this.#go = go;
    });
  }
}
