import { killedChild } from '../killedChild.ts';
import { killingWorkspace } from '../killingWorkspace.ts';
import { ADA, resumeRun } from '../OpenRun.ts';
import { doneTasks, openPipeline, PLANNING, turnOf } from '../pipeline.ts';
import type { StateFileKind } from '../StateFileKind.ts';

const TASKS = { tasks: 2 };

async function driveToDeath(dir: string): Promise<void> {
  const { run } = await openPipeline(dir, { ...TASKS, workspace: killingWorkspace });
  await run.undoRewind({ by: ADA });
}

/** A rewind of a completed run was taken back, so that it is completed again: killed before its files followed. */
export const endedUndo: StateFileKind = {
  since: '0.1.0-27306ef',
  make: async (dir) => {
    const { run, opened } = await openPipeline(dir, TASKS);
    await run.resume();
    await run.rewind('T1', { by: ADA });
    await opened.close();
    await killedChild('endedUndo', dir);
  },
  driveToDeath,
  resume: async (dir) => resumeRun((await openPipeline(dir, TASKS)).opened, {}),
  resumed: {
    answered: [],
    status: 'completed',
    outcome: {
      ...doneTasks({ T1: 1, T2: 1 }),
      commits: ['T1', 'T2', 'Go back to the end of T1', 'Undo going back to T1'],
    },
  },
  calls: [...PLANNING, ...turnOf('T1'), ...turnOf('T2')],
};
