import type { Database, Statement } from 'better-sqlite3';
import { statOf } from './fileStat.ts';
import { pragmaValue, prepare } from './prepare.ts';

/** Bytes of the log in front of its frames, and of each frame in front of its page. */
const LOG_HEADER = 32;
const FRAME_HEADER = 24;

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
