import path from 'node:path';
import { describe, expect } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { openReadOnly } from '../../db/createDatabase.ts';
import { DevsError } from '../../errors/DevsError.ts';
import type { GraphState } from '../../orchestration/types.ts';
import { CheckpointPersister } from '../../state/CheckpointPersister.ts';
import { fakeAgents, MemoryWorkspace, scriptedChecks } from '../../testing/index.ts';
import { Orchestrator } from '../Orchestrator.ts';

describe('a task whose driver went away in the middle', () => {
  test('is marked as resumed by the node that takes it up, and completed by the next', async ({ dbPath }) => {
    const agents = fakeAgents({ tasks: 1 });
    let outages = 1;
    const implement: typeof agents.implement = async (request, call) => {
      if (outages-- > 0) throw new DevsError('Gone.', { code: 'SANDBOX_MISSING', remedy: 'Come back.' });
      return agents.implement(request, call);
    };
    const devs = await Orchestrator.open({
      dir: path.dirname(dbPath),
      agents: { ...agents, implement },
      workspace: new MemoryWorkspace(),
      checks: scriptedChecks(),
    });
    const run = await devs.start({ id: 'r', brief: '# B', gates: { design: 'auto', dag: 'auto' } });
    await expect(run.resume()).rejects.toMatchObject({ code: 'SANDBOX_MISSING' });
    expect(await run.resume()).toMatchObject({ status: 'completed' });

    const db = openReadOnly({ dbPath });
    const turns = new CheckpointPersister(db).loadForTask('r:1');
    db.close();
    devs.close();
    const statuses = turns
      .filter(({ turnType }) => turnType === 'Action')
      .map(({ nodeName, state }) => [nodeName, (state as unknown as GraphState).tasks[0]?.status]);
    expect(statuses).toEqual([
      ['implement', 'resumed'],
      ['verify', 'completed'],
    ]);
  });
});
