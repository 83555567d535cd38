import { threadBusy } from '../engine/drive/LeaseKeeper.ts';
import type { EngineStore } from '../engine/EngineStore.ts';
import { principalText } from '../engine/gates/decidable.ts';
import type { Principal } from '../engine/gates/HumanInTheLoopManager.ts';
import { asHuman } from '../engine/gates/principals.ts';
import { extractRun } from '../state/extractRun.ts';

/** How a run leaves its state file. */
export interface Departure {
  readonly by: Principal;
  /** Given the state file that has the run and no other. When it returns, that is on disk. */
  readonly keep: (file: Uint8Array) => void;
}

/** Kept first, then deleted, under one lease: killed in between, the run is here, and what was kept is an older copy of it. */
export function moveOut(id: string, { by, keep }: Departure, store: EngineStore): void {
  const human = asHuman(by, id, 'move');
  const claim = store.threads.claim(id);
  if (claim.kind === 'busy') throw threadBusy(id, claim.owner, claim.epoch);
  try {
    keep(extractRun(store.db, id));
    store.commit((emit) => {
      store.remover.remove(claim.lease);
      emit('RUN_REMOVED', { id, principal: principalText(human) });
    });
  } finally {
    store.threads.release(claim.lease);
  }
}
