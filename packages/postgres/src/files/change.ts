// Changes of a file: bytes that differ, page by page, their stored form, and the file that they are applied to.
import { crc32, deflateRawSync, inflateRawSync } from 'node:zlib';

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
  /** {@link pageChecksum} every page afterwards, each by XOR. */
  readonly sum: number;
  readonly edits: readonly PageEdit[];
}

/** How a change is written: where its edits are, and what they are, as it is or each deflated. */
const [PLAIN, DEFLATED] = [1, 3];
/** Bytes up to which a change is deflated: one that is larger would hold up the process. */
const DEFLATED_UP_TO = 1024 * 1024;
/** Of deflating, bytes. */
const WINDOW = 32 * 1024;
const HEADER = 17;
/** Of an edit: page, offset, length. */
const PLACE = 8;
/** Edits up to so many bytes are too short to have much of what is beside them; of that so many are of use. */
const [BESIDE_MIN, BESIDE_MAX] = [8, 2048];
const MIN_PAGE_SIZE = 512;
const MAX_PAGE_SIZE = 65_536;

/** Equal bytes between two edits of a page cost less than a second edit, up to so many. */
const GAP = PLACE;

/** Of one page: its place counts, so that two pages that changed places are found. */
export function pageChecksum(page: number, bytes: Uint8Array): number {
  return crc32(bytes, page);
}

/** The edits that make `after` of `before`, which are of one size, a multiple of 4. */
export function editsBetween(page: number, before: Uint8Array, after: Uint8Array): readonly PageEdit[] {
  const [old, now] = [alignedUint32(before), alignedUint32(after)];
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

/** Of a multiple of 4 bytes. */
export function alignedUint32(bytes: Uint8Array): Uint32Array {
  const aligned = bytes.byteOffset % 4 === 0 ? bytes : Uint8Array.from(bytes);
  return new Uint32Array(aligned.buffer, aligned.byteOffset, aligned.byteLength / 4);
}

/**
 * What the page had after an edit, before it: SQLite puts a new row in front of the one that came last, which is mostly of
 * its kind, so that what an edit writes is found there in part.
 */
export function besideOf(before: Uint8Array, at: number, length: number): Uint8Array {
  if (length < BESIDE_MIN) return before.subarray(0, 0);
  return before.subarray(at + length, at + length + Math.min(3 * length, BESIDE_MAX));
}

/** @param beside - {@link besideOf} each edit. */
export function encodeChange({ pageSize, pages, sum, edits }: Change, beside: readonly Uint8Array[]): Buffer {
  const places = Buffer.allocUnsafe(edits.length * PLACE);
  for (const [nth, { page, at, bytes }] of edits.entries()) {
    places.writeUInt32LE(page, nth * PLACE);
    places.writeUInt16LE(at, nth * PLACE + 4);
    places.writeUInt16LE(bytes.length - 1, nth * PLACE + 6); // a whole page of 65,536 bytes fits
  }
  const data = Buffer.concat(edits.map(({ bytes }) => bytes));
  const isPlain = places.length + data.length > DEFLATED_UP_TO;
  const where = isPlain ? places : deflateRawSync(places, { level: 1 });
  const header = Buffer.allocUnsafe(HEADER);
  header.writeUInt8(isPlain ? PLAIN : DEFLATED, 0);
  header.writeUInt32LE(pageSize, 1);
  header.writeUInt32LE(pages, 5);
  header.writeUInt32LE(sum, 9);
  header.writeUInt32LE(where.length, 13);
  return Buffer.concat([
    header,
    where,
    isPlain ? data : deflateRawSync(data, { level: 3, ...dictionaryOf(beside) }),
  ]);
}

/** Not more than is looked back, and none where it is empty: zlib refuses that. */
function dictionaryOf(beside: readonly Uint8Array[]): { readonly dictionary?: Uint8Array } {
  const dictionary = Buffer.concat(beside).subarray(-WINDOW);
  return dictionary.length === 0 ? {} : { dictionary };
}

/**
 * @param pageBefore - As it is before the change; empty where there is none.
 * @throws RangeError if `bytes` are no change, one of another release, or one of another file.
 */
export function decodeChange(bytes: Uint8Array, pageBefore: (page: number) => Uint8Array): Change {
  const from = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (from.length < HEADER) throw malformedChange('cut off');
  if (from[0] !== PLAIN && from[0] !== DEFLATED)
    throw malformedChange('from another release, or not a change');
  const isPlain = from[0] === PLAIN;
  const [pageSize, pages, sum] = [from.readUInt32LE(1), from.readUInt32LE(5), from.readUInt32LE(9)];
  const isPageSize =
    pageSize >= MIN_PAGE_SIZE && pageSize <= MAX_PAGE_SIZE && Number.isInteger(Math.log2(pageSize));
  if (!isPageSize) throw malformedChange(`of pages of ${pageSize} bytes`);
  const dataAt = HEADER + from.readUInt32LE(13);
  if (dataAt > from.length) throw malformedChange('cut off');
  const [where, rest] = [from.subarray(HEADER, dataAt), from.subarray(dataAt)];
  const places = parsePageRanges(isPlain ? where : inflateChange(where, []), { pageSize, pages });
  const beside = () => places.map(({ page, at, length }) => besideOf(pageBefore(page), at, length));
  const data = isPlain ? rest : inflateChange(rest, beside());
  let end = 0;
  const edits = places.map(({ page, at, length }) => {
    end += length;
    return { page, at, bytes: data.subarray(end - length, end) };
  });
  if (data.length !== end) throw malformedChange('damaged');
  return { pageSize, pages, sum, edits };
}

interface PageRange {
  readonly page: number;
  readonly at: number;
  readonly length: number;
}

function parsePageRanges(
  bytes: Buffer,
  { pageSize, pages }: Pick<Change, 'pageSize' | 'pages'>,
): readonly PageRange[] {
  if (bytes.length % PLACE !== 0) throw malformedChange('damaged');
  return Array.from({ length: bytes.length / PLACE }, (_, nth) => {
    const page = bytes.readUInt32LE(nth * PLACE);
    const at = bytes.readUInt16LE(nth * PLACE + 4);
    const length = bytes.readUInt16LE(nth * PLACE + 6) + 1;
    if (page < 1 || page > pages || at + length > pageSize) throw malformedChange('damaged');
    return { page, at, length };
  });
}

function inflateChange(bytes: Buffer, beside: readonly Uint8Array[]): Buffer {
  try {
    return inflateRawSync(bytes, { maxOutputLength: DEFLATED_UP_TO, ...dictionaryOf(beside) });
  } catch {
    throw malformedChange('damaged, or from another file');
  }
}

const malformedChange = (how: string): RangeError => new RangeError(`The change of a run's file is ${how}.`);

/** A SQLite file in memory, to which changes are applied in their order. */
export class FileImage {
  #bytes: Buffer;
  #pageSize: number;
  /** Of every page, by XOR. */
  #sum: number;
  /** Whether the bytes are those of another image, too: they are copied before the first change. */
  #isShared = false;

  /** @param file - A whole file, empty for none yet, or an image: neither is changed. */
  constructor(file: Uint8Array | FileImage) {
    if (file instanceof FileImage) {
      [this.#bytes, this.#pageSize, this.#sum] = [file.#bytes, file.#pageSize, file.#sum];
      this.#isShared = true;
      return;
    }
    this.#bytes = Buffer.from(file);
    this.#pageSize = pageSizeOf(this.#bytes);
    this.#sum = imageSum(this.#bytes, this.#pageSize);
  }

  get bytes(): Buffer {
    return this.#bytes;
  }

  get sum(): number {
    return this.#sum;
  }

  /** From 1; empty where the file has none. */
  page(page: number): Buffer {
    return this.#bytes.subarray((page - 1) * this.#pageSize, page * this.#pageSize);
  }

  /** @throws RangeError if the file that comes of it is not the one that was changed; the image is of no use afterwards. */
  apply({ pageSize, pages, sum, edits }: Change): void {
    if (this.#bytes.length === 0) this.#pageSize = pageSize;
    if (this.#pageSize !== pageSize) throw foreign();
    if (this.#isShared) this.#bytes = Buffer.from(this.#bytes);
    this.#isShared = false;
    this.#cutTo(pages);
    this.#growTo(pages);
    for (const edit of edits) this.#edit(edit);
    this.#sum >>>= 0;
    if (this.#sum !== sum) throw foreign();
  }

  #edit({ page, at, bytes }: PageEdit): void {
    const before = this.page(page);
    this.#sum ^= pageChecksum(page, before);
    before.set(bytes, at);
    this.#sum ^= pageChecksum(page, before);
  }

  #cutTo(pages: number): void {
    const had = this.#bytes.length / this.#pageSize;
    for (let page = pages + 1; page <= had; page += 1) this.#sum ^= pageChecksum(page, this.page(page));
    if (pages < had) this.#bytes = this.#bytes.subarray(0, pages * this.#pageSize);
  }

  #growTo(pages: number): void {
    const had = this.#bytes.length / this.#pageSize;
    if (pages <= had) return;
    const grown = Buffer.alloc(pages * this.#pageSize);
    grown.set(this.#bytes);
    this.#bytes = grown;
    for (let page = had + 1; page <= pages; page += 1) this.#sum ^= pageChecksum(page, this.page(page));
  }
}

/** As the header of a SQLite file has it, bytes; 0 for an empty one. */
export function pageSizeOf(file: Buffer): number {
  if (file.length === 0) return 0;
  const size = file.readUInt16BE(16);
  return size === 1 ? 65_536 : size;
}

function imageSum(file: Buffer, pageSize: number): number {
  let sum = 0;
  for (let at = 0; at < file.length; at += pageSize) {
    sum ^= pageChecksum(at / pageSize + 1, file.subarray(at, at + pageSize));
  }
  return sum >>> 0;
}

const foreign = (): RangeError =>
  new RangeError('The change belongs to another file or to another version of this file.');
