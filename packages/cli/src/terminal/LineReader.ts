import type { Io } from './Io.ts';

/** Reads what a person types, line by line. */
export class LineReader {
  readonly #chunks: AsyncIterator<Uint8Array | string>;
  readonly #aborted: Promise<null>;
  /** A character may come in two chunks. */
  readonly #decoder = new TextDecoder();
  #rest = '';

  constructor({ stdin, signal }: Pick<Io, 'stdin' | 'signal'>) {
    this.#chunks = stdin[Symbol.asyncIterator]();
    this.#aborted = new Promise((resolve) => {
      if (signal.aborted) resolve(null);
      signal.addEventListener('abort', () => resolve(null), { once: true });
    });
  }

  /** The next line, without spaces around it; `null` at the end of the input or after a signal. */
  async next(): Promise<string | null> {
    while (!this.#rest.includes('\n')) {
      const chunk = await Promise.race([this.#chunks.next(), this.#aborted]);
      if (chunk === null || chunk.done === true) return null;
      this.#rest += this.#decoder.decode(Buffer.from(chunk.value as Uint8Array), { stream: true });
    }
    const end = this.#rest.indexOf('\n');
    const line = this.#rest.slice(0, end);
    this.#rest = this.#rest.slice(end + 1);
    return line.trim();
  }

  /** Lets go of the input, so that the process can end. Not awaited: a terminal may never answer. */
  close(): void {
    void this.#chunks.return?.();
  }
}
