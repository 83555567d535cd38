import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import { driving } from '../driving.ts';
import type { EngineStore } from '../EngineStore.ts';

/** What a process drives of one state file. */
interface Room {
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
const rooms = new Map<string | Database, Room>();

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
  { waits = true, signals = [] }: RoomOptions = {},
): Promise<(() => void) | null> {
  if (driving() !== null) return () => undefined;
  const key = store.db.memory ? store.db : store.db.name;
  const room = rooms.get(key) ?? { inHand: new Set(), alone: null, waiting: new Map() };
  rooms.set(key, room);
  const deaths = store.threads.deathsOf(id);
  const until = performance.now() + ROOM_WAIT_MS;
  if (deaths > 0) room.waiting.set(id, deaths);
  try {
    while (!hasRoom(room, deaths)) {
      if (!waits || signals.some((signal) => signal?.aborted)) return null;
      if (performance.now() > until) break;
      await sleep(LOOK_MS);
    }
  } finally {
    room.waiting.delete(id);
  }
  return occupy({ key, room, id }, deaths > 0 && room.inHand.size === 0, store);
}

function hasRoom({ inHand, alone, waiting }: Room, deaths: number): boolean {
  if (alone !== null && !alone.hasProgressed()) return false;
  return deaths === 0 || (inHand.size === 0 && Math.min(...waiting.values()) >= deaths);
}

function occupy(
  { key, room, id }: { readonly key: string | Database; readonly room: Room; readonly id: string },
  isAlone: boolean,
  { threads }: EngineStore,
): () => void {
  room.inHand.add(id);
  if (isAlone) room.alone = { id, hasProgressed: () => (threads.get(id)?.recoveries ?? 0) === 0 };
  return () => {
    room.inHand.delete(id);
    if (room.alone?.id === id) room.alone = null;
    if (room.inHand.size === 0 && room.waiting.size === 0) rooms.delete(key);
  };
}
