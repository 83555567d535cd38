/** The two magic numbers of a write-ahead log: how the words of its checksums are read. */
const LITTLE_ENDIAN_SUMS = 0x377f0682;
const BIG_ENDIAN_SUMS = 0x377f0683;

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

/** What a write-ahead log adds to its file. */
export interface CommittedPages {
  /** By page number, from 1; the newest of each. */
  readonly pages: ReadonlyMap<number, Buffer>;
  readonly pageSize: number;
  /** Pages that the file has as of the last commit. */
  readonly pageCount: number;
}

type Sum = readonly [number, number];

/**
 * Reads a write-ahead log as SQLite recovers one: frames count as long as their salt is the header's and their checksum
 * fits, up to the last one that ends a commit.
 *
 * @returns `null` where it holds no commit.
 * @see https://sqlite.org/fileformat2.html#the_write_ahead_log
 */
export function committedPages(log: Buffer): CommittedPages | null {
  if (log.length < HEADER_BYTES) return null;
  const magic = log.readUInt32BE(0);
  if (magic !== LITTLE_ENDIAN_SUMS && magic !== BIG_ENDIAN_SUMS) return null;
  const isLittleEndian = magic === LITTLE_ENDIAN_SUMS;
  let sum = summed(log.subarray(0, 24), [0, 0], isLittleEndian);
  if (!isSum(log, 24, sum)) return null;

  const pageSize = log.readUInt32BE(8);
  const pages = new Map<number, Buffer>();
  const pending = new Map<number, Buffer>();
  let pageCount = 0;
  const frameBytes = FRAME_HEADER_BYTES + pageSize;
  for (let at = HEADER_BYTES; at + frameBytes <= log.length; at += frameBytes) {
    const page = log.subarray(at + FRAME_HEADER_BYTES, at + frameBytes);
    sum = summed(page, summed(log.subarray(at, at + 8), sum, isLittleEndian), isLittleEndian);
    const isOfThisLog = log.compare(log, 16, 24, at + 8, at + 16) === 0;
    if (!isOfThisLog || !isSum(log, at + 16, sum)) break;
    pending.set(log.readUInt32BE(at), page);
    const countAfterCommit = log.readUInt32BE(at + 4);
    if (countAfterCommit === 0) continue;
    for (const [number, committed] of pending) pages.set(number, committed);
    pending.clear();
    pageCount = countAfterCommit;
  }
  return pageCount === 0 ? null : { pages, pageSize, pageCount };
}

function summed(bytes: Buffer, [first, second]: Sum, isLittleEndian: boolean): Sum {
  let [a, b] = [first, second];
  for (let at = 0; at < bytes.length; at += 8) {
    a = (a + (isLittleEndian ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at)) + b) >>> 0;
    b = (b + (isLittleEndian ? bytes.readUInt32LE(at + 4) : bytes.readUInt32BE(at + 4)) + a) >>> 0;
  }
  return [a, b];
}

function isSum(log: Buffer, at: number, [first, second]: Sum): boolean {
  return log.readUInt32BE(at) === first && log.readUInt32BE(at + 4) === second;
}
