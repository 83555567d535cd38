// The right to drive a run. Across processes it is a lease. Within one process, a run that drivers have died with has room alone.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import { DevsError, endingWith, isDevsError } from '../../errors/DevsError.ts';
import { afterBarrier } from '../../state/commits/CommitBarrier.ts';
import type { RunStore } from '../../state/RunStore.ts';
import { LEASE_TTL_MS } from '../../state/threads/ThreadStore.ts';
import type {
  ClaimOptions,
  ClaimResult,
  Lease,
  Thread,
  ThreadStatus,
} from '../../state/threads/threadRecords.ts';
import { currentDrive } from '../execution/driveContext.ts';
import { shouldYield, yieldToEventLoop } from '../execution/yieldToEventLoop.ts';
import type { EngineStore } from '../gates/EngineStore.ts';
import type { Engine } from './Engine.ts';
import { isOver } from './RunResult.ts';

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
 * @param claimRun - Claims it, and does more in the same transaction. @defaultValue the claim alone
 * @throws DevsError `THREAD_BUSY` while somebody else drives it.
 */
export async function holdLease(
  leases: LeaseSource,
  threadId: string,
  claimRun: RunStore['claim'] = (id, options) => leases.claim(id, options),
): Promise<ActiveLease> {
  let claim = await leases.whenFree(() => claimRun(threadId));
  if (claim.kind === 'busy' && claim.expiresInMs === null) {
    await sleep(LEASE_TTL_MS);
    const unchanged = { unchangedFor: claim.snapshot };
    claim = await leases.whenFree(() => claimRun(threadId, unchanged));
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
  renewInTurn(leases, lease).catch(() => undefined);
}

/** Those that were taken up together beat together. */
async function renewInTurn(leases: LeaseSource, lease: Lease): Promise<void> {
  while (shouldYield()) await yieldToEventLoop();
  await leases.whenFree(() => leases.renew(lease), { forMs: HEARTBEAT_MS });
}

/** Holds a run, so that nobody drives it meanwhile; see `DurableApp.hold`. */
export async function holdRun<T>(
  threadId: string,
  work: (lease: Lease) => Promise<T>,
  engine: Pick<Engine, 'leave' | 'store'>,
): Promise<T> {
  const { store } = engine;
  store.threads.require(threadId);
  const held = await holdLease(store.runs, threadId);
  const done = releasing(held, async () => {
    try {
      return await work(held.lease);
    } finally {
      await releaseIgnoringErrors(held.lease, engine);
    }
  });
  return afterBarrier(store.outlet, done);
}

/** What is not let go of costs the next driver time and nothing else: the drive has ended as it has. */
export async function releaseIgnoringErrors(
  lease: Lease,
  { leave, store }: Pick<Engine, 'leave' | 'store'>,
): Promise<void> {
  await leave?.(lease, store).catch(() => undefined);
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

/** So long a run waits to be driven alone, or for one that is, ms: whoever asked for it has waited long enough then. */
const ROOM_WAIT_MS = 60_000;
const LOOK_MS = 50;

/**
 * Whether a run may have ended its processes. One death proves little. A deployment or a kill stops every run of a process,
 * and they go on side by side.
 */
export const isSuspect = (deaths: number): boolean => deaths > 1;

/** What a process drives of one state file. */
interface DriveRoom {
  /** Drives that are in hand or wait. */
  users: number;
  readonly inHand: Set<string>;
  /** Of {@link inHand}, nothing may be beside it; `null` for none. */
  alone: { readonly id: string; readonly hasProgressed: () => boolean } | null;
  /** Runs that wait to be alone, by how many drivers have died with them. */
  readonly waiting: Map<string, number>;
}

/** By the path of the file; by the connection where it is in memory. */
const rooms = new Map<string | Database, DriveRoom>();

interface RoomOptions {
  /** Whether it is waited for; else a run that has none is left to others. @defaultValue true */
  readonly waits?: boolean;
  /** Aborted, nobody waits any more. */
  readonly signals?: readonly (AbortSignal | undefined)[];
}

/**
 * Room for a run in this process. A run with several dead drivers and without progress is suspect: it is driven by
 * a process that drives nothing else of the file, and nothing is driven beside it until it has made progress. Those with the
 * fewest deaths come first. What a node drives is part of its own run.
 *
 * @returns The way to leave; `null` where there is none, or nobody waits any more.
 */
export async function takeRoom(
  id: string,
  store: EngineStore,
  options: RoomOptions = {},
): Promise<(() => void) | null> {
  if (currentDrive() !== null) return () => undefined;
  const key = store.db.memory ? store.db : store.db.name;
  const room = rooms.get(key) ?? { users: 0, inHand: new Set(), alone: null, waiting: new Map() };
  rooms.set(key, room);
  room.users += 1;
  const leave = (): void => {
    room.users -= 1;
    if (room.users === 0) rooms.delete(key);
  };
  if (!(await enter(room, { id, store }, options))) {
    leave();
    return null;
  }
  return () => {
    room.inHand.delete(id);
    if (room.alone?.id === id) room.alone = null;
    leave();
  };
}

/** False where there is no room, and nobody waits any more. That there is some, and that it is taken, is one turn. */
async function enter(
  room: DriveRoom,
  { id, store: { threads } }: { readonly id: string; readonly store: EngineStore },
  { waits = true, signals = [] }: RoomOptions,
): Promise<boolean> {
  const deaths = threads.deathsOf(id);
  const until = performance.now() + ROOM_WAIT_MS;
  if (isSuspect(deaths)) room.waiting.set(id, deaths);
  try {
    while (!hasRoom(room, deaths) && performance.now() < until) {
      if (!waits || signals.some((signal) => signal?.aborted)) return false;
      await sleep(LOOK_MS);
    }
  } finally {
    room.waiting.delete(id);
  }
  if (isSuspect(deaths) && room.inHand.size === 0)
    room.alone = { id, hasProgressed: () => (threads.get(id)?.recoveries ?? 0) === 0 };
  room.inHand.add(id);
  return true;
}

function hasRoom({ inHand, alone, waiting }: DriveRoom, deaths: number): boolean {
  if (alone !== null && !alone.hasProgressed()) return false;
  return !isSuspect(deaths) || (inHand.size === 0 && Math.min(...waiting.values()) >= deaths);
}

/** A run that was claimed, as its driver found it. */
export interface ClaimedDrive extends ActiveLease {
  readonly isDue: boolean;
  readonly statusBefore: ThreadStatus;
  /** `null` where something has to be done before it is begun. */
  readonly begun: Thread | null;
}

type Found = Pick<ClaimedDrive, 'isDue' | 'statusBefore' | 'begun'>;

interface ToBegin {
  /** Checked under the lease. @defaultValue it is */
  readonly isDue: (() => boolean) | undefined;
  /** Whether something may have to be done under the lease before it is begun. */
  readonly prepare?: unknown;
  /** Checked under the lease: whether the run can begin at once. @defaultValue it cannot */
  readonly isPrepared?: () => boolean;
}

/**
 * Claims a run and begins it, in one transaction where it can begin at once.
 *
 * @throws DevsError `THREAD_BUSY`, and `WORKSPACE_BUSY` if its folder is another run's now: the claim is given up then.
 */
export async function claimAndBegin(
  threadId: string,
  store: EngineStore,
  { isDue, prepare, isPrepared }: ToBegin,
): Promise<ClaimedDrive> {
  const { runs, threads } = store;
  const find = (claimed: Pick<ActiveLease, 'lease' | 'recovered'>): Found => {
    const { status: statusBefore } = threads.require(threadId);
    const found = { isDue: true, statusBefore, begun: null };
    if (isOver(statusBefore) || isDue?.() === false) return { ...found, isDue: false };
    if (prepare !== undefined && isPrepared?.() !== true) return found;
    return { ...found, begun: beginDrive(claimed, statusBefore, store) };
  };
  const at: { found: Found } = { found: { isDue: false, statusBefore: 'created', begun: null } };
  const claim = (id: string, options?: ClaimOptions): ClaimResult =>
    runs.together(() => {
      const result = runs.claim(id, options);
      if (result.kind === 'claimed') at.found = find(result);
      return result;
    });
  const held = await holdLease(runs, threadId, claim);
  return { ...held, ...at.found };
}

/** The run is driven from here. */
export function beginDrive(
  { lease, recovered }: Pick<ActiveLease, 'lease' | 'recovered'>,
  statusBefore: ThreadStatus,
  { runs }: Pick<EngineStore, 'runs'>,
): Thread {
  // A caller that drives a failed run wants it tried anew, unlike one that goes on after a crash.
  return runs.begin(lease, { recovered, allowsRefused: statusBefore === 'failed' });
}
