import { ADA, resumeRun } from '../OpenRun.ts';
import { doneTasks, openPipeline, turnOf } from '../pipeline.ts';
import type { StateFileKind } from '../StateFileKind.ts';

const open = async (dir: string) => (await openPipeline(dir, { human: 'design', isInMemory: true })).opened;

/** A human has sent the design back, and nobody has taken that up yet. The new one is asked about again. */
export const decided: StateFileKind = {
  since: '0.1.0-27306ef',
  make: async (dir) => {
    const run = await open(dir);
    await run.drive();
    for (const gate of await run.gates()) {
      await run.decide(gate, { approved: false, feedback: 'Say it in Latin.', by: ADA });
    }
    await run.close();
  },
  resume: async (dir) => resumeRun(await open(dir), { approved: true }),
  resumed: {
    answered: ['design_approval'],
    status: 'completed',
    outcome: { ...doneTasks({ T1: 1 }), documents: ['BRIEF 407c504e', 'RESEARCH 620d802a', 'PRD 0eef52cb'] },
  },
  calls: ['research', 'design', 'design', 'distill', ...turnOf('T1')],
};
