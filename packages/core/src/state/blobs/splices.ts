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

/** A value that is stored whole. */
export interface FullPart {
  readonly size: number;
  readonly bytes: Uint8Array;
}

/** A value that is stored as the difference from its base: base[0, prefix) + bytes + base[end - suffix, end). */
export interface SplicePart extends FullPart {
  readonly prefix: number;
  readonly suffix: number;
}

/** Bytes [start, end) of the value under the walk, which belong at `target` of the result. */
interface ByteRange {
  readonly start: number;
  readonly end: number;
  readonly target: number;
}

/**
 * Puts a value together from its splices and the full value at their end.
 *
 * Every byte is copied once, however long the chain: the walk carries which ranges of the next base are still needed,
 * instead of building each value in between.
 *
 * @param splices - From the value itself towards the full one.
 * @throws RangeError if the parts do not fit together.
 */
export function assembleValue(splices: readonly SplicePart[], full: FullPart): Uint8Array {
  const parts = [...splices, full];
  const result = new Uint8Array(parts[0]?.size ?? 0);
  let needed: readonly ByteRange[] = [{ start: 0, end: result.byteLength, target: 0 }];
  splices.forEach((splice, index) => {
    const baseSize = parts[index + 1]?.size ?? 0;
    assertSpliceFits(splice, baseSize);
    needed = needed.flatMap((range) => takeMiddle(range, splice, baseSize, result));
  });
  if (full.bytes.byteLength !== full.size) throw new RangeError(`full value: ${full.bytes.byteLength} bytes`);
  for (const { start, end, target } of needed) result.set(full.bytes.subarray(start, end), target);
  return result;
}

/** Copies what of a range lies in the splice's own bytes; returns what lies in its base, in the base's places. */
function takeMiddle(
  range: ByteRange,
  splice: SplicePart,
  baseSize: number,
  result: Uint8Array,
): readonly ByteRange[] {
  const { prefix, suffix, bytes, size } = splice;
  const middleEnd = size - suffix;
  const middle = overlap(range, prefix, middleEnd);
  if (middle !== null) result.set(bytes.subarray(middle.start - prefix, middle.end - prefix), middle.target);
  const before = overlap(range, 0, prefix);
  const after = overlap(range, middleEnd, size);
  const shift = baseSize - size;
  return [
    ...(before === null ? [] : [before]),
    ...(after === null ? [] : [{ ...after, start: after.start + shift, end: after.end + shift }]),
  ];
}

function overlap({ start, end, target }: ByteRange, from: number, to: number): ByteRange | null {
  const first = Math.max(start, from);
  const last = Math.min(end, to);
  return first < last ? { start: first, end: last, target: target + first - start } : null;
}

function assertSpliceFits({ prefix, suffix, bytes, size }: SplicePart, baseSize: number): void {
  const fits = prefix + bytes.byteLength + suffix === size && prefix + suffix <= baseSize;
  if (!fits || prefix < 0 || suffix < 0) throw new RangeError('a splice does not match its base');
}
