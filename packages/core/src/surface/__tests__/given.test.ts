import path from 'node:path';
import { describe, expect, onTestFinished } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { only } from '../../../test/support/only.ts';
import { isDevsError } from '../../errors/DevsError.ts';
import type { DraftDocument, PlanResult } from '../../orchestration/ports.ts';
import { aPlan } from '../../testing/fakeAgents.ts';
import { fakeAgents, MemoryWorkspace, scriptedChecks } from '../../testing/index.ts';
import { Orchestrator } from '../Orchestrator.ts';

const BRIEF = '# CSV export\n\nExport the table as CSV.\n';
const PRD: DraftDocument = { type: 'PRD', title: 'CSV export', content: 'Columns in order.' };
const ada = { kind: 'human', id: 'ada' } as const;
const yes = { approved: true, by: ada } as const;

async function open(dbPath: string) {
  const calls: string[] = [];
  const devs = await Orchestrator.open({
    dir: path.dirname(dbPath),
    agents: fakeAgents({ tasks: 1, onCall: (what) => calls.push(what) }),
    workspace: new MemoryWorkspace(),
    checks: scriptedChecks(),
  });
  onTestFinished(() => devs.close());
  return { devs, calls };
}

const withTasks = (change: Partial<PlanResult['epics'][number]['tasks'][number]>): PlanResult => {
  const plan = aPlan(1);
  return {
    ...plan,
    epics: plan.epics.map((epic) => ({ ...epic, tasks: epic.tasks.map((t) => ({ ...t, ...change })) })),
  };
};

describe('documents that were given', () => {
  test('are read at the design gate at once, and the plan is made from them', async ({ dbPath }) => {
    const { devs, calls } = await open(dbPath);
    const run = await devs.start({ brief: BRIEF, documents: [PRD] });
    const { gates } = await run.resume();
    expect(gates).toMatchObject([
      { kind: 'design_approval', artifact: { documents: [{ type: 'BRIEF' }, { ...PRD, version: 1 }] } },
    ]);
    expect(calls).toEqual([]);

    await run.decide(only(gates), yes);
    expect(await run.resume()).toMatchObject({ gates: [{ kind: 'dag_approval' }] });
    expect(calls).toEqual(['distill']);
  });

  test('are written again by the agents when a human sends them back', async ({ dbPath }) => {
    const { devs, calls } = await open(dbPath);
    const run = await devs.start({ brief: BRIEF, documents: [PRD] });
    await run.decide(only((await run.resume()).gates), {
      approved: false,
      feedback: 'Name the columns.',
      by: ada,
    });
    const { gates } = await run.resume();
    expect(calls).toEqual(['design']);
    expect(gates).toMatchObject([
      { artifact: { documents: [{ type: 'BRIEF' }, { type: 'PRD', content: 'Design 2', version: 2 }] } },
    ]);
  });
});

describe('a plan that was given', () => {
  test('is read at its own gate at once, and its tasks become commits', async ({ dbPath }) => {
    const { devs, calls } = await open(dbPath);
    const run = await devs.start({ brief: BRIEF, tasks: aPlan(2) });
    const { gates } = await run.resume();
    expect(gates).toMatchObject([
      { kind: 'dag_approval', artifact: { tasks: [{ name: 'Task 1' }, { name: 'Task 2' }] } },
    ]);
    expect(calls).toEqual([]);

    await run.decide(only(gates), yes);
    const done = await run.resume();
    expect(done).toMatchObject({ status: 'completed', commits: [{}, {}] });
    expect(calls).not.toContain('distill');
  });

  test('waits for the documents that were given with it', async ({ dbPath }) => {
    const { devs, calls } = await open(dbPath);
    const run = await devs.start({ brief: BRIEF, documents: [PRD], tasks: aPlan(2) });
    const first = await run.resume();
    expect(first.gates).toMatchObject([{ kind: 'design_approval' }]);
    await run.decide(only(first.gates), yes);
    expect((await run.resume()).gates).toMatchObject([{ kind: 'dag_approval' }]);
    expect(calls).toEqual([]);
  });

  test('is made anew by the agents when a human sends it back', async ({ dbPath }) => {
    const { devs, calls } = await open(dbPath);
    const run = await devs.start({ brief: BRIEF, tasks: aPlan(2) });
    await run.decide(only((await run.resume()).gates), {
      approved: false,
      feedback: 'One is enough.',
      by: ada,
    });
    expect((await run.resume()).gates).toMatchObject([{ artifact: { tasks: [{ name: 'Task 1' }] } }]);
    expect(calls).toEqual(['distill']);
  });
});

describe('what was given', () => {
  test('is checked before anything is recorded', async ({ dbPath }) => {
    const { devs } = await open(dbPath);
    const refused = (given: object) =>
      devs.start({ brief: BRIEF, ...given }).catch((error: unknown) => error);
    const cyclic = await refused({ tasks: withTasks({ dependsOn: ['task-1'] }) });
    expect(isDevsError(cyclic, 'DAG_INVALID')).toBe(true);
    for (const given of [
      { documents: [PRD, PRD] },
      { documents: [{ ...PRD, type: 'BRIEF' }] },
      { documents: [{ ...PRD, content: ' ' }] },
      { tasks: { requirements: [], epics: [] } },
    ]) {
      expect(await refused(given)).toBeInstanceOf(TypeError);
    }
    expect(await devs.list()).toEqual([]);
  });

  test('belongs to the run: the same goes on, something else is refused, nothing goes on', async ({
    dbPath,
  }) => {
    const { devs } = await open(dbPath);
    const { id } = await devs.start({ brief: BRIEF, documents: [PRD] });
    expect((await devs.start({ brief: BRIEF, documents: [PRD] })).id).toBe(id);
    expect((await devs.start({ brief: BRIEF })).id).toBe(id);
    const other = devs.start({ brief: BRIEF, documents: [{ ...PRD, content: 'Other.' }] });
    await expect(other).rejects.toThrow('was started with different documents or a different plan');
  });
});

describe('research that was declined', () => {
  test('is not asked for, and the run says so', async ({ dbPath }) => {
    const { devs, calls } = await open(dbPath);
    const run = await devs.start({ brief: BRIEF, research: false });
    expect(await run.resume()).toMatchObject({ gates: [{ kind: 'design_approval' }] });
    expect(calls).toEqual(['design']);
    expect((await run.state())?.documents.map(({ type }) => type)).toEqual(['BRIEF', 'PRD']);
  });
});
