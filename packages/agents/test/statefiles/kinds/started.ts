import { resumeRun } from '../OpenRun.ts';
import { doneTasks, openPipeline, PLANNING, turnOf } from '../pipeline.ts';
import type { StateFileKind } from '../StateFileKind.ts';

const open = async (dir: string) => (await openPipeline(dir, { isInMemory: true })).opened;

/** Was started and never driven. */
export const started: StateFileKind = {
  since: '0.1.0-27306ef',
  make: async (dir) => void (await (await open(dir)).close()),
  resume: async (dir) => resumeRun(await open(dir), {}),
  resumed: { answered: [], status: 'completed', outcome: doneTasks({ T1: 1 }) },
  calls: [...PLANNING, ...turnOf('T1')],
};
