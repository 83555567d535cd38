import { setImmediate } from 'node:timers/promises';
import { assertWait, CLEAR_LOG_MS, clearLog } from '../../db/clearLog.ts';
import { DevsError } from '../../errors/DevsError.ts';
import type { RunCursor } from '../../state/runs/RunDirectory.ts';
import type { Lease, Thread } from '../../state/threads/threadRecords.ts';
import type { Engine } from '../drive/Engine.ts';
import { threadBusy } from '../drive/lease.ts';
import type { EngineStore } from '../gates/EngineStore.ts';
import { asHuman, onlyHuman, type Principal, principalText } from '../gates/principals.ts';
import { parseTime } from './lists.ts';

/** Result of a deletion. */
export interface DeleteResult {
  readonly runs: number;
  /** Bytes of the state file that can be used again. */
  readonly bytes: number;
}

/** Options of `delete`. */
export interface DeleteOptions {
  readonly by: Principal;
  /**
   * How long to wait for processes that read the file, before its log is emptied, in milliseconds. @defaultValue 5,000
   */
  readonly waitMs?: number;
}

/** Selects ended runs to delete. */
export interface DeleteFilter extends DeleteOptions {
  /** Runs of every graph in the file that ended before, whatever their end. */
  readonly endedBefore: Date;
  /** At most this many. @defaultValue all */
  readonly limit?: number;
}

/** Runs in one transaction: other processes wait for it. */
const BATCH = 20;

/**
 * Deletes one run in one transaction, then empties the log. A run that was deleted before is deleted: the log is emptied.
 *
 * @throws DevsError `STATE_BUSY` if the log cannot be emptied; the run is deleted then.
 */
export async function deleteRun(
  threadId: string,
  { by, waitMs = CLEAR_LOG_MS }: DeleteOptions,
  engine: Pick<Engine, 'store'>,
): Promise<DeleteResult> {
  assertWait(waitMs);
  const deleted = deleteRows(threadId, by, engine);
  await clearLog(engine.store.db, waitMs);
  return deleted;
}

function deleteRows(threadId: string, by: Principal, engine: Pick<Engine, 'store'>): DeleteResult {
  const human = asHuman(by, threadId, 'delete');
  const { threads, log } = engine.store;
  if (threads.get(threadId) === null && log.hasRemoved(threadId)) return { runs: 0, bytes: 0 };
  return deleting(human, engine, ({ threads }) => {
    assertRunEnded(threads.require(threadId));
    const claim = threads.claim(threadId);
    if (claim.kind === 'busy') throw threadBusy(threadId, claim.owner, claim.epoch);
    return [claim.lease];
  });
}

/**
 * Deletes ended runs, longest ago first, a few in each transaction: killed in between, what was deleted is, and the next
 * call goes on. Child runs go with the run that began them. A run that somebody holds is left for another time.
 */
export async function deleteExpired(
  expiry: DeleteFilter,
  engine: Pick<Engine, 'store'>,
): Promise<DeleteResult> {
  const human = onlyHuman(expiry.by, 'delete runs');
  const before = parseTime('endedBefore', expiry.endedBefore);
  const limit = expiry.limit ?? Number.POSITIVE_INFINITY;
  if (before === null) throw new RangeError('endedBefore: expected a valid Date');
  if (!(limit >= 0)) throw new RangeError(`limit: expected a number of at least 0, got ${String(limit)}`);
  const { waitMs = CLEAR_LOG_MS } = expiry;
  assertWait(waitMs);
  const { directory, db } = engine.store;
  let deleted: DeleteResult = { runs: 0, bytes: 0 };
  let place: RunCursor | null = null;
  while (deleted.runs < limit) {
    const found = directory.ended(before, place, Math.min(BATCH, limit - deleted.runs));
    place = found.at(-1) ?? null;
    if (place === null) break;
    const { runs, bytes } = deleting(human, engine, (store) => claimExpired(found, store));
    deleted = { runs: deleted.runs + runs, bytes: deleted.bytes + bytes };
    await setImmediate(); // others get the file, and this thread
  }
  await clearLog(db, waitMs);
  return deleted;
}

/** In one transaction: claims what is to be deleted, and deletes it. */
function deleting(
  human: Principal,
  { store }: Pick<Engine, 'store'>,
  claim: (store: EngineStore) => readonly Lease[],
): DeleteResult {
  let leases: readonly Lease[] = [];
  try {
    return store.commit((emit) => {
      leases = claim(store);
      const { bytes } = store.remover.remove(...leases);
      for (const { threadId: id } of leases) emit('RUN_REMOVED', { id, principal: principalText(human) });
      return { runs: leases.length, bytes };
    });
  } finally {
    for (const lease of leases) store.threads.release(lease);
  }
}

/** Those of them that have still ended, as has all below them, and that nobody holds. */
function claimExpired(found: readonly RunCursor[], { threads, children }: EngineStore): readonly Lease[] {
  return found.flatMap(({ id, at }) => {
    if (threads.get(id)?.endedAt !== at || children.openBelow(id).length > 0) return [];
    const claim = threads.claim(id);
    return claim.kind === 'busy' ? [] : [claim.lease];
  });
}

/** Refuses what {@link deleteRun} refuses. */
export function assertDeletable(threadId: string, by: Principal, { threads }: EngineStore): void {
  asHuman(by, threadId, 'delete');
  assertRunEnded(threads.require(threadId));
}

function assertRunEnded({ threadId, endedAt, status, workspace }: Thread): void {
  if (endedAt === null) {
    throw deletionRefused(threadId, 'not_ended', {
      what: `has not ended: it is ${status}`,
      remedy: 'Cancel the run, or resume it until it ends.',
    });
  }
  if (workspace !== null) {
    throw deletionRefused(threadId, 'has_folder', {
      what: 'has a folder, which would not be deleted',
      remedy: 'Remove it with Orchestrator.remove() or devs rm.',
    });
  }
}

const deletionRefused = (
  id: string,
  reason: string,
  { what, remedy }: { readonly what: string; readonly remedy: string },
): DevsError =>
  new DevsError(`Run "${id}" ${what}.`, {
    code: 'REMOVE_REFUSED',
    remedy,
    context: { threadId: id, reason },
  });
