import { killedChild } from '../killedChild.ts';
import { killingWorkspace } from '../killingWorkspace.ts';
import { ADA, resumeRun } from '../OpenRun.ts';
import { doneTasks, openPipeline, PLANNING, turnOf } from '../pipeline.ts';
import type { StateFileKind } from '../StateFileKind.ts';

const TASKS = { tasks: 3 };

async function driveToDeath(dir: string): Promise<void> {
  const { run } = await openPipeline(dir, { ...TASKS, workspace: killingWorkspace });
  await run.undoRewind({ by: ADA });
}

/** A rewind of a paused run was taken back: killed when that was recorded and not yet done. */
export const undoneRewind: StateFileKind = {
  since: '0.1.0-27306ef',
  make: async (dir) => {
    const { run, opened } = await openPipeline(dir, TASKS);
    await run.resume({ only: 'T2' });
    await run.rewind('T1', { by: ADA });
    await opened.close();
    await killedChild('undoneRewind', dir);
  },
  driveToDeath,
  resume: async (dir) => resumeRun((await openPipeline(dir, TASKS)).opened, {}),
  resumed: {
    answered: [],
    status: 'completed',
    outcome: {
      ...doneTasks({ T1: 1, T2: 1, T3: 1 }),
      commits: ['T1', 'T2', 'Go back to the end of T1', 'Undo going back to T1', 'T3'],
    },
  },
  calls: [...PLANNING, ...turnOf('T1'), ...turnOf('T2'), ...turnOf('T3')],
};
