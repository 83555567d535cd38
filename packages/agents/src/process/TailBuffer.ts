/** Keeps the last `maxBytes` of a stream, whatever its length; memory stays below twice that. */
export class TailBuffer {
  readonly #maxBytes: number;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #dropped = false;

  constructor(maxBytes: number) {
    if (!Number.isSafeInteger(maxBytes) || maxBytes < 1) {
      throw new RangeError(`Expected maxBytes to be a positive integer, got ${maxBytes}.`);
    }
    this.#maxBytes = maxBytes;
  }

  /** True once bytes were dropped at the front. */
  get truncated(): boolean {
    return this.#dropped || this.#bytes > this.#maxBytes;
  }

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes >= this.#maxBytes * 2) this.#compact();
  }

  /** The tail; a character cut in half at its front shows as U+FFFD. */
  toString(): string {
    this.#compact();
    return Buffer.concat(this.#chunks).toString('utf8');
  }

  #compact(): void {
    if (this.#bytes <= this.#maxBytes) return;
    const tail = Buffer.from(Buffer.concat(this.#chunks).subarray(-this.#maxBytes));
    this.#chunks = [tail];
    this.#bytes = tail.length;
    this.#dropped = true;
  }
}
