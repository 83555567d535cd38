import path from 'node:path';
import { describe, expect } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { DevsError } from '../../errors/DevsError.ts';
import { fakeAgents, MemoryWorkspace, scriptedChecks } from '../../testing/index.ts';
import { Orchestrator } from '../Orchestrator.ts';
import type { Adoption } from '../userChanges.ts';

const ADOPTION: Adoption = {
  by: { kind: 'human', id: 'ada' },
  author: { name: 'Ada', email: 'ada@example.org' },
};

/** A person changed a file in it. */
class EditedWorkspace extends MemoryWorkspace {
  override async open(threadId: string) {
    const run = await super.open(threadId);
    return Object.assign(run, {
      adopt: async () => ({ commit: 'c0ffee', tree: await run.snapshot(), files: 1 }),
    });
  }
}

type Implement = ReturnType<typeof fakeAgents>['implement'];

async function start(dbPath: string, implement?: (original: Implement) => Implement) {
  const agents = fakeAgents({ tasks: 1 });
  const devs = await Orchestrator.open({
    dir: path.dirname(dbPath),
    agents: { ...agents, ...(implement && { implement: implement(agents.implement) }) },
    workspace: new EditedWorkspace(),
    checks: scriptedChecks(),
  });
  return devs.start({ id: 'r', brief: '# B', gates: { design: 'auto', dag: 'auto' } });
}

describe('Run.adopt', () => {
  test('records who changed what, and tells what the checks say', async ({ dbPath }) => {
    const run = await start(dbPath);
    await run.resume();
    const adopted = await run.adopt(ADOPTION);
    expect(adopted).toMatchObject({ commit: 'c0ffee', files: 1, checks: { passed: true } });
    expect((await run.log()).at(-1)).toMatchObject({
      name: 'CHANGES_ADOPTED',
      payload: { principal: 'human:ada', commit: 'c0ffee', files: 1 },
    });
  });

  test('is refused in the middle of a turn, whose recorded files would undo it', async ({ dbPath }) => {
    let outages = 1;
    const run = await start(dbPath, (implement) => async (request, call) => {
      if (outages-- > 0) throw new DevsError('Gone.', { code: 'SANDBOX_MISSING', remedy: 'Come back.' });
      return implement(request, call);
    });
    await expect(run.resume()).rejects.toMatchObject({ code: 'SANDBOX_MISSING' });
    await expect(run.adopt(ADOPTION)).rejects.toMatchObject({
      code: 'WORKSPACE_BUSY',
      context: { node: 'implement' },
    });
    expect(await run.resume()).toMatchObject({ status: 'completed' });
    expect(await run.adopt(ADOPTION)).not.toBeNull();
  });

  test('is refused while somebody drives the run, and to agents and policies', async ({ dbPath }) => {
    const refused: unknown[] = [];
    const run = await start(dbPath, (implement) => async (request, call) => {
      refused.push(await run.adopt(ADOPTION).catch((error: DevsError) => error.code));
      return implement(request, call);
    });
    await run.resume();
    expect(refused).toEqual(['THREAD_BUSY']);
    const agent = { ...ADOPTION, by: { kind: 'agent', id: 'a' } } as const;
    await expect(run.adopt(agent)).rejects.toMatchObject({ code: 'AGENT_MAY_NOT_DECIDE' });
    expect((await run.log()).some(({ name }) => name === 'CHANGES_ADOPTED')).toBe(false);
  });
});
