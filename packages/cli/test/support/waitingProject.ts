import { join } from 'node:path';
import { Orchestrator, type PipelineResult } from '@devs/core';
import { fakeAgents, MemoryWorkspace, scriptedChecks } from '@devs/core/testing';
import { takeAsOurs } from './takeAsOurs.ts';

/** The run of {@link driveShop}. */
export const RUN = 'shop';

/** Starts a run of two tasks in a project, or goes on with it, up to its next gate. */
export async function driveShop(
  dir: string,
  gates: { readonly design?: 'auto' } = {},
): Promise<PipelineResult> {
  const devs = await Orchestrator.open({
    dir: join(dir, '.devs'),
    agents: fakeAgents({ tasks: 2 }),
    workspace: new MemoryWorkspace(),
    checks: scriptedChecks(),
  });
  try {
    const run = await devs.start({ id: RUN, brief: '# Shop', gates });
    const result = await run.resume();
    await takeAsOurs(dir);
    return result;
  } finally {
    devs.close();
  }
}
