/**
 * What of the surface needs the graph, and LangGraph with it: one module, so that it is loaded as a whole with the first call
 * that does.
 */

import { RECURSION_WARNING_RATIO } from '../config/defaults.ts';
import { nodeExecutionOf } from '../engine/execution/nodeExecution.ts';
import { internalsOf } from '../engine/file/appInternals.ts';
import { depthOf } from '../engine/node/depth.ts';
import { type OrchestrationApp, orchestrationApp } from '../orchestration/graph.ts';

export { initialState } from '../brief/initialState.ts';
export { checkpointValues, checkpointViews, nextNodesOf } from '../engine/runs/snapshots.ts';
export { STEP_CODEC } from '../engine/saver/StrictSerde.ts';
export { askGate, whyUnasked } from './askGate.ts';
export { previewRewind, rewindRun, undoRewind } from './rewind/rewindRun.ts';

export { orchestrationApp };

/** How far a run is from being stopped for making no progress. Counted in node transitions. */
export interface RecursionDepth {
  readonly current: number;
  /** A human is asked at this depth. */
  readonly limit: number;
  /** A warning is raised from this depth. */
  readonly warningAt: number;
}

/** The depth the guard sees in the visit that is due; see {@link Run.recursionDepth}. */
export async function recursionDepthOf(id: string, app: OrchestrationApp): Promise<RecursionDepth> {
  const limit = internalsOf(app).maxDepth;
  const configurable = { thread_id: id };
  const { values, metadata, tasks, next } = await app.graph.getState({ configurable });
  const step = (metadata?.step ?? 0) + (tasks.length > 0 ? 1 : 0);
  const visit = nodeExecutionOf(next[0] ?? '', { configurable, metadata: { langgraph_step: step } });
  const { current } = depthOf(values ?? {}, visit, limit);
  return { current, limit, warningAt: Math.ceil(limit * RECURSION_WARNING_RATIO) };
}
