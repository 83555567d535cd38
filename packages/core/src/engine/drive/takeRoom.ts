import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import { currentDrive } from '../driveContext.ts';
import type { EngineStore } from '../EngineStore.ts';

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

export interface RoomOptions {
  /** Whether it is waited for; else a run that has none is left to others. @defaultValue true */
  readonly waits?: boolean;
  /** Aborted, nobody waits any more. */
  readonly signals?: readonly (AbortSignal | undefined)[];
}

/** So long a run waits to be driven alone, or for one that is, ms: whoever asked for it has waited long enough then. */
export const ROOM_WAIT_MS = 60_000;
const LOOK_MS = 50;

/** By the path of the file; by the connection where it is in memory. */
const rooms = new Map<string | Database, DriveRoom>();

/**
 * Room for a run in this process. One that drivers have died with, without progress, may be what they died of: it is driven by
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
  if (deaths > 0) room.waiting.set(id, deaths);
  try {
    while (!hasRoom(room, deaths) && performance.now() < until) {
      if (!waits || signals.some((signal) => signal?.aborted)) return false;
      await sleep(LOOK_MS);
    }
  } finally {
    room.waiting.delete(id);
  }
  if (deaths > 0 && room.inHand.size === 0)
    room.alone = { id, hasProgressed: () => (threads.get(id)?.recoveries ?? 0) === 0 };
  room.inHand.add(id);
  return true;
}

function hasRoom({ inHand, alone, waiting }: DriveRoom, deaths: number): boolean {
  if (alone !== null && !alone.hasProgressed()) return false;
  return deaths === 0 || (inHand.size === 0 && Math.min(...waiting.values()) >= deaths);
}
