import type { Database, Statement } from 'better-sqlite3';
import { DevsError } from '../errors/DevsError.ts';

/**
 * Refuses writes of a driver that was replaced (law L3).
 *
 * Call it inside the transaction of the write it protects, or another driver can come between.
 */
export interface Fence {
  /** @throws DevsError `LEASE_LOST` if a newer driver has claimed the run. */
  assertInTx(): void;
}

/** For use without a lease: nothing is fenced. */
export const NO_FENCE: Fence = { assertInTx: () => {} };

/** A run and the epoch of the lease its driver holds. */
export interface FencedLease {
  readonly threadId: string;
  readonly epoch: number;
}

type EpochQuery = Statement<[string], number>;

// One statement per connection: a fence is made for every visit of every node.
const epochQueries = new WeakMap<Database, EpochQuery>();

/**
 * A fence for the holder of a lease. Only a newer epoch breaks it: a lease that merely expired still holds
 * until somebody claims the run, so a laptop may sleep.
 */
export function leaseFence(db: Database, lease: FencedLease): Fence {
  const { threadId, epoch } = lease;
  const query = epochQueryOf(db);
  return {
    assertInTx() {
      const current = query.get(threadId);
      if (current !== epoch) throw leaseLost(lease, current ?? null);
    },
  };
}

/** @param current - The epoch the run is at now; `null` if the run is gone. */
export function leaseLost({ threadId, epoch }: FencedLease, current: number | null): DevsError {
  const now = current === null ? 'the run is not in this file' : `the run is at epoch ${current}`;
  return new DevsError(`The lease on run "${threadId}" with epoch ${epoch} is lost: ${now}.`, {
    code: 'LEASE_LOST',
    remedy: 'Nothing was written; let the driver that holds the run go on, or drive it again.',
    context: { threadId, epoch },
  });
}

function epochQueryOf(db: Database): EpochQuery {
  const prepared = epochQueries.get(db);
  if (prepared !== undefined) return prepared;
  const query = db.prepare<[string], number>('SELECT lease_epoch FROM threads WHERE thread_id = ?').pluck();
  epochQueries.set(db, query);
  return query;
}
