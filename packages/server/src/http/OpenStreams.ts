import { ApiError } from './ApiError.ts';

/** How many streams may be open at once. */
export interface StreamLimits {
  /** Of everybody. */
  readonly all: number;
  /** Of one principal. */
  readonly each: number;
}

/** The streams that are open, counted by their readers. */
export class OpenStreams {
  readonly #limits: StreamLimits;
  readonly #of = new Map<string, number>();
  readonly #open = new Set<AbortController>();

  constructor(limits: StreamLimits) {
    this.#limits = limits;
  }

  /**
   * Counts a stream until its `end` is called.
   *
   * @throws ApiError where there are too many.
   */
  begin(reader: string): { readonly stop: AbortController; readonly end: () => void } {
    const own = this.#of.get(reader) ?? 0;
    if (own >= this.#limits.each || this.#open.size >= this.#limits.all)
      throw new ApiError(429, 'TOO_MANY_STREAMS', 'Too many streams are open. Close one, then try again.');
    const stop = new AbortController();
    this.#of.set(reader, own + 1);
    this.#open.add(stop);
    const end = (): void => {
      if (!this.#open.delete(stop)) return;
      const left = (this.#of.get(reader) ?? 1) - 1;
      if (left > 0) this.#of.set(reader, left);
      else this.#of.delete(reader);
    };
    return { stop, end };
  }

  /** Ends every stream: a client joins again elsewhere. */
  closeAll(): void {
    for (const stop of this.#open) stop.abort();
  }
}
