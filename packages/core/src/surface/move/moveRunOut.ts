import type { Database } from 'better-sqlite3';
import { holdLease, releasing } from '../../engine/drive/lease.ts';
import type { Principal } from '../../engine/gates/HumanInTheLoopManager.ts';
import { asHuman, principalText } from '../../engine/gates/principals.ts';
import { EventBus } from '../../events/EventBus.ts';
import { extractRun } from '../../state/moving/extractRun.ts';
import { StateFile } from '../../state/StateFile.ts';

/** How a run leaves its state file. */
export interface Departure {
  readonly by: Principal;
  /** Given the state file that has the run and no other. When it returns, that is on disk. */
  readonly keep: (file: Uint8Array) => void;
}

/**
 * Takes a run out of a state file, so that it goes on elsewhere: kept first, then deleted, under one lease. Killed in between, the
 * run is here, and what was kept is an older copy of it. Its folder and its git store stay.
 *
 * @param db - An open, migrated state file. A copy of the whole file is in memory meanwhile.
 * @throws DevsError `THREAD_NOT_FOUND`; `THREAD_BUSY` while somebody drives it; `CHILD_NOT_TAKEN` for one with child runs;
 *   `AGENT_MAY_NOT_DECIDE`: the run is as it was then, as it is when `keep` throws.
 */
export async function moveRunOut(db: Database, id: string, { by, keep }: Departure): Promise<void> {
  const human = asHuman(by, id, 'move');
  const store = new StateFile(db, { events: new EventBus() });
  const held = await holdLease(store.threads, id);
  await releasing(held, async () => {
    keep(extractRun(db, id));
    store.commit((emit) => {
      store.remover.remove(held.lease);
      emit('RUN_REMOVED', { id, principal: principalText(human) });
    });
  });
}
