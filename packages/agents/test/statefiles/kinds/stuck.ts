import { driveOnce, resumeRun } from '../OpenRun.ts';
import { doneTasks, openPipeline, PLANNING, turnOf } from '../pipeline.ts';
import type { StateFileKind } from '../StateFileKind.ts';

const open = async (dir: string) => (await openPipeline(dir, { isStuck: true })).opened;

const DONE = doneTasks({ T1: 1 });

/** One turn that leads to nothing. */
const TRY = ['test T1', 'try', 'review T1'];

/** Waits for guidance on a task whose turns lead to nothing. */
export const stuck: StateFileKind = {
  since: '0.1.0-27306ef',
  make: async (dir) => driveOnce(await open(dir)),
  resume: async (dir) => resumeRun(await open(dir), { action: 'retry', guidance: 'Write it down.' }),
  resumed: {
    answered: ['task_failure'],
    status: 'completed',
    outcome: { ...DONE, files: { ...DONE.files, 'test/T1.txt': 'test T1, call 5\n' } },
  },
  calls: [...PLANNING, ...TRY, ...TRY, ...TRY, ...TRY, ...turnOf('T1')],
};
