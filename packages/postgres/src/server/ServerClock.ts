/** When a question was asked and its answer was there, on the clock of `performance`, ms. */
export interface Asked {
  readonly askedAt: number;
  readonly answeredAt: number;
}

interface Reading {
  /** The server's time less that of `performance`, ms. */
  readonly offsetMs: number;
  /** By which that may be wrong, ms. */
  readonly errorMs: number;
  readonly readAt: number;
}

/** How far a machine's own measure of time goes astray, ms in one. */
const DRIFT = 0.001;

/** In a statement: the server's time, ms since the Unix epoch. */
export const SERVER_NOW = '(extract(epoch FROM clock_timestamp()) * 1000)::float8';

/**
 * The server's clock, as this process knows it: the last reading, and the time that has passed since. The machine's own clock is
 * not used, and may be set at any time. A slow answer is a bad reading: it counts if the last one is worse by now, or wrong.
 */
export class ServerClock {
  #known: Reading = {
    offsetMs: Date.now() - performance.now(),
    errorMs: Number.POSITIVE_INFINITY,
    readAt: 0,
  };

  /** Milliseconds since the Unix epoch. */
  readonly now = (): number => Math.round(performance.now() + this.#known.offsetMs);

  /** By how much the machine's clock is ahead of the server's, seconds; 0 before the first reading. */
  get skewSeconds(): number {
    return Number.isFinite(this.#known.errorMs) ? (Date.now() - this.now()) / 1000 : 0;
  }

  /** @param serverMs - Time of the server, milliseconds since the Unix epoch. */
  read(serverMs: number, { askedAt, answeredAt }: Asked): void {
    const errorMs = (answeredAt - askedAt) / 2;
    const offsetMs = serverMs - (askedAt + answeredAt) / 2;
    const known = this.#known;
    const knownErrorMs = known.errorMs + (answeredAt - known.readAt) * DRIFT;
    const isOther = Math.abs(offsetMs - known.offsetMs) > errorMs + knownErrorMs;
    if (errorMs <= knownErrorMs || isOther) this.#known = { offsetMs, errorMs, readAt: answeredAt };
  }

  /** Asks something of which `serverMsOf` has the server's time. */
  async reading<Result>(
    ask: () => Promise<Result>,
    serverMsOf: (result: Result) => number | undefined,
  ): Promise<Result> {
    const askedAt = performance.now();
    const result = await ask();
    const serverMs = serverMsOf(result);
    if (serverMs !== undefined) this.read(serverMs, { askedAt, answeredAt: performance.now() });
    return result;
  }
}
