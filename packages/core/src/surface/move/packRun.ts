import { openStateCopy } from '../../db/createDatabase.ts';
import { recordedAs } from '../../engine/compile/graphOfRun.ts';
import { EngineStore } from '../../engine/EngineStore.ts';
import { releaseOf } from '../../engine/remote/runIndex.ts';
import type { RunIndex } from '../../engine/runs/Runs.ts';
import { EventBus } from '../../events/EventBus.ts';
import { PIPELINE_GATES } from '../../orchestration/gates/pipelineGates.ts';
import type { GitRecord } from '../../orchestration/ports.ts';
import { gitRecord } from '../../state/GitPackStore.ts';

/** What the program kept with a run to find its agents again; see `StartOptions.agentsRef`. */
export type AgentsRef = string | null;

/** Takes a run's git objects into its record, or out of it; nothing for a run without files. */
export type CarryGit = (record: GitRecord, agentsRef: AgentsRef) => Promise<void>;

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
    const { status, reason, view, gates } = releaseOf(id, store);
    const { title } = policies;
    return {
      file: db.serialize(),
      index: { status, reason, view, gates, title: typeof title === 'string' ? title : null },
      fingerprint,
      isPipeline: briefSha256 !== null,
    };
  } finally {
    db.close();
  }
}

export function agentsRefOf({ agentsRef }: { readonly agentsRef?: unknown }): AgentsRef {
  return typeof agentsRef === 'string' ? agentsRef : null;
}
