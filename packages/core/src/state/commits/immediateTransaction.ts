import type { Database } from 'better-sqlite3';
import { assertIntactFile, assertSameFile, keepingLog } from '../../db/fileIdentity.ts';
import { openParts, prepare, type TransactionPart, transaction } from '../../db/prepare.ts';
import { toStateFault } from '../../db/sqliteFault.ts';
import { DevsError } from '../../errors/DevsError.ts';

/** The way of what was committed to where it cannot be lost (law L11). */
export interface CommitBarrier {
  /**
   * Whether all that is committed by now has arrived: `null` where it has, else a promise of it, that rejects where it never
   * will. A `null` costs whoever asks no turn of the event loop.
   *
   * @throws DevsError, by the promise: a fault of the engine, such as `LEASE_LOST`, which ends the drive.
   */
  pending(): Promise<void> | null;
  /** As {@link pending}, of which nobody waits to go on: it may go with what is committed next, soon. */
  leaving(): Promise<void> | null;
  /** Whether little enough is on its way to go on: `null` where it is, else as {@link pending}. */
  keepsUp(): Promise<void> | null;
}

/** Where all that is committed is on its way at once. */
export const immediateBarrier = (arrived: CommitBarrier['pending']): CommitBarrier => ({
  pending: arrived,
  leaving: arrived,
  keepsUp: arrived,
});

/** A local file: what is committed is there. */
export const HERE: CommitBarrier = immediateBarrier(() => null);

/** `value`, once all that it rests on has arrived. */
export async function afterBarrier<T>(outlet: CommitBarrier, value: T | Promise<T>): Promise<T> {
  const left = await value;
  await outlet.pending();
  return left;
}

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
    assertSameFile(db);
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
  const late: Late = lateOf.get(db) ?? { writes: [], refused: new Map(), isDue: false };
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
      return { result, written: waiting };
    } catch (error) {
      const { write } = at;
      if (late === undefined || write === null) throw error;
      const { threadId, epoch } = write.lease;
      late.refused.set(threadId, { epoch, error });
      late.writes = late.writes.filter(({ lease }) => lease.threadId !== threadId);
    }
  }
}

/** What cannot be committed now fails the next commit, with somebody to report it to. */
function commitQuietly(db: Database): void {
  try {
    if (db.open) commitLate(db);
  } catch {
    // The writes wait on.
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

/** For use without a lease: nothing is fenced. */
export const NO_FENCE: Fence = { assertInTx: () => {} };

const SELECT_EPOCH = 'SELECT lease_epoch FROM threads WHERE thread_id = ?';

/** The leases that were found to hold, by the transaction: nobody else can write until that ends. */
const heldLeases = new WeakMap<TransactionPart, Map<string, FencedLease['epoch']>>();

// By identity: whoever reads the file knows the epoch of a lease, and no copy of it is the lease.
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

/** Who gives a lease to another, or deletes its run, says so: it is looked at again in the same transaction. */
export function forgetLease(db: Database, threadId: string): void {
  foundIn(db)?.delete(threadId);
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

/** Remembers the lease under which something was done last, unless its transaction was undone. */
export class OnceUnderLease {
  readonly #db: Database;
  #done: (FencedLease & { readonly parts: readonly TransactionPart[] }) | null = null;

  constructor(db: Database) {
    this.#db = db;
  }

  /** Does it, in the caller's transaction. */
  doing({ threadId, epoch }: FencedLease, work: () => unknown): void {
    work();
    const parts = openParts(this.#db);
    this.#done = parts === null ? null : { threadId, epoch, parts };
  }

  isDone({ threadId, epoch }: FencedLease): boolean {
    const done = this.#done;
    if (done?.threadId !== threadId || done.epoch !== epoch) return false;
    return done.parts.every(({ isUndone }) => !isUndone);
  }
}

/** Makes a lease one that this process holds. */
export function holdingLease<L extends FencedLease>(lease: L): L {
  ofThisProcess.add(Object.freeze(lease));
  return lease;
}

/** The lease was given back: it is nobody's, also where a reference to it is left. */
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
