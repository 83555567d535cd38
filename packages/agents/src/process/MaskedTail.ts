import { stripVTControlCharacters } from 'node:util';
import { maskSensitiveData } from '@devs/core';
import { TailBuffer } from './TailBuffer.ts';

/** Bytes kept beyond the limit, so that a secret cut by the limit is still seen whole and masked. */
const MARGIN_BYTES = 4096;

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
    const masked = Buffer.from(maskSensitiveData(stripVTControlCharacters(this.#tail.toString())));
    if (!this.#tail.truncated && masked.length <= this.#maxBytes) return masked.toString('utf8');
    // The margin always goes when the front was cut: half a secret there matches no pattern.
    const margin = this.#tail.truncated ? MARGIN_BYTES : 0;
    const from = Math.max(margin, masked.length - this.#maxBytes);
    return `${TRUNCATED_MARK}\n${masked.subarray(firstCharacter(masked, from)).toString('utf8')}`;
  }
}

/** The first index at or after `from` where a UTF-8 character begins. */
function firstCharacter(bytes: Buffer, from: number): number {
  let index = from;
  while (index < bytes.length && ((bytes[index] ?? 0) & 0xc0) === 0x80) index += 1;
  return index;
}
