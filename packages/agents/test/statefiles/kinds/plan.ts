import { driveOnce, resumeRun } from '../OpenRun.ts';
import { doneTasks, openPipeline, PLANNING, turnOf } from '../pipeline.ts';
import type { StateFileKind } from '../StateFileKind.ts';

const open = async (dir: string) => (await openPipeline(dir, { human: 'dag', isInMemory: true })).opened;

/** Waits for a human to approve the plan. */
export const plan: StateFileKind = {
  since: '0.1.0-27306ef',
  make: async (dir) => driveOnce(await open(dir)),
  resume: async (dir) => resumeRun(await open(dir), { approved: true }),
  resumed: { answered: ['dag_approval'], status: 'completed', outcome: doneTasks({ T1: 1 }) },
  calls: [...PLANNING, ...turnOf('T1')],
};
