import { join } from 'node:path';
import { GitWorkspace } from '@devs/agents';
import { Orchestrator } from '@devs/core';
import { fakeAgents, scriptedChecks } from '@devs/core/testing';
import { specText } from '../../src/flags/runSpec.ts';
import { AGENTS } from './fixtures.ts';
import { takeAsOurs } from './takeAsOurs.ts';

export const RUN = 'shop';
const SPEC = specText({
  agents: AGENTS,
  checks: [{ name: 'check', dir: '.', argv: ['true'], timeoutMs: 60_000 }],
  setup: null,
  repository: null,
  sandbox: 'none',
});

/** Drives a run of two tasks, the second depending on the first, to its end. */
export async function finishShop(dir: string): Promise<string> {
  const devs = await Orchestrator.open({
    dir: join(dir, '.devs'),
    agents: fakeAgents({ tasks: 2 }),
    workspace: new GitWorkspace({ dir }),
    checks: scriptedChecks(),
  });
  try {
    const gates = { design: 'auto', dag: 'auto' } as const;
    const run = await devs.start({ id: RUN, brief: '# Shop', gates, agentsRef: SPEC });
    const { status } = await run.resume();
    await takeAsOurs(dir);
    return status;
  } finally {
    devs.close();
  }
}
