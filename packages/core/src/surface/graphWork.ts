/**
 * What of the surface needs the graph, and LangGraph with it: one module, so that it is loaded as a whole with the first call
 * that does.
 */

export { initialState } from '../brief/initialState.ts';
export { checkpointValues, checkpointViews, nextNodesOf } from '../engine/runs/snapshots.ts';
export { STEP_CODEC } from '../engine/saver/StrictSerde.ts';
export { orchestrationApp } from '../orchestration/orchestrationApp.ts';
export { askGate, whyUnasked } from './askGate.ts';
export { recursionDepthOf } from './recursionDepth.ts';
export { previewRewind, rewindRun } from './rewind/rewindRun.ts';
export { undoRewind } from './rewind/undoRewind.ts';
