import { stripVTControlCharacters } from 'node:util';
import { maskSensitiveData } from '@devs/core';
import { MASK_REACH, maskCutText } from '@devs/core/internal';
import { TailBuffer } from './TailBuffer.ts';

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
