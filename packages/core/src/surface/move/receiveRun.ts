import { type Backup, backup } from '../../db/backup.ts';
import { openStateCopy } from '../../db/createDatabase.ts';
import { EngineStore } from '../../engine/EngineStore.ts';
import { applySignals } from '../../engine/remote/applySignals.ts';
import type { RunSignal } from '../../engine/runs/Runs.ts';
import { EventBus } from '../../events/EventBus.ts';
import { PIPELINE_GATES } from '../../orchestration/gates/pipelineGates.ts';
import { gitRecord } from '../../state/GitPackStore.ts';
import { agentsRefOf, type CarryGit } from './packRun.ts';

/** A run that comes from elsewhere. */
export interface Arrival {
  readonly id: string;
  /** Its whole file. */
  readonly file: Uint8Array;
  /** What it was told and has not taken, oldest first: written into its file. */
  readonly signals: readonly RunSignal[];
  /** Makes git's objects of its record in the store of this machine. */
  readonly unpack: CarryGit;
  /** A path where no file exists yet, in a folder that exists. */
  readonly target: string;
}

/**
 * Makes a state file of the file of a run that nobody holds any more. It is on disk when this resolves.
 *
 * @throws DevsError those of `backup`; `STATE_CORRUPT` for a file that is none; what `unpack` throws.
 */
export async function receiveRun({ id, file, signals, unpack, target }: Arrival): Promise<Backup> {
  const db = openStateCopy(file);
  try {
    const store = new EngineStore(db, { events: new EventBus(), rules: PIPELINE_GATES });
    store.threads.evict(id);
    await applySignals(id, signals, { store });
    await unpack(gitRecord(id, store), agentsRefOf(store.threads.require(id).policies));
    store.gitPacks.clear(id); // what is beside the file is newer from now on
    return backup(db, target);
  } finally {
    db.close();
  }
}
