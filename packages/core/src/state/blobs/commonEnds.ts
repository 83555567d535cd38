/** What two byte strings share at both ends; the ranges do not overlap in either. */
export interface CommonEnds {
  readonly prefix: number;
  readonly suffix: number;
}

/** Bytes compared by one native call; a byte at a time in JavaScript is twenty times slower. */
const BLOCK = 4096;

/** The longest common prefix, and the longest common suffix of what is left of both. */
export function commonEnds(a: Uint8Array, b: Uint8Array): CommonEnds {
  const shorter = Math.min(a.byteLength, b.byteLength);
  const prefix = prefixLength(a, b, shorter);
  return { prefix, suffix: suffixLength(a, b, shorter - prefix) };
}

function prefixLength(a: Uint8Array, b: Uint8Array, limit: number): number {
  let length = 0;
  while (length + BLOCK <= limit && equalBlocks(a, length, b, length)) length += BLOCK;
  while (length < limit && a[length] === b[length]) length += 1;
  return length;
}

function suffixLength(a: Uint8Array, b: Uint8Array, limit: number): number {
  const [endA, endB] = [a.byteLength, b.byteLength];
  let length = 0;
  while (length + BLOCK <= limit && equalBlocks(a, endA - length - BLOCK, b, endB - length - BLOCK)) {
    length += BLOCK;
  }
  while (length < limit && a[endA - length - 1] === b[endB - length - 1]) length += 1;
  return length;
}

function equalBlocks(a: Uint8Array, atA: number, b: Uint8Array, atB: number): boolean {
  return Buffer.compare(a.subarray(atA, atA + BLOCK), b.subarray(atB, atB + BLOCK)) === 0;
}
