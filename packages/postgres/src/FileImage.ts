import { type Change, type PageEdit, pageChecksum } from './change.ts';

/** A SQLite file in memory, to which changes are applied in their order. */
export class FileImage {
  #bytes: Buffer;
  #pageSize: number;
  /** Of every page, by XOR. */
  #sum: number;

  /** @param file - A whole file; empty for none yet. */
  constructor(file: Uint8Array) {
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
