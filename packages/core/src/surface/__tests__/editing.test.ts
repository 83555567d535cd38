import path from 'node:path';
import { describe, expect, onTestFinished } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { only } from '../../../test/support/only.ts';
import type { Gate } from '../../engine/gates/Gate.ts';
import type { GateEdit, PlanEdit } from '../../orchestration/gates/pipelineGates.ts';
import { EventStore } from '../../state/events/EventStore.ts';
import { fakeAgents, MemoryWorkspace, scriptedChecks } from '../../testing/index.ts';
import { Orchestrator, type OrchestratorOptions } from '../Orchestrator.ts';
import type { Run } from '../Run.ts';

const ada = { kind: 'human', id: 'ada' } as const;
const yes = { approved: true, by: ada } as const;
const withCode = (code: string) => expect.objectContaining({ code });

/** A run `shop` of two tasks; calling it again is another process that goes on. */
async function open(
  dbPath: string,
  calls: string[] = [],
  limits: OrchestratorOptions['limits'] = {},
): Promise<Run> {
  const devs = await Orchestrator.open({
    dir: path.dirname(dbPath),
    limits,
    agents: fakeAgents({ tasks: 2, onCall: (what) => calls.push(what) }),
    workspace: new MemoryWorkspace(),
    checks: scriptedChecks(),
  });
  onTestFinished(() => devs.close());
  return devs.start({ id: 'shop', brief: '# Shop' });
}

async function gateOf(run: Run): Promise<Gate> {
  return only((await run.resume()).gates);
}

async function atPlan(dbPath: string, calls: string[] = []): Promise<{ run: Run; gate: Gate }> {
  const run = await open(dbPath, calls);
  await run.decide(await gateOf(run), yes);
  return { run, gate: await gateOf(run) };
}

const PRD = { type: 'PRD', title: 'PRD', content: 'Sell bread only.' };

describe('editing what a gate shows', () => {
  test('asks again about the new version, under a new hash, by its author', async ({ dbPath }) => {
    const calls: string[] = [];
    const run = await open(dbPath, calls);
    const shown = await gateOf(run);
    await run.decide(shown, { action: 'edit', documents: [PRD], by: ada });
    expect(await run.gates()).toEqual([]);

    const again = await gateOf(await open(dbPath, calls));
    expect(again).toMatchObject({ kind: 'design_approval' });
    expect(again.artifactHash).not.toBe(shown.artifactHash);
    expect(await run.draft(again)).toMatchObject({ documents: expect.arrayContaining([PRD]) });
    const state = await run.state();
    expect(state?.documents.find(({ type }) => type === 'PRD')).toMatchObject({ ...PRD, version: 2 });
    expect(state?.hitlDecisions).toMatchObject([
      {
        signal: { approved: false, approvedBy: 'ada' },
        artifactHash: shown.artifactHash,
        edit: { artifactHash: again.artifactHash },
      },
    ]);
    expect(state?.rejections.design_approval).toBe(0);
    expect(calls).toEqual(['research', 'design']);
  });

  test('takes a text of the size that is allowed, and says how to take a larger one', async ({ dbPath }) => {
    const run = await open(dbPath, [], { answerBytes: 30 });
    const shown = await gateOf(run);
    const larger = { ...PRD, content: 'Sell bread, and cakes on Sundays.' };
    const refused = expect.objectContaining({
      code: 'INVALID_ANSWER',
      message:
        'The edit of an answer is 33 bytes, most of it at edit.documents[0].content; the limit is 30 bytes.',
      remedy: expect.stringContaining('`limits.answerBytes`'),
    });
    await expect(run.decide(shown, { action: 'edit', documents: [larger], by: ada })).rejects.toThrow(
      refused,
    );
    await (await open(dbPath, [], { answerBytes: 33 })).decide(shown, {
      action: 'edit',
      documents: [larger],
      by: ada,
    });
    await expect(open(dbPath, [], { answerBytes: -1 })).rejects.toThrow(RangeError);
  });

  test('hands the edited documents on', async ({ dbPath }) => {
    const run = await open(dbPath);
    await run.decide(await gateOf(run), { action: 'edit', documents: [PRD], by: ada });
    await run.decide(await gateOf(run), yes);
    expect(await gateOf(run)).toMatchObject({ kind: 'dag_approval' });
    expect((await run.state())?.documents.find(({ type }) => type === 'PRD')?.content).toBe(PRD.content);
  });

  test('is taken from one person only, for what was shown, and not from the gate before', async ({
    dbPath,
  }) => {
    const run = await open(dbPath);
    const shown = await gateOf(run);
    const edit = { documents: [PRD], by: ada } as const;
    await expect(
      run.decide({ ...shown, artifactHash: '0'.repeat(64) }, { action: 'edit', ...edit }),
    ).rejects.toThrow(withCode('GATE_STALE'));
    await run.decide(shown, { action: 'edit', ...edit });
    await expect(run.decide(shown, { action: 'edit', ...edit })).rejects.toThrow(
      withCode('GATE_ALREADY_DECIDED'),
    );
    const again = await gateOf(run);
    await expect(run.decide({ ...again, artifactHash: shown.artifactHash }, yes)).rejects.toThrow(
      withCode('GATE_STALE'),
    );
    await expect(run.decide(shown, yes)).rejects.toThrow(withCode('GATE_ALREADY_DECIDED'));
  });

  test('is for humans only', async ({ dbPath }) => {
    const run = await open(dbPath);
    const gate = await gateOf(run);
    const edit = { documents: [PRD] };
    await expect(
      run.decide(gate, { action: 'edit', ...edit, by: { kind: 'agent', id: 'a' } }),
    ).rejects.toThrow(withCode('AGENT_MAY_NOT_DECIDE'));
    await expect(
      run.decide(gate, { action: 'edit', ...edit, by: { kind: 'policy', id: 'p' } }),
    ).rejects.toThrow(withCode('POLICY_NOT_DECLARED'));
    expect(await run.gates()).toEqual([gate]);
  });

  test('is no decision of a policy either where one is declared', async ({ dbPath }) => {
    const devs = await Orchestrator.open({ dir: path.dirname(dbPath) });
    onTestFinished(() => devs.close());
    const run = await devs.start({ id: 'r', brief: '# Shop' });
    const gate = await gateOf(run);
    await expect(
      run.decide(gate, { action: 'edit', documents: [PRD], by: { kind: 'policy', id: 'p' } }),
    ).rejects.toThrow(withCode('POLICY_NOT_DECLARED'));
  });

  test('of the plan drops, splits and reorders tasks; what runs is what was approved', async ({ dbPath }) => {
    const calls: string[] = [];
    const { run, gate } = await atPlan(dbPath, calls);
    const { plan } = (await run.draft(gate)) as PlanEdit;
    const [epic] = plan.epics;
    const [, second] = epic?.tasks ?? [];
    const extra = { ...second, key: 'label', name: 'Print labels', dependsOn: [] };
    const tasks = [extra, { ...second, dependsOn: ['label'] }];
    const edited = { plan: { ...plan, epics: [{ ...epic, tasks }] } } as PlanEdit;
    await run.decide(gate, { action: 'edit', ...edited, by: ada });

    const again = await gateOf(run);
    expect(await run.draft(again)).toMatchObject({
      plan: {
        epics: [
          {
            tasks: [
              { key: 'T3', name: 'Print labels' },
              { key: 'T2', dependsOn: ['T3'] },
            ],
          },
        ],
      },
    });
    await run.decide(again, yes);
    const { status, commits } = await run.resume();
    expect({ status, subjects: commits.map(({ subject }) => subject) }).toEqual({
      status: 'completed',
      subjects: ['Print labels', 'Task 2'],
    });
    expect(calls.filter((what) => what === 'distill')).toHaveLength(1);
  });

  test('refuses a plan that cannot become tasks, and one in the wrong form, before anything is written', async ({
    dbPath,
  }) => {
    const { run, gate } = await atPlan(dbPath);
    const { plan } = (await run.draft(gate)) as PlanEdit;
    const [epic] = plan.epics;
    const tasks = epic?.tasks.map((task) => ({ ...task, dependsOn: task.key === 'T1' ? ['T2'] : ['T1'] }));
    const cyclic = { plan: { ...plan, epics: [{ ...epic, tasks }] } } as PlanEdit;
    await expect(run.decide(gate, { action: 'edit', ...cyclic, by: ada })).rejects.toThrow(
      expect.objectContaining({ code: 'DAG_INVALID', message: expect.stringContaining('T1 → T2 → T1') }),
    );
    const wrong = { documents: [PRD] } as GateEdit;
    await expect(run.decide(gate, { action: 'edit', ...wrong, by: ada })).rejects.toThrow(
      withCode('INVALID_ANSWER'),
    );
    expect(await run.gates()).toEqual([gate]);
  });

  test('masks a secret in it, and tells the log that it was an edit', async ({ db, dbPath }) => {
    const run = await open(dbPath);
    const content = 'Use ghp_0123456789abcdefghijklmnopqrstuvwxyz.';
    await run.decide(await gateOf(run), { action: 'edit', documents: [{ ...PRD, content }], by: ada });
    await gateOf(run);
    const prd = (await run.state())?.documents.find(({ type }) => type === 'PRD');
    expect(prd?.content).toBe('Use [REDACTED:github].');
    const decided = new EventStore(db).list('shop').filter(({ name }) => name === 'HITL_SESSION_DECIDED');
    expect(decided).toMatchObject([{ payload: { edited: true, principal: 'human:ada' } }]);
  });

  test('a person is told what they were shown last, if that was another version', async ({ dbPath }) => {
    const run = await open(dbPath);
    const first = await gateOf(run);
    expect(await run.recordViewed(first, ada)).toBeNull();
    expect(await run.recordViewed(first, ada)).toBeNull();
    await run.decide(first, { action: 'edit', documents: [PRD], by: ada });
    const second = await gateOf(run);
    expect(await run.recordViewed(second, { kind: 'human', id: 'grace' })).toBeNull();
    expect(await run.lastViewed(second, ada)).toEqual(first);
    expect(await run.recordViewed(second, ada)).toEqual(first);
    expect(await run.recordViewed(second, ada)).toBeNull();
    expect(await run.lastViewed(second, ada)).toEqual(first);
    expect(await run.lastViewed(first, ada)).toEqual(second);
    expect(await run.lastViewed(second, { kind: 'human', id: 'grace' })).toBeNull();
    await run.decide(second, yes);
    expect(await run.recordViewed(await gateOf(run), ada)).toBeNull();
  });

  test('as often as one likes: every edit is progress', async ({ dbPath }) => {
    const run = await open(dbPath);
    for (let version = 2; version <= 30; version += 1) {
      await run.decide(await gateOf(run), {
        action: 'edit',
        documents: [{ ...PRD, content: `Version ${version}` }],
        by: ada,
      });
    }
    await run.decide(await gateOf(run), yes);
    expect(await gateOf(run)).toMatchObject({ kind: 'dag_approval' });
  });
});
