import { shapeOf } from '../engine/compile/graphChange.ts';
import type { Thread } from '../state/ThreadStore.ts';

/** Channels that the pipeline has had in every release. */
const CHANNELS = ['projectConfig', 'hitlDecisions', 'tasks', 'epics'];

/** Whether a run is one of the pipeline: a graph of one's own may have channels of the same names that hold something else. */
export function isPipelineRun(thread: Pick<Thread, 'policies'>): boolean {
  const shape = shapeOf(thread);
  return shape === null || CHANNELS.every((name) => shape.channels.includes(name));
}
