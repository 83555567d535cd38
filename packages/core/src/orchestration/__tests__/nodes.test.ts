import { END, START, StateGraph } from '@langchain/langgraph';
import type { Database } from 'better-sqlite3';
import { describe, expect, test as plainTest } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { only } from '../../../test/support/only.ts';
import { ada, repeating } from '../../engine/__tests__/ownGraph.ts';
import { durable } from '../../engine/app/durable.ts';
import { internalsOf } from '../../engine/file/appInternals.ts';
import { EventStore } from '../../state/events/EventStore.ts';
import { FailureGateStore } from '../../state/guards/FailureGateStore.ts';
import { aPlan } from '../../testing/fakeAgents.ts';
import { scriptedChecks } from '../../testing/index.ts';
import { withDocuments } from '../nodes/documents.ts';
import { implementNode } from '../nodes/implementNode.ts';
import { planFrom } from '../nodes/plan.ts';
import { verifyNode } from '../nodes/verifyNode.ts';
import { endOfPipeline, pipelineProfile } from '../pipelineProfile.ts';
import type { DesignRequest, PlanResult, TaskDraft, TaskRequest } from '../ports.ts';
import { routeAfterImplement, routeAfterVerify } from '../routing.ts';
import { taskNumber } from '../taskStates.ts';
import { type GraphState, OrchestratorAnnotation } from '../types.ts';
import { aPipeline, driveToTheEnd, redInNewWays } from './aPipeline.ts';
import { AT, aChain, anEpic, aState, aTask, withApprovedDag } from './aState.ts';

const aDraft = (key: string, parts: Partial<TaskDraft> = {}): TaskDraft => ({
  key,
  name: key,
  description: key,
  dependsOn: [],
  requirements: [],
  acceptanceCriteria: [],
  ...parts,
});

const planOf = (tasks: readonly TaskDraft[], requirements: PlanResult['requirements'] = []): PlanResult => ({
  requirements,
  epics: [{ name: 'All', description: 'All.', tasks }],
});

describe('a proposed plan', () => {
  plainTest('gets ids of the engine’s own, by which its tasks depend on each other', () => {
    const draft: PlanResult = {
      requirements: [{ externalId: 'R1', description: 'It works.' }],
      epics: [
        { name: 'One', description: '1', tasks: [aDraft('a', { requirements: ['R1'] })] },
        { name: 'Two', description: '2', tasks: [aDraft('b', { dependsOn: ['a'] })] },
      ],
    };
    const { requirements, epics, tasks } = planFrom(aState(), draft);
    expect(requirements.map(({ requirementId }) => requirementId)).toEqual(['shop/R1']);
    expect(epics).toMatchObject([
      { epicId: 'shop/epic-1', phaseNumber: 1, requirementIds: ['shop/R1'], status: 'pending' },
      { epicId: 'shop/epic-2', phaseNumber: 2 },
    ]);
    expect(tasks).toMatchObject([
      { taskId: 'shop:1', epicId: 'shop/epic-1', requirementIds: ['shop/R1'], status: 'pending' },
      { taskId: 'shop:2', epicId: 'shop/epic-2', dependsOn: ['shop:1'] },
    ]);
  });

  plainTest('that replaces another one reuses none of its task ids', () => {
    const { tasks } = planFrom(aState({ tasks: aChain(7) }), aPlan(2));
    expect(tasks.map(({ taskId }) => taskId)).toEqual(['shop:8', 'shop:9']);
    expect(taskNumber('shop:9')).toBe(9);
  });

  plainTest.for([
    ['a key used twice', planOf([aDraft('a'), aDraft('a')]), 'task key "a" is used twice'],
    ['an unknown dependency', planOf([aDraft('a', { dependsOn: ['z'] })]), '"a" depends on "z"'],
    ['an unknown requirement', planOf([aDraft('a', { requirements: ['R9'] })]), 'unknown requirement "R9"'],
    ['a task that depends on itself', planOf([aDraft('a', { dependsOn: ['a'] })]), 'a → a'],
    [
      'a cycle',
      planOf([
        aDraft('a', { dependsOn: ['c'] }),
        aDraft('b', { dependsOn: ['a'] }),
        aDraft('c', { dependsOn: ['b'] }),
      ]),
      'a → c → b → a',
    ],
    [
      'a requirement named twice',
      planOf(
        [aDraft('a')],
        [
          { externalId: 'R1', description: 'x' },
          { externalId: 'R1', description: 'y' },
        ],
      ),
      'requirement id "R1" is used twice',
    ],
    [
      'an epic without tasks',
      { requirements: [], epics: [{ name: 'Empty', description: '', tasks: [] }] },
      'epic "Empty" has no tasks',
    ],
  ] as const)('with %s is refused as DAG_INVALID, and says where', ([_name, draft, message]) => {
    expect(() => planFrom(aState(), draft)).toThrow(
      expect.objectContaining({ code: 'DAG_INVALID', message: expect.stringContaining(message) }),
    );
  });

  plainTest('of a thousand tasks in a chain is walked without running out of stack', () => {
    const tasks = Array.from({ length: 1_000 }, (_, index) =>
      aDraft(`t${index}`, { dependsOn: index === 0 ? [] : [`t${index - 1}`] }),
    );
    expect(planFrom(aState(), planOf([...tasks].reverse())).tasks).toHaveLength(1_000);
  });
});

describe('documents', () => {
  const draft = { type: 'PRD', title: 'PRD', content: 'Sell.' };

  plainTest('are one per type; a changed one is its next version, an unchanged one stays approved', () => {
    const first = withDocuments(aState(), [draft], AT);
    const approved = first.map((document) => ({ ...document, status: 'approved' as const }));
    const state = aState({ documents: approved });
    expect(withDocuments(state, [draft], 'later')).toEqual(approved);
    expect(withDocuments(state, [{ ...draft, content: 'Sell more.' }], 'later')).toMatchObject([
      { documentId: 'shop/PRD', version: 2, status: 'draft', createdAt: AT, updatedAt: 'later' },
    ]);
    expect(withDocuments(state, [{ ...draft, type: 'TAS' }], 'later')).toHaveLength(2);
  });
});

describe('the pipeline with agents', () => {
  test('asks every agent once and commits each task', async ({ db }) => {
    const pipeline = await aPipeline(db);
    const { status, kinds, values } = await driveToTheEnd(pipeline);
    expect([status, kinds]).toEqual(['completed', ['design_approval', 'dag_approval']]);
    expect(pipeline.calls).toEqual([
      'research',
      'design',
      'distill',
      ...['1', '2'].flatMap((n) => [`T${n} test`, `T${n} implement`, `T${n} document`, `review shop:${n}`]),
    ]);
    expect(values?.tasks.map(({ gitHash }) => gitHash)).toEqual([
      expect.stringMatching(/^[0-9a-f]{64}$/),
      expect.stringMatching(/^[0-9a-f]{64}$/),
    ]);
    expect(values?.documents.map(({ type }) => type)).toEqual(['BRIEF', 'RESEARCH', 'PRD']);
  });

  test('asks again with the human’s words when a gate is rejected', async ({ db }) => {
    const requests: Pick<DesignRequest, 'attempt' | 'feedback'>[] = [];
    const pipeline = await aPipeline(db, {
      agents: {
        design: async ({ attempt, feedback }) => {
          requests.push({ attempt, feedback });
          return { documents: [{ type: 'PRD', title: 'PRD', content: `Version ${attempt}` }] };
        },
      },
    });
    const answers = [{ approved: false, feedback: 'Smaller.' }, { approved: true }];
    const { status, values } = await driveToTheEnd(pipeline, () => answers.shift() ?? { approved: true });
    expect(status).toBe('completed');
    expect(requests).toEqual([
      { attempt: 1, feedback: null },
      { attempt: 2, feedback: 'Smaller.' },
    ]);
    expect(values?.documents.at(-1)).toMatchObject({ content: 'Version 2', version: 2, status: 'approved' });
  });

  test('plans anew when the DAG is rejected; tasks of the same name keep their ids', async ({ db }) => {
    const pipeline = await aPipeline(db);
    const answers = [{ approved: true }, { approved: false, feedback: 'Fewer.' }];
    const { values } = await driveToTheEnd(pipeline, () => answers.shift() ?? { approved: true });
    expect(values?.tasks.map(({ taskId }) => taskId)).toEqual(['shop:1', 'shop:2']);
  });

  test('tells the agent what was red, and counts its attempts', async ({ db }) => {
    const seen: Pick<TaskRequest, 'attempt' | 'lastFailure'>[] = [];
    const checks = scriptedChecks([true, false, false, false, false, false, true]);
    const pipeline = await aPipeline(db, {
      tasks: 1,
      checks,
      agents: {
        writeTest: async ({ attempt, lastFailure }) => {
          seen.push({ attempt, lastFailure });
          return { summary: 'test', files: [] };
        },
      },
    });
    const { status, values } = await driveToTheEnd(pipeline);
    expect(status).toBe('completed');
    expect(seen).toEqual([
      { attempt: 1, lastFailure: null },
      { attempt: 2, lastFailure: expect.stringMatching(/passes before anything is implemented/) },
      { attempt: 3, lastFailure: expect.stringContaining('not ok') },
      { attempt: 4, lastFailure: expect.stringContaining('not ok') },
    ]);
    expect(values?.agentLogs.at(-1)).toMatchObject({ taskId: 'shop:1', metadata: { timestamp: AT } });
  });

  test('does not commit what the reviewer sent back', async ({ db }) => {
    const reviews = [
      { approved: false, comments: 'No tests.' },
      { approved: true, comments: 'Fine.' },
    ];
    const pipeline = await aPipeline(db, {
      tasks: 1,
      checks: scriptedChecks([false, true]),
      agents: { review: async () => reviews.shift() ?? { approved: true, comments: '' } },
    });
    const { status } = await driveToTheEnd(pipeline);
    expect([status, reviews]).toEqual(['completed', []]);
    const workspace = await pipeline.workspace.open('shop');
    expect(await workspace.log()).toHaveLength(1);
  });

  test('gives up a task after ten red turns, and ends failed without a commit', async ({ db }) => {
    const pipeline = await aPipeline(db, { tasks: 1, checks: redInNewWays() });
    const { status, reason, values } = await driveToTheEnd(pipeline);
    expect([status, reason]).toEqual(['failed', expect.stringContaining('no strategy made progress')]);
    expect(pipeline.calls.filter((call) => call === 'T1 implement')).toHaveLength(10);
    expect(values).toMatchObject({ status: 'strategy_pivot', pendingRecoveryNode: null });
    expect(values?.tasks).toMatchObject([{ status: 'failed' }]);
  });

  test('gives up a task whose turns leave one and the same tree three times', async ({ db }) => {
    const same = async () => ({ summary: 'again', files: [{ path: 'a.txt', content: 'the same\n' }] });
    const pipeline = await aPipeline(db, {
      tasks: 1,
      checks: scriptedChecks([false]),
      agents: { writeTest: same, implement: same, document: same },
    });
    const { values } = await driveToTheEnd(pipeline);
    expect(values).toMatchObject({
      status: 'strategy_pivot',
      entropy: [{ loopCount: 1 }, { loopCount: 2 }, { loopCount: 3 }],
    });
    expect(values?.agentLogs).toHaveLength(3);
  });

  test('asks about depth before the turns are spent when its limit is lower', async ({ db }) => {
    const pipeline = await aPipeline(db, {
      tasks: 1,
      checks: redInNewWays(),
      config: { maxRecursionDepth: 5 },
    });
    const answers = ['continue', 'abort'];
    const { status, reason, kinds } = await driveToTheEnd(pipeline, ({ kind }) =>
      kind === 'recursion_limit' ? { action: answers.shift() } : { approved: true },
    );
    expect(kinds.slice(2)).toEqual(['recursion_limit', 'recursion_limit']);
    expect([status, reason]).toEqual(['cancelled', 'aborted by a human']);
  });

  test('tries a stage again that threw, and pivots after three equal errors', async ({ db }) => {
    let failures = 2;
    const flaky = await aPipeline(db, {
      agents: {
        research: async () => {
          failures -= 1;
          if (failures >= 0) throw new SyntaxError(`answer ${failures} is no JSON`);
          return { documents: [] };
        },
      },
    });
    expect((await internalsOf(flaky.app).drive('shop')).gates).toMatchObject([{ kind: 'design_approval' }]);
  });

  test('ends failed when a stage keeps throwing, and says what it threw', async ({ db }) => {
    const pipeline = await aPipeline(db, {
      agents: {
        distill: async () => planOf([aDraft('a', { dependsOn: ['a'] })]),
      },
    });
    const { status, reason, values } = await driveToTheEnd(pipeline);
    expect(status).toBe('failed');
    expect(reason).toContain('a → a');
    expect(values?.errorHistory.map(({ consecutiveCount }) => consecutiveCount)).toEqual([1, 2, 3]);
  });
});

/** `implement` and `verify` as they are, `implement` with a score that says how stuck it is. */
function scoring(db: Database, scores: readonly number[]) {
  const left = [...scores];
  const builder = new StateGraph(OrchestratorAnnotation)
    .addNode('implement', (state) => repeating(implementNode(state), left.shift() ?? 0))
    .addNode('verify', verifyNode)
    .addEdge(START, 'implement')
    .addConditionalEdges('implement', routeAfterImplement)
    .addConditionalEdges('verify', routeAfterVerify);
  return durable(builder, { db }, { profile: pipelineProfile, endOf: endOfPipeline });
}

describe('the failure gate of a task', () => {
  const input = (): GraphState =>
    withApprovedDag(
      aState({
        epics: [anEpic(1)],
        tasks: [...aChain(2), aTask(3)],
        implementationTurns: 0,
        entropy: [{ outputHash: 'a', seenAt: AT, taskId: 'shop:1', loopCount: 2 }],
      }),
    );
  const start = async (db: Database, scores: readonly number[] = [0.8]) => {
    const app = scoring(db, scores);
    const gate = only((await app.run('shop', input())).gates);
    return { app, gate };
  };
  const eventsOf = (db: Database): readonly string[] =>
    new EventStore(db)
      .list('shop')
      .flatMap(({ name, taskId }) => (name.startsWith('TASK_') ? `${name} ${taskId}` : []));

  test('shows the task and why it was handed over, with the output already kept', async ({ db }) => {
    const { app, gate } = await start(db);
    expect(gate).toMatchObject({
      kind: 'task_failure',
      taskId: 'shop:1',
      artifact: { taskId: 'shop:1', name: 'Task 1', node: 'implement', turns: 1 },
    });
    expect((await app.values('shop'))?.tasks.map(({ status }) => status)).toEqual([
      'in_progress',
      'pending',
      'pending',
    ]);
  });

  test('answered retry works on with fresh counters and the human’s words', async ({ db }) => {
    const { app, gate } = await start(db);
    await app.decide(gate, { action: 'retry', guidance: 'Use a map.', by: ada });
    const { status, values } = await app.run('shop');
    expect(status).toBe('completed');
    expect(values).toMatchObject({
      guidance: [{ taskId: 'shop:1', text: 'Use a map.' }],
      pendingSuspension: null,
    });
    expect(new FailureGateStore(db).historyOf('shop:1')).toMatchObject([{ resolution: 'retry' }]);
  });

  test('answered skip gives the task up, blocks what depends on it, and goes on with the rest', async ({
    db,
  }) => {
    const { app, gate } = await start(db);
    await app.decide(gate, { action: 'skip', by: ada });
    const { status, reason, values } = await app.run('shop');
    expect(values?.tasks.map(({ status: is }) => is)).toEqual(['skipped', 'blocked', 'completed']);
    expect(values?.epics).toMatchObject([{ status: 'completed' }]);
    expect([status, reason]).toEqual([
      'completed',
      'without T1, skipped by a person, and T2, blocked by that',
    ]);
    expect(eventsOf(db)).toEqual(['TASK_SKIPPED shop:1', 'TASK_BLOCKED shop:2', 'TASK_COMPLETED shop:3']);
  });

  test('answered abort cancels the run, and touches no task', async ({ db }) => {
    const { app, gate } = await start(db);
    await app.decide(gate, { action: 'abort', by: ada });
    const { status, values } = await app.run('shop');
    expect(status).toBe('cancelled');
    expect(values?.tasks[0]?.status).toBe('in_progress');
  });

  test('trips again for the same task, and for another one', async ({ db }) => {
    const { app, gate } = await start(db, [0.8, 0.9, 0, 1]);
    const tripped = [gate.taskId];
    await app.decide(gate, { action: 'retry', by: ada });
    let result = await app.run('shop');
    while (result.status === 'waiting') {
      const next = only(result.gates);
      tripped.push(next.taskId);
      await app.decide(next, { action: 'retry', by: ada });
      result = await app.run('shop');
    }
    expect(tripped).toEqual(['shop:1', 'shop:1', 'shop:2']);
    expect(result.status).toBe('completed');
  });
});

describe('how a pipeline has ended', () => {
  plainTest.for([
    [{ status: 'completed', epics: [anEpic(1)] }, 'completed', null],
    [{ status: 'implementing', epics: [] }, 'completed', null],
    [{ status: 'implementing', epics: [anEpic(1)] }, 'failed', 'an epic failed'],
    [{ status: 'failed', epics: [anEpic(1)] }, 'failed', 'an epic failed'],
    [{ status: 'strategy_pivot', epics: [anEpic(1)] }, 'failed', 'no strategy made progress'],
  ] as const)('is read from its state: %o', ([parts, status, reason]) => {
    expect(endOfPipeline(aState(parts))).toEqual({ status, reason });
  });

  plainTest('is never END while a suspension is pending', () => {
    expect(
      routeAfterVerify(
        aState({ pendingSuspension: { sessionId: 's', kind: 'task_failure', taskId: 't', node: 'verify' } }),
      ),
    ).not.toBe(END);
  });
});
