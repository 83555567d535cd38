import { driveOnce, resumeRun } from '../OpenRun.ts';
import { doneTasks, openPipeline, PLANNING, turnOf } from '../pipeline.ts';
import type { StateFileKind } from '../StateFileKind.ts';

const open = async (dir: string) => (await openPipeline(dir, { isStuck: true })).opened;

const DONE = doneTasks({ T1: 1 });

const written = (files: Readonly<Record<string, string>>) => ({
  ...DONE,
  files: { ...DONE.files, ...files },
});

/** One turn that leads to nothing. */
const TRY = ['test T1', 'try', 'document T1'];

/** The same in files of the first release. */
const REVIEWED = ['test T1', 'try', 'review T1'];

/** Waits for guidance on a task whose turns lead to nothing. */
export const stuck: StateFileKind = {
  since: '0.1.0-27306ef',
  make: async (dir) => driveOnce(await open(dir)),
  resume: async (dir) => resumeRun(await open(dir), { action: 'retry', guidance: 'Write it down.' }),
  resumed: {
    answered: ['task_failure'],
    status: 'completed',
    outcome: written({ 'test/T1.txt': 'test T1, call 5\n', 'document/T1.txt': 'document T1, call 5\n' }),
  },
  earlier: {
    '0.1.0-27306ef': {
      outcome: written({ 'test/T1.txt': 'test T1, call 5\n' }),
      calls: [...PLANNING, ...REVIEWED, ...REVIEWED, ...REVIEWED, ...REVIEWED, ...turnOf('T1')],
    },
  },
  calls: [...PLANNING, ...TRY, ...TRY, ...TRY, ...TRY, ...turnOf('T1')],
};
