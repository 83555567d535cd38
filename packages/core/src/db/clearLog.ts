import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import { DevsError } from '../errors/DevsError.ts';
import { isBusy } from './busy.ts';
import { emptyLog } from './pragmas.ts';
import { pragmaValue } from './prepare.ts';
import { isWorkingCopy } from './workingCopies.ts';
import { logBytes } from './writeAheadLog.ts';

/** How long a deletion waits for readers of the file, ms. */
export const CLEAR_LOG_MS = 5_000;

/** Before it is tried again, ms. */
const PAUSE_MS = 20;

/**
 * Moves the write-ahead log into the file and empties it, so that both lose the pages of before. Waits for transactions of
 * others; the event loop turns meanwhile. Returns at once without a log, within a transaction, and for a working copy.
 *
 * @param forMs - How long it waits.
 * @throws DevsError `STATE_BUSY` if a reader remains: the log is unchanged. RangeError for a bad time.
 */
export async function clearLog(db: Database, forMs: number = CLEAR_LOG_MS): Promise<void> {
  assertWait(forMs);
  if (db.memory || db.readonly || db.inTransaction || isWorkingCopy(db)) return;
  if (pragmaValue(db, 'journal_mode') !== 'wal') return;
  const until = performance.now() + forMs;
  while (!emptiedAtOnce(db)) {
    if (performance.now() >= until)
      throw stateBusy(`its write-ahead log (${logBytes(db.name)} bytes)`, db.name);
    await sleep(PAUSE_MS);
  }
}

/** @throws RangeError */
export function assertWait(forMs: unknown): asserts forMs is number {
  if (!(typeof forMs === 'number' && forMs >= 0))
    throw new RangeError(`waitMs: expected a number of at least 0, got ${String(forMs)}`);
}

/** SQLite's own wait would stop the event loop. */
function emptiedAtOnce(db: Database): boolean {
  const wait = Number(pragmaValue(db, 'busy_timeout'));
  db.pragma('busy_timeout = 0');
  try {
    return emptyLog(db);
  } catch (error) {
    if (isBusy(error) || isInUseHere(error)) return false;
    throw error;
  } finally {
    db.pragma(`busy_timeout = ${wait}`);
  }
}

/** This connection itself is reading. */
export const isInUseHere = (error: unknown): boolean =>
  error instanceof Error &&
  (('code' in error && String(error.code).startsWith('SQLITE_LOCKED')) ||
    /statements? in progress|is busy executing/.test(error.message));

/** @param part - Still with deleted bytes. */
export const stateBusy = (part: string, path: string): DevsError =>
  new DevsError(`The state file is in use, so ${part} still has deleted data.`, {
    code: 'STATE_BUSY',
    remedy: 'Call it again, or run devs compact, when no process reads the file in a long transaction.',
    context: { path },
  });
