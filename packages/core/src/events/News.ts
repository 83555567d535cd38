import { onAbort } from './onAbort.ts';

/** The longest that a timer can be, ms. */
const FOR_EVER_MS = 2 ** 31 - 1;

/** For who looks, waits until there is something new, and looks again: what is told between two is not missed. */
export class News {
  #hasCome = false;
  #go = (): void => undefined;

  /** For who knows that there is something to look at. */
  tell(): void {
    this.#hasCome = true;
    this.#go();
  }

  /**
   * Resolves when there may be news since the last time, after `atMostMs`, or when `signal` is aborted. The process stays
   * alive that long.
   */
  async next(atMostMs = FOR_EVER_MS, signal?: AbortSignal): Promise<void> {
    if (!this.#hasCome && signal?.aborted !== true) await this.#told(Math.min(atMostMs, FOR_EVER_MS), signal);
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
