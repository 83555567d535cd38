import path from 'node:path';
import { describe, expect, onTestFinished } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import type { PlanResult, StageAgents, TaskDraft } from '../../orchestration/ports.ts';
import { fakeAgents, MemoryWorkspace, scriptedChecks } from '../../testing/index.ts';
import { Orchestrator, type StartOptions } from '../Orchestrator.ts';
import type { DriveRunOptions, Run } from '../Run.ts';
import type { PipelineResult } from '../views.ts';

const BRIEF = '# Shop\n\nSell things.\n';
const ada = { kind: 'human', id: 'ada' } as const;

const aTask = (key: string, dependsOn: readonly string[] = []): TaskDraft => ({
  key,
  name: `Task ${key}`,
  description: `Do ${key}.`,
  dependsOn,
  requirements: ['REQ-1'],
  acceptanceCriteria: ['It is there.'],
});

/** T1, T2 and T3 after T1 in the first epic; T4 and T5 after T3 in the second. */
const PLAN: PlanResult = {
  requirements: [{ externalId: 'REQ-1', description: 'It works.' }],
  epics: [
    { name: 'First', description: 'Begin.', tasks: [aTask('1'), aTask('2'), aTask('3', ['1'])] },
    { name: 'Second', description: 'Go on.', tasks: [aTask('4'), aTask('5', ['3'])] },
  ],
};

interface Setting {
  readonly start?: Partial<StartOptions>;
  readonly agents?: Partial<StageAgents>;
}

async function aRun(dbPath: string, { start = {}, agents = {} }: Setting = {}) {
  const calls: string[] = [];
  const workspace = new MemoryWorkspace();
  const open = async () => {
    const devs = await Orchestrator.open({
      dir: path.dirname(dbPath),
      agents: { ...fakeAgents({ onCall: (what) => calls.push(what) }), ...agents },
      workspace,
      checks: scriptedChecks(),
    });
    onTestFinished(() => devs.close());
    return devs;
  };
  const run = await (await open()).start({ id: 'shop', brief: BRIEF, tasks: PLAN, ...start });
  return { run, calls, again: async () => (await open()).run('shop') };
}

const auto = { gates: { design: 'auto', dag: 'auto' } } as const;

/** Approves every gate until the run stops for another reason. */
async function onwards(run: Run, options: DriveRunOptions = {}): Promise<PipelineResult> {
  let result = await run.resume(options);
  while (result.status === 'waiting') {
    for (const gate of result.gates) await run.decide(gate, { approved: true, by: ada });
    result = await run.resume();
  }
  return result;
}

const subjects = ({ commits }: PipelineResult): readonly string[] => commits.map(({ subject }) => subject);

describe('a run that is driven until a gate is approved', () => {
  test('stops behind it, and goes on with the next drive', async ({ dbPath }) => {
    const { run, calls } = await aRun(dbPath, { start: { documents: [aDesign], gates: auto.gates } });
    expect(await run.resume({ until: 'design' })).toMatchObject({
      status: 'paused',
      reason: 'the design is approved',
    });
    expect((await run.state())?.status).toBe('planning');
    expect(calls).toEqual([]);
    expect(await run.resume({ until: 'dag' })).toMatchObject({ reason: 'the plan is approved', commits: [] });
    expect(await run.resume()).toMatchObject({ status: 'completed', commits: { length: 5 } });
  });

  test('is asked again after a rejection, and keeps its goal over drives and processes', async ({
    dbPath,
  }) => {
    const { run, again } = await aRun(dbPath, { start: { documents: [aDesign] } });
    const first = await run.resume({ until: 'design' });
    for (const gate of first.gates) await run.decide(gate, { approved: false, feedback: 'More.', by: ada });
    const end = await onwards(await again());
    expect(end).toMatchObject({ status: 'paused', reason: 'the design is approved' });
    const names = (await run.log()).map(({ name }) => name);
    expect(names.filter((name) => name.startsWith('GOAL_'))).toEqual(['GOAL_SET', 'GOAL_REACHED']);
  });

  test('stops at once when that gate was approved before', async ({ dbPath }) => {
    const { run } = await aRun(dbPath, { start: auto });
    await run.resume({ only: 'T1' });
    expect(await run.resume({ until: 'dag' })).toMatchObject({ status: 'paused', commits: { length: 1 } });
  });
});

describe('a run that is driven for some of its tasks', () => {
  test('works on one task and what it depends on, and later on the rest, each once', async ({ dbPath }) => {
    const { run, calls, again } = await aRun(dbPath, { start: auto });
    const first = await run.resume({ only: 'T5' });
    expect(first).toMatchObject({ status: 'paused', reason: 'T5 is finished' });
    expect(subjects(first)).toEqual(['Task 1', 'Task 3', 'Task 5']);

    const rest = await (await again()).resume();
    expect(rest.status).toBe('completed');
    expect(subjects(rest)).toEqual(['Task 1', 'Task 3', 'Task 5', 'Task 2', 'Task 4']);
    expect(new Set(calls).size).toBe(calls.length);
  });

  test('works on an epic at a time', async ({ dbPath }) => {
    const { run } = await aRun(dbPath, { start: auto });
    const first = await run.resume({ epic: 'E1' });
    expect(first).toMatchObject({ status: 'paused', reason: 'E1 is finished' });
    expect(subjects(first)).toEqual(['Task 1', 'Task 2', 'Task 3']);
    expect(await run.resume({ epic: 'E2' })).toMatchObject({ status: 'completed', commits: { length: 5 } });
  });

  test('stops when its task is given up, and begins no other', async ({ dbPath }) => {
    const refuses = fakeAgents();
    const { run } = await aRun(dbPath, {
      start: auto,
      agents: {
        review: async ({ task }) =>
          task.name === 'Task 2'
            ? { approved: false, comments: 'No.' }
            : { approved: true, comments: 'Yes.' },
        pivot: async ({ tried }) => ({ strategy: `way ${tried.length}`, reason: 'Another.' }),
        name: refuses.name,
      },
    });
    let result = await run.resume({ only: 'T2' });
    expect(result).toMatchObject({ status: 'waiting', gates: [{ kind: 'task_failure' }] });
    for (const gate of result.gates) await run.decide(gate, { action: 'skip', by: ada });
    result = await run.resume();
    expect(result).toMatchObject({
      status: 'paused',
      reason: 'T2 has tasks that were given up',
      commits: [],
    });
    expect(subjects(await run.resume())).toEqual(['Task 1', 'Task 3', 'Task 4', 'Task 5']);
  });

  test('finishes what is under way before another goal counts, and repeats no call', async ({ dbPath }) => {
    const calls: string[] = [];
    const abort = new AbortController();
    const { run } = await aRun(dbPath, {
      start: auto,
      agents: {
        implement: async (request, call) => {
          calls.push(request.task.name);
          if (calls.length === 1) {
            abort.abort();
            call.signal.throwIfAborted();
          }
          return fakeAgents().implement(request, call);
        },
      },
    });
    expect(await run.resume({ only: 'T4', abort: abort.signal })).toMatchObject({
      status: 'paused',
      commits: [],
    });
    const next = await run.resume({ only: 'T2' });
    expect(next).toMatchObject({ status: 'paused', reason: 'T2 is finished' });
    expect(subjects(next)).toEqual(['Task 4', 'Task 2']);
    expect(calls).toEqual(['Task 4', 'Task 4', 'Task 2']);
  });

  test('says when the plan has no such task', async ({ dbPath }) => {
    const { run } = await aRun(dbPath, { start: auto });
    expect(await run.resume({ only: 'T9' })).toMatchObject({
      status: 'paused',
      reason: 'the plan has no T9',
    });
    await expect(run.resume({ only: 'four' })).rejects.toThrow('only must be T and a number');
    await expect(run.resume({ only: 'T1', epic: 'E1' })).rejects.toThrow(RangeError);
  });
});

const aDesign = { type: 'PRD', title: 'Shop', content: 'Sell.' };
