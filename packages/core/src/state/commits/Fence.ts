import type { Database } from 'better-sqlite3';
import { openParts, prepare, type TransactionPart } from '../../db/prepare.ts';
import { DevsError } from '../../errors/DevsError.ts';
import { RecentMap } from '../../values/RecentMap.ts';
import { type FencedLease, writeRefusal } from './immediateTransaction.ts';

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
