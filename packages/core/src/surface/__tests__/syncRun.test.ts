import path from 'node:path';
import { describe, expect } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { fakeAgents, MemoryWorkspace, scriptedChecks } from '../../testing/index.ts';
import { Orchestrator } from '../Orchestrator.ts';

const ADA = { kind: 'human', id: 'ada' } as const;
const SYNCED = { base: 'c0ffee', commits: 1, before: 'refs/devs/before-sync/1', moved: {} };

class SyncingWorkspace extends MemoryWorkspace {
  override async open(threadId: string) {
    return Object.assign(await super.open(threadId), { sync: async () => SYNCED });
  }
}

async function finished(dbPath: string, workspace: MemoryWorkspace) {
  const devs = await Orchestrator.open({
    dir: path.dirname(dbPath),
    agents: fakeAgents({ tasks: 1 }),
    workspace,
    checks: scriptedChecks(),
  });
  const run = await devs.start({ id: 'r', brief: '# B', gates: { design: 'auto', dag: 'auto' } });
  await run.resume();
  return run;
}

describe('Run.sync', () => {
  test('records who carried the run over, and onto what', async ({ dbPath }) => {
    const run = await finished(dbPath, new SyncingWorkspace());
    expect(await run.sync({ by: ADA })).toEqual({ ...SYNCED, delivery: null });
    expect((await run.log()).at(-1)).toMatchObject({
      name: 'RUN_SYNCED',
      payload: { principal: 'human:ada', base: 'c0ffee', commits: 1, moved: {} },
    });
    await expect(run.sync({ by: { kind: 'agent', id: 'a' } })).rejects.toMatchObject({
      code: 'AGENT_MAY_NOT_DECIDE',
    });
  });

  test('needs a workspace that can', async ({ dbPath }) => {
    const run = await finished(dbPath, new MemoryWorkspace());
    await expect(run.sync({ by: ADA })).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  });
});
