import path from 'node:path';
import { describe, expect, onTestFinished } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { openReadOnly } from '../../db/createDatabase.ts';
import type { Gate, GateAnswer } from '../../engine/gates/Gate.ts';
import type {
  Checks,
  CodeReview,
  PlanResult,
  StageAgents,
  TaskDraft,
  TaskRequest,
} from '../../orchestration/ports.ts';
import { ThreadStore } from '../../state/threads/ThreadStore.ts';
import { fakeAgents, MemoryWorkspace, scriptedChecks } from '../../testing/index.ts';
import { Orchestrator, type StartOptions } from '../Orchestrator.ts';
import type { Run } from '../Run.ts';
import type { PipelineResult } from '../views.ts';

const ada = { kind: 'human', id: 'ada' } as const;

const aTask = (key: string, dependsOn: readonly string[] = []): TaskDraft => ({
  key,
  name: `Task ${key}`,
  description: `Do ${key}.`,
  dependsOn,
  requirements: ['REQ-1'],
  acceptanceCriteria: ['It is there.', 'It is tested.'],
});

/** T1 and T2 after it in the first epic, T3 in the second. */
const PLAN: PlanResult = {
  requirements: [{ externalId: 'REQ-1', description: 'It works.' }],
  epics: [
    { name: 'First', description: 'Begin.', tasks: [aTask('1'), aTask('2', ['1'])] },
    { name: 'Second', description: 'Go on.', tasks: [aTask('3', ['2'])] },
  ],
};

interface Setting {
  readonly start?: Partial<StartOptions>;
  readonly agents?: Partial<StageAgents>;
  readonly checks?: Checks;
}

async function aRun(dbPath: string, { start = {}, agents = {}, checks = scriptedChecks() }: Setting = {}) {
  const requests: TaskRequest[] = [];
  const fake = fakeAgents();
  const workspace = new MemoryWorkspace();
  const devs = await Orchestrator.open({
    dir: path.dirname(dbPath),
    agents: {
      ...fake,
      implement: (request, call) => {
        requests.push(request);
        return fake.implement(request, call);
      },
      review: async () => ({
        approved: true,
        comments: 'Fine.',
        evidence: [{ criterion: 'It is tested.', shownBy: 'test/1.txt' }],
      }),
      ...agents,
    },
    workspace,
    checks,
  });
  onTestFinished(() => devs.close());
  const run = await devs.start({
    id: 'shop',
    brief: '# Shop',
    tasks: PLAN,
    gates: { dag: 'auto' },
    review: 'task',
    ...start,
  });
  return { run, requests, workspace };
}

const shown = ({ gates: [gate] }: Pick<PipelineResult, 'gates'>): CodeReview => gate?.artifact as CodeReview;
const approve = (run: Run) => decide(run, { approved: true });
const reject = (run: Run, feedback: string, tasks?: readonly string[]) =>
  decide(run, { approved: false, feedback, ...(tasks && { tasks }) });

async function decide(run: Run, answer: Readonly<Record<string, unknown>>): Promise<PipelineResult> {
  const [gate] = (await run.gates()) as readonly [Gate];
  await run.decide(gate, { ...answer, by: ada } as GateAnswer);
  return run.resume();
}

async function tasksOf(run: Run): Promise<readonly string[]> {
  return (await run.status()).tasks.map(({ label, status }) => `${label} ${status}`);
}

const subjects = ({ commits }: PipelineResult): readonly string[] => commits.map(({ subject }) => subject);

describe('a run whose code is reviewed after every task', () => {
  test('shows what was committed and what speaks for it, before anything else is begun', async ({
    dbPath,
  }) => {
    const { run } = await aRun(dbPath);
    const first = await run.resume();
    const [commit] = first.commits;
    expect(first).toMatchObject({
      status: 'waiting',
      gates: [{ kind: 'review', taskId: 'shop:1', message: expect.stringContaining('Read the code') }],
      commits: { length: 1 },
    });
    expect(shown(first)).toMatchObject({
      scope: 'task',
      epicName: null,
      taskIds: ['shop:1'],
      tasks: [
        {
          taskId: 'shop:1',
          name: 'Task 1',
          commit: commit?.sha,
          criteria: [
            { criterion: 'It is there.', shownBy: null },
            { criterion: 'It is tested.', shownBy: 'test/1.txt' },
          ],
        },
      ],
      range: {
        to: commit?.sha,
        commits: [{ subject: 'Task 1' }],
        files: [
          { path: 'document/1.txt', added: 1, removed: 0 },
          { path: 'implement/1.txt', added: 1, removed: 0 },
          { path: 'test/1.txt', added: 1, removed: 0 },
        ],
        total: { files: 3, added: 3, removed: 0 },
      },
      since: null,
      check: { command: 'scripted', passed: true, exitCode: 0, output: 'ok' },
      rejections: [],
    });
    expect(await tasksOf(run)).toEqual(['T1 completed', 'T2 pending', 'T3 pending']);
  });

  test('shows how long each check took, where the checks tell', async ({ dbPath }) => {
    const scripted = scriptedChecks();
    const part = { name: 'unit', kind: 'test', passed: true } as const;
    const checks: Checks = {
      run: async (request) => ({
        ...(await scripted.run(request)),
        durationMs: 700,
        parts: [
          { ...part, durationMs: 640 },
          { ...part, name: 'older' },
        ],
      }),
    };
    const { run } = await aRun(dbPath, { checks });
    const first = await run.resume();
    expect(shown(first).check).toEqual({
      ...{ command: 'scripted', summary: 'unit: passed; older: passed', passed: true, exitCode: 0 },
      ...{ output: 'ok', durationMs: 700 },
      parts: [
        { name: 'unit', passed: true, durationMs: 640 },
        { name: 'older', passed: true },
      ],
    });
  });

  test('is completed, and its epics are closed, only when the last code was approved', async ({ dbPath }) => {
    const { run } = await aRun(dbPath);
    await run.resume();
    await approve(run);
    expect((await run.state())?.epics.map(({ status }) => status)).toEqual(['active', 'pending']);
    const third = await approve(run);
    expect(shown(third).taskIds).toEqual(['shop:3']);
    expect(shown(third).range.commits).toHaveLength(1);
    expect((await run.state())?.epics.map(({ status }) => status)).toEqual(['completed', 'active']);
    expect(await approve(run)).toMatchObject({ status: 'completed', commits: { length: 3 } });
    expect((await run.state())?.epics.map(({ status }) => status)).toEqual(['completed', 'completed']);
  });

  test('takes a rejected task up again, with the reason, and asks again about both', async ({ dbPath }) => {
    const { run, requests } = await aRun(dbPath);
    const before = shown(await run.resume());
    const again = await reject(run, 'Name it sum.');
    expect(requests.map(({ attempt, guidance }) => [attempt, guidance])).toEqual([
      [1, []],
      [2, ['Name it sum.']],
    ]);
    const [first, second] = requests.map(({ rejectedDiff }) => rejectedDiff);
    expect(first).toBeUndefined();
    expect(second).toContain('+++ b/document/1.txt');
    expect(subjects(again)).toEqual(['Task 1', 'Task 1 (rework 1)']);
    expect(shown(again)).toMatchObject({
      taskIds: ['shop:1'],
      range: { from: before.range.from, to: again.commits[1]?.sha, commits: { length: 2 } },
      since: before.range.to,
      rejections: [{ by: 'ada', feedback: 'Name it sum.' }],
    });
    const log = (await run.log()).map(({ name, taskId }) => [name, taskId]);
    expect(log).toContainEqual(['TASK_REOPENED', 'shop:1']);
    expect(shown(await approve(run)).taskIds).toEqual(['shop:2']);
  });

  test('lets agents do what no test can show', async ({ dbPath }) => {
    const neverRedAgain = scriptedChecks([false, true, true, true, true, true]);
    const { run, requests } = await aRun(dbPath, { start: { tasks: oneTask }, checks: neverRedAgain });
    await run.resume();
    expect(subjects(await reject(run, 'Shorter, please.'))).toEqual(['Task 1', 'Task 1 (rework 1)']);
    expect(requests.map(({ attempt }) => attempt)).toEqual([1, 2]);
  });

  test('keeps what a human said when the agents fail to begin', async ({ dbPath }) => {
    let isBroken = false;
    const fake = fakeAgents();
    const { run, requests } = await aRun(dbPath, {
      agents: {
        writeTest: async (request, call) => {
          if (isBroken) {
            isBroken = false;
            throw new TypeError('cannot read x of undefined');
          }
          return fake.writeTest(request, call);
        },
      },
    });
    await run.resume();
    isBroken = true;
    const again = await reject(run, 'Name it sum.');
    expect(again).toMatchObject({ status: 'waiting', gates: [{ kind: 'review' }], commits: { length: 2 } });
    expect(requests.at(-1)?.guidance).toEqual(['Name it sum.']);
    expect(shown(again).rejections).toHaveLength(1);
  });

  test('asks again when the branch was moved before an approval was taken up', async ({ dbPath }) => {
    const { run, workspace } = await aRun(dbPath, { start: { tasks: oneTask } });
    const before = shown(await run.resume());
    const folder = await workspace.open('shop');
    await folder.apply([{ path: 'by-hand.txt', content: 'mine\n' }]);
    const hand = await folder.commit({ tree: await folder.snapshot(), message: 'By hand', stepKey: 'hand' });
    const again = await approve(run);
    expect(shown(again)).toMatchObject({
      taskIds: ['shop:1'],
      range: { from: before.range.from, to: hand, commits: { length: 2 } },
      since: before.range.to,
      check: { passed: true },
    });
    expect(await approve(run)).toMatchObject({ status: 'completed' });
  });

  test('reaches a goal when its code was approved', async ({ dbPath }) => {
    const { run } = await aRun(dbPath);
    expect(await run.resume({ only: 'T1' })).toMatchObject({
      status: 'waiting',
      gates: [{ kind: 'review' }],
    });
    expect(await approve(run)).toMatchObject({ status: 'paused', reason: 'T1 is finished' });
    expect(await tasksOf(run)).toEqual(['T1 completed', 'T2 pending', 'T3 pending']);
  });
});

describe('a run whose code is reviewed after every epic', () => {
  const epicRun = { start: { review: 'epic' } } as const;

  test('shows the commits of an epic together, and begins no other before', async ({ dbPath }) => {
    const { run } = await aRun(dbPath, epicRun);
    const first = await run.resume();
    expect(first.gates).toMatchObject([{ kind: 'review', taskId: 'shop/epic-1' }]);
    expect(shown(first)).toMatchObject({
      epicName: 'First',
      taskIds: ['shop:1', 'shop:2'],
      range: { total: { files: 6 } },
    });
    const second = await approve(run);
    expect(shown(second)).toMatchObject({
      epicName: 'Second',
      taskIds: ['shop:3'],
      range: { total: { files: 3 } },
    });
    expect(await approve(run)).toMatchObject({ status: 'completed' });
  });

  test('reopens the tasks that are named, else the last one; what depends on them stays', async ({
    dbPath,
  }) => {
    const { run, requests } = await aRun(dbPath, epicRun);
    await run.resume();
    const again = await reject(run, 'Once more.', ['T1']);
    expect(subjects(again)).toEqual(['Task 1', 'Task 2', 'Task 1 (rework 1)']);
    expect(shown(again)).toMatchObject({ taskIds: ['shop:2', 'shop:1'], range: { commits: { length: 3 } } });
    expect(requests.map(({ attempt }) => attempt)).toEqual([1, 1, 2]);
    const third = await reject(run, 'And this.');
    expect(subjects(third).at(-1)).toBe('Task 1 (rework 2)');
    const both = await reject(run, 'All.', ['T2', 'T1']);
    expect(subjects(both).slice(-2)).toEqual(['Task 1 (rework 3)', 'Task 2 (rework 1)']);
    expect(shown(await approve(run)).epicName).toBe('Second');
  });

  test('shows what was finished of an epic whose last task was given up', async ({ dbPath }) => {
    const fake = fakeAgents({ strategies: ['same'] });
    const { run } = await aRun(dbPath, {
      ...epicRun,
      agents: {
        pivot: async () => ({ strategy: 'same', reason: 'none' }),
        review: async ({ task }) => ({ approved: task.taskId !== 'shop:2', comments: 'No.' }),
        implement: fake.implement,
      },
    });
    const stuck = await run.resume();
    expect(stuck.gates).toMatchObject([{ kind: 'task_failure', taskId: 'shop:2' }]);
    const reviewed = await decide(run, { action: 'skip' });
    expect(shown(reviewed)).toMatchObject({ epicName: 'First', taskIds: ['shop:1'] });
    expect(await tasksOf(run)).toEqual(['T1 completed', 'T2 skipped', 'T3 blocked']);
    expect(await approve(run)).toMatchObject({
      status: 'completed',
      reason: 'without T2, skipped by a person, and T3, blocked by that',
    });
  });
});

describe('a decision on code', () => {
  test.for([
    ['names a task that is not shown', { approved: false, feedback: 'No.', tasks: ['T2'] }, 'INVALID_ANSWER'],
    ['names no task by its label', { approved: false, feedback: 'No.', tasks: ['shop:1'] }, 'INVALID_ANSWER'],
    ['approves and names tasks', { approved: true, tasks: ['T1'] }, 'INVALID_ANSWER'],
    ['says no without a reason', { approved: false }, 'FEEDBACK_REQUIRED'],
  ] as const)('that %s is refused before anything is recorded', async ([, answer, code], { dbPath }) => {
    const { run } = await aRun(dbPath);
    const [gate] = (await run.resume()).gates as readonly [Gate];
    await expect(run.decide(gate, { ...answer, by: ada })).rejects.toThrow(expect.objectContaining({ code }));
    expect(await run.gates()).toHaveLength(1);
  });

  test("is no agent's, and a policy's where one is declared", async ({ dbPath }) => {
    const { run } = await aRun(dbPath, { start: { gates: { dag: 'auto', review: 'auto' } } });
    expect(await run.resume()).toMatchObject({ status: 'completed', commits: { length: 3 } });
    const decided = (await run.log()).filter(({ name }) => name === 'HITL_SESSION_DECIDED');
    expect(decided.map(({ payload }) => payload)).toContainEqual(
      expect.objectContaining({ kind: 'review', principal: 'policy:review=auto' }),
    );
    const reviews = (await run.state())?.hitlDecisions.filter(({ gate }) => gate === 'review');
    expect(reviews).toHaveLength(3);
    expect(reviews?.[0]).toMatchObject({ signal: { approved: true, approvedBy: 'review=auto' } });
  });

  test('by an agent is refused', async ({ dbPath }) => {
    const { run } = await aRun(dbPath);
    const [gate] = (await run.resume()).gates as readonly [Gate];
    const by = { kind: 'agent', id: 'developer' } as const;
    await expect(run.decide(gate, { approved: true, by })).rejects.toThrow(
      expect.objectContaining({ code: 'AGENT_MAY_NOT_DECIDE' }),
    );
  });

  test('is not asked for without a review, and no other word is one', async ({ dbPath }) => {
    const { run } = await aRun(dbPath, { start: { review: 'none' } });
    expect(await run.resume()).toMatchObject({ status: 'completed' });
    expect((await run.state())?.projectConfig).not.toHaveProperty('review');
    await expect(aRun(dbPath, { start: { id: 'x', review: 'file' as 'task' } })).rejects.toThrow(RangeError);
  });
});

test('no run that was waiting before there were reviews has to be accepted anew', async ({ dbPath }) => {
  const { run } = await aRun(dbPath, { start: { review: 'none', gates: {} } });
  await run.resume();
  const db = openReadOnly({ dbPath });
  const { graphFingerprint } = new ThreadStore(db).require('shop');
  db.close();
  expect(graphFingerprint).toBe('11e30c74547b730a9cab65cef0064b6a27f47fce34a8812e8208ae592bcde49c');
});

const oneTask: PlanResult = {
  ...PLAN,
  epics: [{ name: 'Only', description: 'One.', tasks: [aTask('1')] }],
};
