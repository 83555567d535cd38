import type { Database } from 'better-sqlite3';
import { EngineStore } from '../../engine/EngineStore.ts';
import { standingOf } from '../../engine/files/standing.ts';
import type { RunIndex } from '../../engine/runs/Runs.ts';
import { EventBus } from '../../events/EventBus.ts';
import { PIPELINE_GATES } from '../../orchestration/gates/pipelineGates.ts';

/** What is told of a run in whose file there is no other. */
export interface DepartedRun {
  readonly index: RunIndex;
  /** Of its graph. */
  readonly fingerprint: string;
  /** Whether it is a run of a brief; else of a graph of one's own. */
  readonly isPipeline: boolean;
  /** Milliseconds since the Unix epoch: with its id, that it is the same run. */
  readonly createdAt: number;
}

/** @throws DevsError `THREAD_NOT_FOUND`; `STATE_CORRUPT` if recorded decisions were edited, removed or reordered. */
export function departedRun(db: Database, id: string): DepartedRun {
  const store = new EngineStore(db, { events: new EventBus(), rules: PIPELINE_GATES });
  const { graphFingerprint: fingerprint, policies, briefSha256, createdAt } = store.threads.require(id);
  const { status, reason, view, gates } = standingOf(id, store);
  const { title } = policies;
  return {
    index: { status, reason, view, gates, title: typeof title === 'string' ? title : null },
    fingerprint,
    isPipeline: briefSha256 !== null,
    createdAt,
  };
}
