import { deflateSync, inflateSync } from 'node:zlib';

export type Encoding = 'raw' | 'deflate';

/** Bytes as a row holds them. */
export interface Encoded {
  readonly encoding: Encoding;
  readonly bytes: Uint8Array;
}

/** Bytes; below this, starting the compressor costs more time than the bytes are worth. */
const MIN_SIZE = 1024;

/** Bytes from the start that show whether the rest is worth the time. */
const SAMPLE_SIZE = 4096;

/** Stored by original size; random base64 stays at 0.76, prose and JSON are around 0.5. */
const WORTHWHILE_RATIO = 0.7;

/** The fastest: commits wait for it. */
const LEVEL = 1;

/** Bytes up to which a value is left to who compresses the whole file: equal parts of two values are found that near. */
const LEFT_SIZE = 256 * 1024;

/** Compresses where that pays. @param isLeft - Whether the whole file is compressed by who keeps it. */
export function compress(bytes: Uint8Array, isLeft: boolean): Encoded {
  if (isLeft && bytes.byteLength <= LEFT_SIZE) return { encoding: 'raw', bytes };
  if (bytes.byteLength < MIN_SIZE || !pays(bytes.subarray(0, SAMPLE_SIZE))) return { encoding: 'raw', bytes };
  // A copy, because zlib gives a view of a buffer of 16 KiB, all of which would be kept.
  return { encoding: 'deflate', bytes: new Uint8Array(deflateSync(bytes, { level: LEVEL })) };
}

/**
 * @param maxSize - Bytes the result may have: a damaged row must not grow into memory before its hash is checked.
 * @throws RangeError or a zlib error if the bytes are damaged.
 */
export function decompress({ encoding, bytes }: Encoded, maxSize: number): Uint8Array {
  return encoding === 'raw' ? bytes : inflateSync(bytes, { maxOutputLength: Math.max(maxSize, 1) });
}

function pays(sample: Uint8Array): boolean {
  return deflateSync(sample, { level: LEVEL }).byteLength <= sample.byteLength * WORTHWHILE_RATIO;
}
