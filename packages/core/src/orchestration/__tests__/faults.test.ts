import { existsSync, renameSync } from 'node:fs';
import path from 'node:path';
import { describe, expect } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { only } from '../../../test/support/only.ts';
import { EventBus } from '../../events/events.ts';
import { Orchestrator } from '../../surface/Orchestrator.ts';
import { fakeAgents, MemoryWorkspace, scriptedChecks } from '../../testing/index.ts';

async function devsAt(dbPath: string, agents = fakeAgents({ tasks: 1 }), checks = scriptedChecks()) {
  const events = new EventBus();
  const seen: string[] = [];
  events.onAny((name) => seen.push(name));
  const devs = await Orchestrator.open({
    dir: path.dirname(dbPath),
    agents,
    workspace: new MemoryWorkspace(),
    checks,
    events,
  });
  return { devs, seen };
}

describe('what goes wrong around a run', () => {
  test('a state file that was moved away acknowledges neither work nor a decision', async ({ dbPath }) => {
    const { devs } = await devsAt(dbPath);
    const run = await devs.start({ id: 'r', brief: '# B' });
    const { gates } = await run.resume();
    renameSync(dbPath, `${dbPath}.away`);

    const approved = { approved: true, by: { kind: 'human', id: 'ada' } } as const;
    await expect(run.decide(only(gates), approved)).rejects.toThrow(
      expect.objectContaining({ code: 'STATE_REPLACED' }),
    );
    renameSync(`${dbPath}.away`, dbPath);
    expect(existsSync(dbPath)).toBe(true);
    await run.decide(only(gates), approved);
    expect(await run.resume()).toMatchObject({ status: 'waiting', gates: [{ kind: 'dag_approval' }] });
    expect(await devs.verify()).toMatchObject({ ok: true });
    devs.close();
  });

  test('an error that may pass is retried in the same visit, and said to be', async ({ dbPath }) => {
    const agents = fakeAgents({ tasks: 1 });
    let outages = 1;
    const research: typeof agents.research = async (request, call) => {
      if (outages-- > 0) throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
      return agents.research(request, call);
    };
    const { devs, seen } = await devsAt(dbPath, { ...agents, research });
    const run = await devs.start({ id: 'r', brief: '# B' });
    expect(await run.resume()).toMatchObject({ status: 'waiting' });
    expect(seen.filter((name) => name === 'RETRIED' || name === 'NODE_FAILED')).toEqual(['RETRIED']);
    devs.close();
  });

  test('three equal errors lead to the pivot, once, and the run ends without a strategy', async ({
    dbPath,
  }) => {
    const agents = fakeAgents({ tasks: 1 });
    let port = 5000;
    const implement: typeof agents.implement = async () => {
      port += 1;
      throw new TypeError(`cannot read x of undefined at :${port}`);
    };
    const { devs, seen } = await devsAt(dbPath, { ...agents, implement }, scriptedChecks([false]));
    const run = await devs.start({ id: 'r', brief: '# B', gates: { design: 'auto', dag: 'auto' } });
    expect((await run.resume()).reason).toContain('no strategy made progress');
    expect(seen.filter((name) => name === 'NODE_FAILED')).toHaveLength(3);
    const errors = (await run.state())?.errorHistory ?? [];
    expect(errors.map(({ taskId, consecutiveCount }) => [taskId, consecutiveCount])).toEqual([
      ['r:1', 1],
      ['r:1', 2],
      ['r:1', 3],
    ]);
    devs.close();
  });
});
