// The commits of a driver: in a transaction of their own or with the next one, and refused once another driver has the run.

import type { Database } from 'better-sqlite3';
import { assertCommitted, assertIntactFile, keepingLog } from '../../db/fileIdentity.ts';
import { openParts, prepare, type TransactionPart, transaction } from '../../db/prepare.ts';
import { toStateFault } from '../../db/sqliteFault.ts';
import { DevsError } from '../../errors/DevsError.ts';
import { RecentMap } from '../../values/RecentMap.ts';

/** A run and the epoch of the lease its driver holds. */
export interface FencedLease {
  readonly threadId: string;
  readonly epoch: number;
}

/** A write whose caller goes on before it is committed: what it says can be found out again from what is committed. */
interface LateWrite {
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
function writeRefusal(db: Database, { threadId, epoch }: FencedLease): { readonly error: unknown } | null {
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

/**
 * Refuses writes of a driver that was replaced (law L3).
 *
 * Call it inside the transaction of the write it protects, or another driver can come between.
 */
export interface Fence {
  /** @throws DevsError `LEASE_LOST` if a newer driver has claimed the run; why an earlier write of this one was refused. */
  assertInTx(): void;
}

/** For use without a lease: writes are not fenced. */
export const NO_FENCE: Fence = { assertInTx: () => {} };

const SELECT_EPOCH = 'SELECT lease_epoch FROM threads WHERE thread_id = ?';

/** The leases that were found to hold, by the transaction: other connections cannot write until that ends. */
const heldLeases = new WeakMap<TransactionPart, Map<string, FencedLease['epoch']>>();

// By identity: every reader of the file knows the epoch of a lease, and a copy of it is not the lease.
const ofThisProcess = new WeakSet<FencedLease>();

/**
 * A fence for the holder of a lease. Only a newer epoch breaks it: a lease that merely expired still holds
 * until somebody claims the run, so a laptop may sleep.
 */
export function leaseFence(db: Database, lease: FencedLease): Fence {
  const { threadId, epoch } = lease;
  return {
    assertInTx() {
      const refusal = writeRefusal(db, lease);
      if (refusal !== null) throw refusal.error;
      const held = foundIn(db);
      if (held?.get(threadId) === epoch) return;
      const current = prepare<[string], number>(db, SELECT_EPOCH).pluck().get(threadId);
      if (current !== epoch) throw leaseLost(lease, current ?? null);
      held?.set(threadId, epoch);
    },
  };
}

/** Called when a lease changes hands or its run is deleted: it is looked at again in the same transaction. */
export function forgetLease(db: Database, threadId: string): void {
  foundIn(db)?.delete(threadId);
}

/** It was taken, in the caller's transaction. */
export function leaseTaken(db: Database, { threadId, epoch }: FencedLease): void {
  foundIn(db)?.set(threadId, epoch);
}

function foundIn(db: Database): Map<string, FencedLease['epoch']> | null {
  const whole = openParts(db)?.[0];
  if (whole === undefined) return null;
  const known = heldLeases.get(whole) ?? new Map<string, FencedLease['epoch']>();
  heldLeases.set(whole, known);
  return known;
}

/** @param current - The epoch the run is at now; `null` if the run is gone. */
export function leaseLost({ threadId, epoch }: FencedLease, current: number | null): DevsError {
  const now = current === null ? 'the run is not in this file' : `the run is at epoch ${current}`;
  return new DevsError(`The lease on run "${threadId}" with epoch ${epoch} is lost: ${now}.`, {
    code: 'LEASE_LOST',
    remedy: 'Nothing was written. Let the other process continue, or resume the run.',
    context: { threadId, epoch },
  });
}

/** Remembers, by run, the lease under which something was done last, unless its transaction was undone. */
export class OnceUnderLease {
  readonly #db: Database;
  readonly #done = new RecentMap<string, DoneUnderLease>(REMEMBERED_LEASES);

  constructor(db: Database) {
    this.#db = db;
  }

  /** Does it, in the caller's transaction. */
  doing({ threadId, epoch }: FencedLease, work: () => unknown): void {
    work();
    const parts = openParts(this.#db);
    if (parts !== null) this.#done.set(threadId, { epoch, parts });
  }

  isDone({ threadId, epoch }: FencedLease): boolean {
    const done = this.#done.get(threadId);
    return done?.epoch === epoch && done.parts.every(({ isUndone }) => !isUndone);
  }
}

interface DoneUnderLease {
  readonly epoch: FencedLease['epoch'];
  readonly parts: readonly TransactionPart[];
}

/** More than a process drives at once; of another it is done again. */
const REMEMBERED_LEASES = 1024;

/** Makes a lease one that this process holds. */
export function holdingLease<L extends FencedLease>(lease: L): L {
  ofThisProcess.add(Object.freeze(lease));
  return lease;
}

/** The lease was given back: it has no owner, also where a reference to it is left. */
export function endLease(lease: FencedLease): void {
  ofThisProcess.delete(lease);
}

/** Whether this is the very lease that was claimed in this process, and not given back. */
export function isHeld(lease: FencedLease): boolean {
  return ofThisProcess.has(lease);
}

/** That lease, where `value` is it; `null` for anything else. */
export function heldLease(value: unknown): FencedLease | null {
  return typeof value === 'object' && value !== null && ofThisProcess.has(value as FencedLease)
    ? (value as FencedLease)
    : null;
}
