import path from 'node:path';
import { describe, expect, onTestFinished } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { only } from '../../../test/support/only.ts';
import type { DraftDocument } from '../../orchestration/ports.ts';
import { aPlan } from '../../testing/fakeAgents.ts';
import { fakeAgents, MemoryWorkspace, scriptedChecks } from '../../testing/index.ts';
import { Orchestrator, type StartOptions } from '../Orchestrator.ts';

const ada = { kind: 'human', id: 'ada' } as const;
const PRD: DraftDocument = { type: 'PRD', title: 'CSV export', content: 'Columns in order.' };
const BRIEF = 'limit(fn) takes a signal\n\n- an aborted call rejects\n- [ ] others go on\n';

async function open(dbPath: string) {
  const calls: string[] = [];
  const devs = await Orchestrator.open({
    dir: path.dirname(dbPath),
    agents: fakeAgents({
      onCall: (what) => calls.push(what.split(' ').at(what.startsWith('T') ? 1 : 0) ?? ''),
    }),
    workspace: new MemoryWorkspace(),
    checks: scriptedChecks(),
  });
  onTestFinished(() => devs.close());
  return { devs, calls };
}

describe('small work', () => {
  test('asks four stages and one human, and the policy that decided the rest is on record', async ({
    dbPath,
  }) => {
    const { devs, calls } = await open(dbPath);
    const run = await devs.start({ brief: BRIEF, quick: {} });
    const { gates } = await run.resume();
    expect(gates).toMatchObject([{ kind: 'review' }]);
    expect(calls.toSorted()).toEqual(['document', 'implement', 'review', 'test']);
    const decided = (await run.log()).filter(({ name }) => name === 'HITL_SESSION_DECIDED');
    expect(decided.map(({ payload }) => payload)).toMatchObject([
      { kind: 'design_approval', principal: 'policy:quick' },
      { kind: 'dag_approval', principal: 'policy:quick' },
    ]);
    expect((await run.state())?.tasks).toMatchObject([
      { name: 'limit(fn) takes a signal', acceptanceCriteria: ['an aborted call rejects', 'others go on'] },
    ]);

    await run.decide(only(gates), { approved: true, by: ada });
    expect(await run.resume()).toMatchObject({ status: 'completed', commits: [{}] });
    expect(calls).toHaveLength(4);
  });

  test('says how it is shown to be right, and is called by what fits a line', async ({ dbPath }) => {
    const { devs } = await open(dbPath);
    const brief = `The help text names ${'every exit code and what it means to whoever reads it '.repeat(3)}`;
    const run = await devs.start({ brief, quick: { kind: 'checked-by', checkedBy: 'review' } });
    await run.resume();
    const task = (await run.state())?.tasks[0];
    expect(task?.name).toBe('The help text names every exit code and what it means to whoever reads…');
    expect(task?.description).toBe(brief);
  });

  test('has the review of its code as it is asked for: by a policy, or not at all', async ({ dbPath }) => {
    const { devs } = await open(dbPath);
    const auto = await devs.start({ id: 'auto', brief: BRIEF, quick: {}, gates: { review: 'auto' } });
    expect(await auto.resume()).toMatchObject({ status: 'completed' });
    const none = await devs.start({ id: 'none', brief: BRIEF, quick: {}, review: 'none' });
    expect(await none.resume()).toMatchObject({ status: 'completed' });
    expect([(await auto.status()).review?.approved, (await none.status()).review]).toEqual([1, null]);
  });

  test.for<Partial<StartOptions>>([
    { documents: [PRD] },
    { tasks: aPlan(1) },
    { gates: { design: 'auto' } },
    { gates: { dag: 'human' } },
  ])('brings its own of what it does not take: %j', async (more, { dbPath }) => {
    const { devs } = await open(dbPath);
    await expect(devs.start({ brief: BRIEF, quick: {}, ...more })).rejects.toThrow(TypeError);
    expect(await devs.list()).toEqual([]);
  });
});
