import { setTimeout as sleep } from 'node:timers/promises';
import { DevsError, isDevsError } from '../../errors/DevsError.ts';
import { endingWith } from '../../errors/endingWith.ts';
import type { RunStore } from '../../state/RunStore.ts';
import { LEASE_TTL_MS, type Lease } from '../../state/ThreadStore.ts';

/** How often a driver says that it is alive. Three beats may be missed before anybody takes over. */
const HEARTBEAT_MS = LEASE_TTL_MS / 4;

/** What gives leases. */
type LeaseSource = Pick<RunStore, 'claim' | 'renew' | 'release' | 'whenFree'>;

export interface ActiveLease {
  readonly lease: Lease;
  /** True when an earlier driver left without releasing. */
  readonly recovered: boolean;
  stop(): void;
}

/**
 * Claims a run and keeps the claim alive.
 *
 * A holder on another boot or host cannot be checked for life, so it is given one full lease time, measured on
 * our own clock, to renew.
 *
 * @throws DevsError `THREAD_BUSY` while somebody else drives it.
 */
export async function holdLease(leases: LeaseSource, threadId: string): Promise<ActiveLease> {
  let claim = await leases.whenFree(() => leases.claim(threadId));
  if (claim.kind === 'busy' && claim.expiresInMs === null) {
    await sleep(LEASE_TTL_MS);
    const unchanged = { unchangedFor: claim.snapshot };
    claim = await leases.whenFree(() => leases.claim(threadId, unchanged));
  }
  if (claim.kind === 'busy') throw threadBusy(threadId, claim.owner, claim.epoch);

  const { lease, recovered } = claim;
  const beat = setInterval(() => renewQuietly(leases, lease), HEARTBEAT_MS);
  beat.unref();
  return {
    lease,
    recovered,
    stop: () => {
      clearInterval(beat);
      leases.release(lease);
    },
  };
}

/** Does `work` under a lease and gives it back. */
export function releasing<T>(held: ActiveLease, work: () => Promise<T>): Promise<T> {
  return endingWith(() => held.stop(), work);
}

/** A lost lease is found by the next write, in its transaction; the timer must not throw into the process. */
function renewQuietly(leases: LeaseSource, lease: Lease): void {
  // Nothing to do for one that fails: every write of the run checks the epoch itself.
  leases.whenFree(() => leases.renew(lease), { forMs: HEARTBEAT_MS }).catch(() => undefined);
}

/** Somebody else has the run. */
export const threadBusy = (threadId: string, owner: string, epoch: number): DevsError =>
  new DevsError(`Run "${threadId}" is in use by process ${owner}.`, {
    code: 'THREAD_BUSY',
    remedy: 'Wait for that process or stop it. If it is dead, run the command again to take over.',
    context: { threadId, owner, epoch },
  });

/** `null` where somebody else was faster: whoever waits goes on waiting. */
export async function nullIfBusy<T>(drive: () => Promise<T>): Promise<T | null> {
  try {
    return await drive();
  } catch (error) {
    if (isDevsError(error, 'THREAD_BUSY')) return null;
    throw error;
  }
}
