import type { GateEdit } from '@devs/core';
import { ADA, resumeRun } from '../OpenRun.ts';
import { doneTasks, openPipeline, PLANNING, turnOf } from '../pipeline.ts';
import type { StateFileKind } from '../StateFileKind.ts';

type PlanEdit = Extract<GateEdit, { readonly plan: unknown }>;

const open = (dir: string) => openPipeline(dir, { tasks: 2, human: 'dag', isInMemory: true });

/** A human has put a plan without its second task in the place of the agents', and nobody has taken that up yet. */
export const edited: StateFileKind = {
  since: '0.1.0-27306ef',
  make: async (dir) => {
    const { run, opened } = await open(dir);
    await opened.drive();
    for (const gate of await opened.gates()) {
      const { plan } = (await run.draft(gate)) as PlanEdit;
      const epics = plan.epics.map((epic) => ({ ...epic, tasks: epic.tasks.slice(0, 1) }));
      await Promise.resolve(run.decide(gate, { action: 'edit', plan: { ...plan, epics }, by: ADA }));
    }
    await opened.close();
  },
  resume: async (dir) => resumeRun((await open(dir)).opened, { approved: true }),
  resumed: { answered: ['dag_approval'], status: 'completed', outcome: doneTasks({ T1: 1 }) },
  calls: [...PLANNING, ...turnOf('T1')],
};
