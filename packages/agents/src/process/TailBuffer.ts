import { assertPositiveInteger } from '../assertPositiveInteger.ts';

/** Keeps the last `maxBytes` of a stream, whatever its length; memory stays below twice that and a chunk. */
export class TailBuffer {
  readonly #maxBytes: number;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #dropped = false;

  constructor(maxBytes: number) {
    assertPositiveInteger('maxBytes', maxBytes);
    this.#maxBytes = maxBytes;
  }

  /** True once bytes were dropped at the front. */
  get truncated(): boolean {
    return this.#dropped || this.#bytes > this.#maxBytes;
  }

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes >= this.#maxBytes * 2) this.#dropFront();
  }

  /** The tail; a character cut in half at its front shows as U+FFFD. */
  toString(): string {
    return Buffer.concat(this.#chunks).subarray(-this.#maxBytes).toString('utf8');
  }

  /** Whole chunks: copying the rest would make more garbage than the stream has bytes. */
  #dropFront(): void {
    let from = this.#chunks.length;
    let kept = 0;
    while (kept < this.#maxBytes) {
      from -= 1;
      kept += this.#chunks[from]?.length ?? 0;
    }
    this.#dropped ||= from > 0;
    this.#chunks = this.#chunks.slice(from);
    this.#bytes = kept;
  }
}
