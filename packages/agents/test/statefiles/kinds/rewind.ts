import { killedChild } from '../killedChild.ts';
import { killingWorkspace } from '../killingWorkspace.ts';
import { ADA, resumeRun } from '../OpenRun.ts';
import { doneTasks, openPipeline, PLANNING, turnOf } from '../pipeline.ts';
import type { StateFileKind } from '../StateFileKind.ts';

const TASKS = { tasks: 2 };

async function driveToDeath(dir: string): Promise<void> {
  const { run } = await openPipeline(dir, { ...TASKS, workspace: killingWorkspace });
  await run.rewind('T1', { by: ADA, reason: 'T2 greets too loudly' });
}

/** A run that had ended and was set back to the end of its first task: killed when that was recorded and not yet done. */
export const rewind: StateFileKind = {
  since: '0.1.0-27306ef',
  make: async (dir) => {
    const { opened } = await openPipeline(dir, TASKS);
    await opened.drive();
    await opened.close();
    await killedChild('rewind', dir);
  },
  driveToDeath,
  resume: async (dir) => resumeRun((await openPipeline(dir, TASKS)).opened, {}),
  resumed: {
    answered: [],
    status: 'completed',
    outcome: { ...doneTasks({ T1: 1, T2: 2 }), commits: ['T1', 'T2', 'Go back to the end of T1', 'T2'] },
  },
  calls: [...PLANNING, ...turnOf('T1'), ...turnOf('T2'), ...turnOf('T2')],
};
