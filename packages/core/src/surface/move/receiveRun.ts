import { type Backup, backup } from '../../db/backup.ts';
import { openStateCopy } from '../../db/createDatabase.ts';
import { EngineStore } from '../../engine/EngineStore.ts';
import { takeSignals } from '../../engine/files/takeSignals.ts';
import type { RunSignal } from '../../engine/runs/Runs.ts';
import { EventBus } from '../../events/EventBus.ts';
import { PIPELINE_GATES } from '../../orchestration/gates/pipelineGates.ts';

/** A run that comes from elsewhere. */
export interface Arrival {
  readonly id: string;
  /** Its whole file. */
  readonly file: Uint8Array;
  /** What it was told and has not taken, oldest first: written into its file. */
  readonly signals: readonly RunSignal[];
  /** A path where no file exists yet, in a folder that exists. */
  readonly target: string;
}

/**
 * Makes a state file of the file of a run that nobody holds any more. It is on disk when this resolves.
 *
 * @throws DevsError those of `backup`, and `STATE_CORRUPT` for a file that is none.
 */
export async function receiveRun({ id, file, signals, target }: Arrival): Promise<Backup> {
  const db = openStateCopy(file);
  try {
    const store = new EngineStore(db, { events: new EventBus(), rules: PIPELINE_GATES });
    store.threads.evict(id);
    await takeSignals(id, signals, { store });
    return backup(db, target);
  } finally {
    db.close();
  }
}
