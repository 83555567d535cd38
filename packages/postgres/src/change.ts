import { brotliCompressSync, brotliDecompressSync, constants, crc32 } from 'node:zlib';

/** Bytes of a page that became others. */
export interface PageEdit {
  /** From 1. */
  readonly page: number;
  /** Offset in the page, bytes. */
  readonly at: number;
  readonly bytes: Uint8Array;
}

/** What one or more commits made of a file. Applied to the file before them, it gives the file after them, byte for byte. */
export interface Change {
  /** Bytes. */
  readonly pageSize: number;
  /** How many the file has afterwards; what it has more than before is zeros, but for the edits. */
  readonly pages: number;
  /** {@link sumOf} every page afterwards, each by XOR. */
  readonly sum: number;
  readonly edits: readonly PageEdit[];
}

/** How a change is written: as it is, or but for its first byte compressed. */
const [PLAIN, BROTLI] = [1, 2];
/** Bytes up to which a change is compressed: one that is larger would hold up the process. */
const COMPRESSED_UP_TO = 1024 * 1024;
/** Takes half of the time of deflating, which for small changes is spent on tables. */
const FAST = { params: { [constants.BROTLI_PARAM_QUALITY]: 1, [constants.BROTLI_PARAM_LGWIN]: 16 } };
const HEADER = 13;
const EDIT = 8;
const MIN_PAGE_SIZE = 512;
const MAX_PAGE_SIZE = 65_536;

/** Equal bytes between two edits of a page cost less than a second edit, up to so many. */
const GAP = EDIT;

/** Of one page: its place counts, so that two pages that changed places are found. */
export function sumOf(page: number, bytes: Uint8Array): number {
  return crc32(bytes, page);
}

/** The edits that make `after` of `before`, which are of one size, a multiple of 4. */
export function editsBetween(page: number, before: Uint8Array, after: Uint8Array): readonly PageEdit[] {
  const [old, now] = [wordsOf(before), wordsOf(after)];
  const edits: PageEdit[] = [];
  let [from, to] = [-1, -1];
  const close = (): void => {
    if (from >= 0) edits.push({ page, at: from * 4, bytes: after.subarray(from * 4, to * 4) });
  };
  for (let word = 0; word < now.length; word += 1) {
    if (old[word] === now[word]) continue;
    if (from < 0 || (word - to) * 4 > GAP) {
      close();
      from = word;
    }
    to = word + 1;
  }
  close();
  return edits;
}

function wordsOf(bytes: Uint8Array): Uint32Array {
  const aligned = bytes.byteOffset % 4 === 0 ? bytes : Uint8Array.from(bytes);
  return new Uint32Array(aligned.buffer, aligned.byteOffset, aligned.byteLength / 4);
}

export function encodeChange(change: Change): Buffer {
  const plain = plainOf(change);
  if (plain.length > COMPRESSED_UP_TO) return plain;
  return Buffer.concat([Uint8Array.of(BROTLI), brotliCompressSync(plain.subarray(1), FAST)]);
}

function plainOf({ pageSize, pages, sum, edits }: Change): Buffer {
  const size = edits.reduce((bytes, edit) => bytes + EDIT + edit.bytes.length, HEADER);
  const out = Buffer.allocUnsafe(size);
  out.writeUInt8(PLAIN, 0);
  out.writeUInt32LE(pageSize, 1);
  out.writeUInt32LE(pages, 5);
  out.writeUInt32LE(sum, 9);
  let at = HEADER;
  for (const edit of edits) {
    out.writeUInt32LE(edit.page, at);
    out.writeUInt16LE(edit.at, at + 4);
    out.writeUInt16LE(edit.bytes.length - 1, at + 6); // a whole page of 65,536 bytes fits
    out.set(edit.bytes, at + EDIT);
    at += EDIT + edit.bytes.length;
  }
  return out;
}

/** @throws RangeError if `bytes` are no change, or one of a newer release. */
export function decodeChange(bytes: Uint8Array): Change {
  const from = toPlain(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  if (from.length < HEADER) throw unreadable('cut off');
  const pageSize = from.readUInt32LE(1);
  const isPageSize =
    pageSize >= MIN_PAGE_SIZE && pageSize <= MAX_PAGE_SIZE && Number.isInteger(Math.log2(pageSize));
  if (!isPageSize) throw unreadable(`of pages of ${pageSize} bytes`);
  const pages = from.readUInt32LE(5);
  const edits: PageEdit[] = [];
  for (let at = HEADER; at < from.length; ) {
    if (at + EDIT > from.length) throw unreadable('cut off');
    const edit = { page: from.readUInt32LE(at), at: from.readUInt16LE(at + 4) };
    const length = from.readUInt16LE(at + 6) + 1;
    const isInside = edit.page >= 1 && edit.page <= pages && edit.at + length <= pageSize;
    if (!isInside || at + EDIT + length > from.length) throw unreadable('damaged');
    edits.push({ ...edit, bytes: from.subarray(at + EDIT, at + EDIT + length) });
    at += EDIT + length;
  }
  return { pageSize, pages, sum: from.readUInt32LE(9), edits };
}

function toPlain(bytes: Buffer): Buffer {
  if (bytes[0] === PLAIN) return bytes;
  if (bytes[0] !== BROTLI) throw unreadable('of another release, or none');
  try {
    const options = { maxOutputLength: COMPRESSED_UP_TO };
    return Buffer.concat([Uint8Array.of(PLAIN), brotliDecompressSync(bytes.subarray(1), options)]);
  } catch {
    throw unreadable('damaged');
  }
}

const unreadable = (how: string): RangeError => new RangeError(`The change of a run's file is ${how}.`);
