import { endianness } from 'node:os';
import type { Database, Statement } from 'better-sqlite3';
import { statOf } from './fileStat.ts';
import { pragmaValue, prepare } from './prepare.ts';

/** The log of a SQLite file: a header, then frames of one page each. Big-endian, but for what is summed up. */
const LOG_HEADER = 32;
export const FRAME_HEADER = 24;

/** With sums of big-endian words; one less: of little-endian ones. */
const BIG_ENDIAN_MAGIC = 0x377f0683;

/** How far a log was read. What follows is of the same transaction log only if it goes on with its salts and its sums. */
export interface LogPosition {
  /** Offset of the next frame, bytes. */
  readonly at: number;
  /** The two salts of this log, as they are in the file. */
  readonly salts: Buffer;
  readonly sums: Sums;
  readonly littleEndian: boolean;
  /** Bytes. */
  readonly pageSize: number;
}

type Sums = readonly [number, number];

/** What was committed from one position of a log to another. */
export interface Commits {
  /** Where the newest frame of each page begins, bytes. */
  readonly frames: ReadonlyMap<number, number>;
  /** How many the file has after the last commit. */
  readonly pages: number;
  readonly end: LogPosition;
}

/** Where the frames of a log begin; `null` if `header` is that of none. */
export function beginOfLog(header: Buffer): LogPosition | null {
  if (header.length < LOG_HEADER) return null;
  const magic = header.readUInt32BE(0);
  if (magic !== BIG_ENDIAN_MAGIC && magic !== BIG_ENDIAN_MAGIC - 1) return null;
  const littleEndian = magic !== BIG_ENDIAN_MAGIC;
  const sums = sumUp(header.subarray(0, 24), [0, 0], littleEndian);
  if (!isSum(header, 24, sums)) return null;
  const salts = Buffer.from(header.subarray(16, 24));
  return { at: LOG_HEADER, salts, sums, littleEndian, pageSize: header.readUInt32BE(8) };
}

/**
 * The frames of `bytes`, which begin at `from`, up to the last commit; `null` where there is none. What comes after it is of
 * a transaction that still runs, or of one that was rolled back, or of an older log.
 *
 * @see https://sqlite.org/fileformat2.html#the_write_ahead_log
 */
export function committed(bytes: Buffer, from: LogPosition): Commits | null {
  const { pageSize } = from;
  const frames = new Map<number, number>();
  const open = new Map<number, number>();
  let { sums } = from;
  let commits: Commits | null = null;
  for (let at = 0; at + FRAME_HEADER + pageSize <= bytes.length; at += FRAME_HEADER + pageSize) {
    const frame = bytes.subarray(at, at + FRAME_HEADER + pageSize);
    if (!from.salts.equals(frame.subarray(8, 16))) break;
    sums = sumUp(
      frame.subarray(FRAME_HEADER),
      sumUp(frame.subarray(0, 8), sums, from.littleEndian),
      from.littleEndian,
    );
    if (!isSum(frame, 16, sums)) break;
    open.set(frame.readUInt32BE(0), from.at + at);
    const pages = frame.readUInt32BE(4);
    if (pages === 0) continue;
    for (const [page, offset] of open) frames.set(page, offset);
    open.clear();
    const end = { ...from, at: from.at + at + frame.length, sums };
    commits = { frames, pages, end };
  }
  return commits;
}

const isSum = (bytes: Buffer, at: number, [first, second]: Sums): boolean =>
  bytes.readUInt32BE(at) === first && bytes.readUInt32BE(at + 4) === second;

/** SQLite's sum over pairs of words, going on from `before`. */
function sumUp(bytes: Buffer, before: Sums, littleEndian: boolean): Sums {
  const words = asUint32(bytes, littleEndian);
  let [left, right] = [before[0] | 0, before[1] | 0];
  for (let at = 0; at < words.length; at += 2) {
    left = (left + (words[at] ?? 0) + right) | 0;
    right = (right + (words[at + 1] ?? 0) + left) | 0;
  }
  return [left >>> 0, right >>> 0];
}

/** Without a copy where they are aligned, and in this machine's order, as they are in a log that was written here. */
function asUint32(bytes: Buffer, littleEndian: boolean): Uint32Array {
  const isOwnOrder = littleEndian === (endianness() === 'LE');
  if (isOwnOrder && bytes.byteOffset % 4 === 0)
    return new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  if (!isOwnOrder) copy.swap32();
  return new Uint32Array(copy.buffer);
}

/** What a reader of the log of a file needs. */
export const walFrames = { LOG_HEADER, FRAME_HEADER, begin: beginOfLog, committed } as const;

interface LogState {
  /** Frames that readers rely on; -1 without a log. */
  readonly log: number;
}

interface Log {
  readonly frames: Statement<[], LogState>;
  readonly frameBytes: number;
}

const logs = new WeakMap<Database, Log>();

export function logOf(path: string): string {
  return `${path}-wal`;
}

/** Bytes of the write-ahead log at `path`; 0 without one. */
export function logBytes(path: string): number {
  return Number(statOf(logOf(path))?.size ?? 0n);
}

/**
 * True when the log is shorter than the frames that SQLite counts in it, in memory that all connections share: it was
 * truncated in place. SQLite would write the next frames behind the gap and acknowledge them.
 *
 * Outside of a transaction only. A checkpoint of another process may empty the log between the count and the look at
 * its size, so both are taken again before it is said.
 */
export function isLogTruncated(db: Database, path: string): boolean {
  const { frames, frameBytes } = openLog(db);
  const isShort = (): boolean => {
    const count = frames.get()?.log ?? 0;
    return count > 0 && logBytes(path) < LOG_HEADER + count * frameBytes;
  };
  return isShort() && isShort();
}

function openLog(db: Database): Log {
  const known = logs.get(db);
  if (known !== undefined) return known;
  const log: Log = {
    frames: prepare<[], LogState>(db, 'PRAGMA wal_checkpoint(NOOP)'),
    frameBytes: FRAME_HEADER + Number(pragmaValue(db, 'page_size')),
  };
  logs.set(db, log);
  return log;
}
