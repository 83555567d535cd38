import type { RestartedEvent, TokensChunk } from './StreamEvent.ts';

/** An event about a model while it speaks. */
export type Provisional = TokensChunk | RestartedEvent;

/** Receives the words of models. */
export interface TokenReader {
  /** Whether somebody reads now: models are asked for their words then. */
  readonly isThere: boolean;
  hear(event: Provisional): void;
}

/** Provisional events that wait for their reader; a slower one misses the oldest ones. */
const MAX_WAITING = 10_000;

/** Pieces of messages that wait for one reader. */
export class LiveTokens implements TokenReader {
  readonly isThere = true;
  readonly #subgraphs: boolean;
  /** With the newest lasting event at that time. */
  readonly #waiting: { readonly after: number; readonly event: Provisional }[] = [];
  readonly #lastSeq: () => number;
  readonly #wake: () => void;

  constructor(
    subgraphs: boolean,
    { lastSeq, wake }: { readonly lastSeq: () => number; readonly wake: () => void },
  ) {
    this.#subgraphs = subgraphs;
    this.#lastSeq = lastSeq;
    this.#wake = wake;
  }

  hear(event: Provisional): void {
    if (event.mode === 'messages' && event.ns.length > 0 && !this.#subgraphs) return;
    if (this.#waiting.length >= MAX_WAITING) this.#waiting.shift();
    this.#waiting.push({ after: this.#lastSeq(), event });
    this.#wake();
  }

  /** What was told before a lasting event; all of it where that is not known yet. */
  before(seq: number = Number.POSITIVE_INFINITY): readonly Provisional[] {
    const end = this.#waiting.findIndex(({ after }) => after >= seq);
    const told = this.#waiting.splice(0, end === -1 ? this.#waiting.length : end);
    return told.map(({ event }) => event);
  }
}
