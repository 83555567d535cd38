const TICK_MS = 100;

/**
 * How long nothing was written, by a clock of this process: what stalls the process stalls the clock, so a loaded machine
 * makes no silence.
 */
export class Silence {
  #now = 0;
  #longest = 0;
  readonly #timer: NodeJS.Timeout;

  constructor() {
    this.#timer = setInterval(() => {
      this.#now += TICK_MS;
      this.#longest = Math.max(this.#longest, this.#now);
    }, TICK_MS);
  }

  broken(): void {
    this.#now = 0;
  }

  /** Ends the clock. @returns the longest silence, ms. */
  end(): number {
    clearInterval(this.#timer);
    return this.#longest;
  }
}
