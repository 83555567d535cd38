import type { Database } from 'better-sqlite3';
import { assertCommitted, assertIntactFile, keepingLog } from '../../db/fileIdentity.ts';
import { transaction } from '../../db/prepare.ts';
import { toStateFault } from '../../db/sqliteFault.ts';

/** A run and the epoch of the lease its driver holds. */
export interface FencedLease {
  readonly threadId: string;
  readonly epoch: number;
}

/** A write whose caller goes on before it is committed: what it says can be found out again from what is committed. */
export interface LateWrite {
  readonly lease: FencedLease;
  /** Does it, in a transaction; again, if that is rolled back. */
  readonly write: () => void;
  /** Called once it is committed. */
  readonly committed: () => void;
}

/** What one connection has not committed yet. */
interface Late {
  writes: LateWrite[];
  /** Why a write of a driver was refused, by run. */
  readonly refused: Map<string, { readonly epoch: FencedLease['epoch']; readonly error: unknown }>;
  isDue: boolean;
  /** They could not be committed when the event loop turned. */
  hasFailed: boolean;
}

const lateOf = new WeakMap<Database, Late>();

/**
 * Runs `work` in one immediate write transaction of its own, or in a savepoint of the one around it. Rolled back when
 * `work` throws. Synchronous: a transaction ends at the first `await`.
 *
 * The only place that commits what a run writes, so that no commit to a lost file is acknowledged, and none before what
 * was written earlier with {@link withNextCommit}.
 *
 * @throws DevsError `STATE_REPLACED` if the file was deleted, replaced or truncated: SQLite itself would acknowledge;
 *   `STATE_IO`, `STATE_DISK_FULL` or `STATE_CORRUPT` if it cannot be written.
 */
export function immediateTransaction<T>(db: Database, work: () => T): T {
  if (db.inTransaction) return transaction(db, 'immediate', work);
  try {
    assertIntactFile(db);
    const { result, written } = withLateWrites(db, (write) =>
      transaction(db, 'immediate', () =>
        keepingLog(db, () => {
          write();
          return work();
        }),
      ),
    );
    assertCommitted(db);
    for (const { committed } of written) committed();
    return result;
  } catch (error) {
    throw toStateFault(error) ?? error;
  }
}

/** {@link immediateTransaction}, or as a part of the transaction around it, that is rolled back with it alone: it must not be caught there. */
export function withinTransaction<T>(db: Database, work: () => T): T {
  return db.inTransaction ? work() : immediateTransaction(db, work);
}

/**
 * Has something written in the transaction of the next commit on this connection, before anything else in it, and at the
 * latest when the event loop has turned. Refused, it stops its run: every later write under its lease is refused alike.
 */
export function withNextCommit(db: Database, write: LateWrite): void {
  const late: Late = lateOf.get(db) ?? { writes: [], refused: new Map(), isDue: false, hasFailed: false };
  lateOf.set(db, late);
  late.writes.push(write);
  if (late.isDue) return;
  late.isDue = true;
  setImmediate(() => {
    late.isDue = false;
    commitQuietly(db);
  });
}

/** Commits what waits for the next commit. @throws DevsError as {@link immediateTransaction}. */
export function commitLate(db: Database): void {
  if ((lateOf.get(db)?.writes.length ?? 0) > 0 && !db.inTransaction) immediateTransaction(db, () => {});
}

/**
 * Commits the late writes that failed when the event loop turned, so that writing late ends on a disk that is full.
 *
 * @throws DevsError as {@link immediateTransaction}.
 */
export function commitFailed(db: Database): void {
  if (lateOf.get(db)?.hasFailed === true) commitLate(db);
}

/** A driver leaves its run: what it still had to write is committed, or is nobody's any more. */
export function endLateWrites(db: Database, { threadId }: FencedLease): void {
  const late = lateOf.get(db);
  if (late === undefined) return;
  commitQuietly(db);
  late.writes = late.writes.filter(({ lease }) => lease.threadId !== threadId);
  late.refused.delete(threadId);
}

/** Why a write under this lease was refused after its caller had gone on; `null` where none was. */
export function writeRefusal(
  db: Database,
  { threadId, epoch }: FencedLease,
): { readonly error: unknown } | null {
  const refusal = lateOf.get(db)?.refused.get(threadId);
  return refusal?.epoch === epoch ? refusal : null;
}

interface Committed<T> {
  readonly result: T;
  readonly written: readonly LateWrite[];
}

/** A late write that is refused is no matter of who commits now. */
function withLateWrites<T>(db: Database, commit: (write: () => void) => T): Committed<T> {
  const late = lateOf.get(db);
  for (;;) {
    const waiting = [...(late?.writes ?? [])];
    const at: { write: LateWrite | null } = { write: null };
    try {
      const result = commit(() => {
        for (const write of waiting) {
          at.write = write;
          write.write();
        }
        at.write = null;
      });
      late?.writes.splice(0, waiting.length);
      if (late !== undefined) late.hasFailed = false;
      return { result, written: waiting };
    } catch (error) {
      const { write } = at;
      if (late === undefined || write === null) throw error;
      const { threadId, epoch } = write.lease;
      late.refused.set(threadId, { epoch, error });
      late.writes = late.writes.filter(({ lease }) => lease.threadId !== threadId || lease.epoch !== epoch);
    }
  }
}

/** What cannot be committed now fails the next commit, with somebody to report it to. */
function commitQuietly(db: Database): void {
  try {
    if (db.open) commitLate(db);
  } catch {
    const late = lateOf.get(db);
    if (late !== undefined) late.hasFailed = true; // they wait on
  }
}
