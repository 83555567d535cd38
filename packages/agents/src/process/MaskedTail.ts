import { stripVTControlCharacters } from 'node:util';
import { maskSensitiveData } from '@devs/core';
import { MASK_REACH, maskCutText } from '@devs/core/internal';
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

/** Bytes kept beyond the limit, as much as may be left out where the cut goes through a secret (three a character). */
const MARGIN_BYTES = 4 * MASK_REACH;

export const TRUNCATED_MARK = '… truncated';

/** A stream's tail that is safe to show: without terminal controls, masked, at most `maxBytes` long. */
export class MaskedTail {
  readonly #maxBytes: number;
  readonly #tail: TailBuffer;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.#tail = new TailBuffer(maxBytes + MARGIN_BYTES);
  }

  push(chunk: Buffer): void {
    this.#tail.push(chunk);
  }

  toString(): string {
    const text = stripVTControlCharacters(this.#tail.toString());
    const { truncated } = this.#tail;
    const masked = Buffer.from(truncated ? maskCutText(text) : maskSensitiveData(text));
    if (!truncated && masked.length <= this.#maxBytes) return masked.toString('utf8');
    const from = Math.max(0, masked.length - this.#maxBytes);
    return `${TRUNCATED_MARK}\n${masked.subarray(firstCharacter(masked, from)).toString('utf8')}`;
  }
}

/** The first index at or after `from` where a UTF-8 character begins. */
function firstCharacter(bytes: Buffer, from: number): number {
  let index = from;
  while (index < bytes.length && ((bytes[index] ?? 0) & 0xc0) === 0x80) index += 1;
  return index;
}
