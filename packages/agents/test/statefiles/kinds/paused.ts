import { resumeRun } from '../OpenRun.ts';
import { doneTasks, openPipeline, PLANNING, turnOf } from '../pipeline.ts';
import type { StateFileKind } from '../StateFileKind.ts';

const open = (dir: string) => openPipeline(dir, { tasks: 2 });

/** Was driven to the end of its first task and no further, and then asked to pause. */
export const paused: StateFileKind = {
  since: '0.1.0-27306ef',
  make: async (dir) => {
    const { run, opened } = await open(dir);
    await run.resume({ only: 'T1' });
    await Promise.resolve(run.pause());
    await opened.close();
  },
  resume: async (dir) => resumeRun((await open(dir)).opened, {}),
  resumed: { answered: [], status: 'completed', outcome: doneTasks({ T1: 1, T2: 1 }) },
  calls: [...PLANNING, ...turnOf('T1'), ...turnOf('T2')],
};
