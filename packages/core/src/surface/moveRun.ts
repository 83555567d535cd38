// A run that moves to another state file: taken out, packed, received.

import type { Database } from 'better-sqlite3';
import { type Backup, backup } from '../db/backup.ts';
import { openStateCopy } from '../db/createDatabase.ts';
import { holdLease, releasing } from '../engine/drive/lease.ts';
import { EngineStore } from '../engine/gates/EngineStore.ts';
import { asHuman, type Principal, principalText } from '../engine/gates/principals.ts';
import { recordedAs } from '../engine/graph/graphShape.ts';
import { applySignals } from '../engine/remote/LeasedApp.ts';
import type { RunIndex, RunSignal } from '../engine/runs/Runs.ts';
import { releaseOf } from '../engine/runs/standing.ts';
import { EventBus } from '../events/events.ts';
import { PIPELINE_GATES } from '../orchestration/gates/pipelineGates.ts';
import type { GitRecord } from '../orchestration/ports.ts';
import { GitPackStore, gitRecord } from '../state/GitPackStore.ts';
import { extractRun } from '../state/moving/movedRun.ts';
import { StateFile } from '../state/StateFile.ts';

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

/** What the program kept with a run to find its agents again; see `StartOptions.agentsRef`. */
export type AgentsRef = string | null;

/** Takes a run's git objects into its record, or out of it; nothing for a run without files. */
type CarryGit = (record: GitRecord, agentsRef: AgentsRef) => Promise<void>;

/** A run that is to go on elsewhere. */
export interface PackedRun {
  /** Its whole file, with all that lies beside it. */
  readonly file: Uint8Array;
  readonly index: RunIndex;
  /** Of its graph. */
  readonly fingerprint: string;
  /** Whether it is a run of a brief; else of a graph of one's own. */
  readonly isPipeline: boolean;
}

/**
 * Packs the file that `moveRunOut` has kept.
 *
 * @param file - Stays as it is.
 * @param pack - Records git's objects in the copy that travels.
 * @param graph - What it is called there, if it is of a graph of one's own.
 * @throws DevsError `THREAD_NOT_FOUND`; `STATE_CORRUPT` if recorded decisions were edited, removed or reordered; what `pack` throws.
 */
export async function packRun(
  file: Uint8Array,
  id: string,
  pack: CarryGit,
  graph?: string,
): Promise<PackedRun> {
  const db = openStateCopy(file);
  try {
    const store = new EngineStore(db, { events: new EventBus(), rules: PIPELINE_GATES });
    const { graphFingerprint: fingerprint, policies, briefSha256 } = store.threads.require(id);
    await pack(gitRecord(id, store), agentsRefOf(policies));
    if (briefSha256 === null && graph !== undefined)
      store.commit(() => store.threads.updatePolicies(id, { ...policies, ...recordedAs(graph) }));
    const { status, reason, view, gates, metadata, tags } = releaseOf(id, store);
    const { title } = policies;
    return {
      file: db.serialize(),
      index: { status, reason, view, gates, metadata, tags, title: typeof title === 'string' ? title : null },
      fingerprint,
      isPipeline: briefSha256 !== null,
    };
  } finally {
    db.close();
  }
}

function agentsRefOf({ agentsRef }: { readonly agentsRef?: unknown }): AgentsRef {
  return typeof agentsRef === 'string' ? agentsRef : null;
}

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
    new GitPackStore(store.db).clear(id); // what is beside the file is newer from now on
    return backup(db, target);
  } finally {
    db.close();
  }
}
