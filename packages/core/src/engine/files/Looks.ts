import { onAbort } from '../../events/onAbort.ts';

/** Between two looks, ms: after one that has found nothing new twice as long as before. */
const FIRST_MS = 25;
const LONGEST_MS = 1000;

/** Paces whoever looks at a run again and again; the process stays alive meanwhile. */
export class Looks {
  readonly #signal: AbortSignal | undefined;
  #restMs = FIRST_MS;

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
  }

  /** @param hasNews - The last look has found something: there may be more soon. */
  async next(hasNews = false): Promise<void> {
    const ms = hasNews ? FIRST_MS : this.#restMs;
    this.#restMs = Math.min(2 * ms, LONGEST_MS);
    if (this.#signal?.aborted === true) return;
    await new Promise<void>((resolve) => {
      const go = (): void => {
        clearTimeout(timer);
        forget();
        resolve();
      };
      const timer = setTimeout(go, ms);
      const forget = onAbort(this.#signal, go);
    });
  }
}
