import { describe, expect, it } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { createDatabase } from '../../db/createDatabase.ts';
import { ada } from '../../engine/__tests__/ownGraph.ts';
import { internalsOf } from '../../engine/file/appInternals.ts';
import { DevsError } from '../../errors/DevsError.ts';
import { fakeAgents, MemoryWorkspace, scriptedChecks } from '../../testing/index.ts';
import { OrchestrationGraph } from '../graph.ts';
import { makePivotNode, strategyFingerprint } from '../nodes/pivotNode.ts';
import type { PivotRequest, PivotResult, StageAgents, TaskRequest } from '../ports.ts';
import { pivotAgentNode } from '../robustness.ts';
import type { GraphState } from '../types.ts';
import { aPipeline, driveToTheEnd, type Pipeline, type PipelineOptions } from './aPipeline.ts';
import { aState, aTask } from './aState.ts';

type Strategies = readonly string[];

/** Agents whose attempts fail until their strategy is `wanted`, with what they were asked. */
function stubborn(wanted: string, strategies: Strategies, fail: () => never) {
  const fake = fakeAgents({ strategies });
  const attempts: Omit<TaskRequest, 'workspace' | 'documents' | 'task'>[] = [];
  const pivots: PivotRequest[] = [];
  const agents: Partial<StageAgents> = {
    implement: async (request, call) => {
      const { workspace: _, documents: __, task: ___, ...attempt } = request;
      attempts.push(attempt);
      return request.strategy === wanted ? fake.implement(request, call) : fail();
    },
    pivot: (request, call) => {
      pivots.push(request);
      return fake.pivot?.(request, call) ?? fail();
    },
  };
  return { agents, attempts, pivots };
}

let port = 5000;
const sameError = (): never => {
  port += 1;
  throw new TypeError(`cannot read x of undefined at :${port}`);
};

/** Red tests, green code: what `scriptedChecks` says whatever is thrown between. */
const treeChecks = (pipeline: () => Pipeline | undefined) => ({
  run: async () => {
    const files = (await (await pipeline()?.workspace.open('shop'))?.list()) ?? [];
    const count = (kind: string): number => files.filter((file) => file.startsWith(kind)).length;
    const passed = count('implement/') >= count('test/');
    return {
      passed,
      exitCode: passed ? 0 : 1,
      timedOut: false,
      output: passed ? 'ok' : 'red',
      command: 'tree',
    };
  },
});

async function pipelineOf(db: Parameters<typeof aPipeline>[0], options: PipelineOptions): Promise<Pipeline> {
  let pipeline: Pipeline | undefined;
  pipeline = await aPipeline(db, { tasks: 1, checks: treeChecks(() => pipeline), ...options });
  return pipeline;
}

const eventsOf = ({ app }: Pipeline, ...names: readonly string[]): readonly unknown[] =>
  internalsOf(app)
    .store.log.list('shop', { afterSeq: 0 })
    .filter(({ name }) => names.includes(name))
    .map(({ name, payload }) => [name, payload]);

describe('a task that makes no progress, with a pivot agent', () => {
  test('three equal errors lead to one pivot, and the next attempts follow its strategy', async ({ db }) => {
    const { agents, attempts, pivots } = stubborn('Use one file', ['Use one file'], sameError);
    const pipeline = await pipelineOf(db, { agents });
    const { status, values, kinds } = await driveToTheEnd(pipeline);
    expect([status, kinds]).toEqual(['completed', ['design_approval', 'dag_approval']]);
    expect(attempts.map(({ attempt, strategy }) => [attempt, strategy])).toEqual([
      [1, undefined],
      [2, undefined],
      [3, undefined],
      [4, 'Use one file'],
    ]);
    expect(pivots).toMatchObject([
      { attempt: 3, reason: 'same_error', tried: [], guidance: [], refused: null },
    ]);
    expect(pivots[0]?.errors).toHaveLength(3);
    expect(eventsOf(pipeline, 'PIVOTED')).toEqual([
      ['PIVOTED', { taskId: 'shop:1', strategy: 'Use one file' }],
    ]);
    expect(values).toMatchObject({
      pivots: [
        { taskId: 'shop:1', strategy: 'Use one file', fingerprint: strategyFingerprint('use one file!') },
      ],
      taskAttempts: 4,
      taskPivots: 1,
      pendingRecoveryNode: null,
    });
  });

  test('spent turns and equal outputs are told apart', async ({ db }) => {
    const reasons: string[] = [];
    const fake = fakeAgents({ strategies: ['A', 'B'] });
    const agents: Partial<StageAgents> = {
      review: async ({ strategy, attempt }) => ({
        approved: strategy === 'B',
        comments: `Not like attempt ${attempt}.`,
      }),
      implement: (request, call) =>
        fake.implement({ ...request, attempt: request.strategy === 'A' ? 0 : request.attempt }, call),
      writeTest: (request, call) => fake.writeTest({ ...request, attempt: 0 }, call),
      document: (request, call) => fake.document({ ...request, attempt: 0 }, call),
      pivot: (request, call) => {
        reasons.push(request.reason);
        expect(request.observations.at(-1)).toEqual({
          action: 'review',
          observation: `Not like attempt ${request.attempt}.`,
        });
        return fake.pivot?.(request, call) ?? sameError();
      },
    };
    const pipeline = await pipelineOf(db, {
      agents,
      checks: scriptedChecks([false, true]),
      config: { hitlEntropyThreshold: 1 },
    });
    await driveToTheEnd(pipeline, ({ kind }) =>
      kind === 'task_failure' ? { action: 'skip' } : { approved: true },
    );
    expect(reasons.slice(0, 2)).toEqual(['turns_spent', 'same_output']);
  });

  test('a strategy that was tried is refused in any spelling, and another one is asked for', async ({
    db,
  }) => {
    const { agents, pivots } = stubborn('Third', ['First', ' first… ', 'Third'], sameError);
    const pipeline = await pipelineOf(db, { agents });
    expect(await driveToTheEnd(pipeline)).toMatchObject({ status: 'completed' });
    expect(pivots.map(({ tried, refused }) => [tried.length, refused])).toEqual([
      [0, null],
      [1, null],
      [1, ' first… '],
    ]);
  });

  test.for([['one that was tried', ['First', 'first', 'FIRST']]] as const)(
    'hands over to a human who proposes %s twice',
    async ([, strategies], { db }) => {
      const { agents, pivots } = stubborn('none', strategies, sameError);
      const pipeline = await pipelineOf(db, { agents });
      const gates: unknown[] = [];
      const result = await driveToTheEnd(pipeline, (gate) => {
        if (gate.kind !== 'task_failure') return { approved: true };
        gates.push(gate.artifact);
        return { action: 'skip' };
      });
      expect(pivots).toHaveLength(3);
      expect(gates).toMatchObject([{ reason: 'pivots_exhausted', strategies: [{ strategy: 'First' }] }]);
      expect(result).toMatchObject({ status: 'completed', values: { taskPivots: 0 } });
    },
  );

  const invalid = (): never => {
    throw new DevsError('No JSON.', { code: 'AGENT_INVALID_OUTPUT', remedy: 'Answer with JSON.' });
  };
  test.for([
    ['says nothing', async () => ({ strategy: ' … ', reason: 'none' })],
    ['answers what is no strategy', async () => ({ answer: 42 }) as unknown as PivotResult],
    ['answers nothing that can be read', async () => invalid()],
  ] as const)('hands over to a human whose pivot agent %s, after two calls', async ([, pivot], { db }) => {
    const { agents } = stubborn('none', [], sameError);
    let asked = 0;
    const pipeline = await pipelineOf(db, {
      agents: {
        ...agents,
        pivot: () => {
          asked += 1;
          return pivot();
        },
      },
    });
    const gates: unknown[] = [];
    const result = await driveToTheEnd(pipeline, (gate) => {
      if (gate.kind !== 'task_failure') return { approved: true };
      gates.push(gate.artifact);
      return { action: 'skip' };
    });
    expect([result.status, asked]).toEqual(['completed', 2]);
    expect(gates).toMatchObject([{ reason: 'pivot_invalid', strategies: [] }]);
    expect(eventsOf(pipeline, 'NODE_FAILED').length).toBe(3);
    expect(eventsOf(pipeline, 'GUARD_TRIPPED').at(-1)).toMatchObject([
      'GUARD_TRIPPED',
      { guard: 'failure_gate', measure: 'pivot_answers', level: 2, limit: 2 },
    ]);
  });

  test('one wrong answer of the pivot agent is followed by another question', async ({ db }) => {
    const { agents, attempts } = stubborn('Second', [], sameError);
    const answers = [invalid, () => ({ strategy: 'Second', reason: 'Better.' })];
    const pipeline = await pipelineOf(db, {
      agents: { ...agents, pivot: async () => (answers.shift() ?? invalid)() },
    });
    expect(await driveToTheEnd(pipeline)).toMatchObject({ status: 'completed' });
    expect(attempts).toHaveLength(4);
  });

  test('two pivots are followed by a human, never by a third', async ({ db }) => {
    const { agents, pivots, attempts } = stubborn('none', ['A', 'B', 'C', 'D'], sameError);
    const pipeline = await pipelineOf(db, { agents });
    await driveToTheEnd(pipeline, ({ kind }) =>
      kind === 'task_failure' ? { action: 'abort' } : { approved: true },
    );
    expect([pivots.length, attempts.length]).toEqual([2, 9]);
    expect(eventsOf(pipeline, 'FAILURE_GATE_OPENED')).toHaveLength(1);
  });

  test('costs the same calls when the run is paused after every node', async ({ db, dbPath }) => {
    const callsOf = async (file: typeof db, pauses: boolean): Promise<readonly string[]> => {
      const calls: string[] = [];
      const fake = fakeAgents({ tasks: 1, strategies: ['A', 'B'], onCall: (what) => calls.push(what) });
      const implement: StageAgents['implement'] = async (request, call) => {
        if (request.strategy === 'B') return fake.implement(request, call);
        calls.push('implement');
        return sameError();
      };
      const pipeline = await pipelineOf(file, { agents: { ...fake, implement } });
      let pause = new AbortController();
      if (pauses) pipeline.events.on('NODE_FINISHED', () => pause.abort());
      let result = await internalsOf(pipeline.app).drive('shop', { drain: pause.signal });
      let drives = 1;
      for (; result.status === 'paused' || result.status === 'waiting'; drives += 1) {
        for (const gate of result.gates) await pipeline.app.decide(gate, { approved: true, by: ada });
        pause = new AbortController();
        result = await internalsOf(pipeline.app).drive('shop', { drain: pause.signal });
      }
      expect([result.status, drives > 15]).toEqual(['completed', pauses]);
      return calls;
    };
    const other = createDatabase({ dbPath: `${dbPath}.other` });
    expect(await callsOf(db, true)).toEqual(await callsOf(other, false));
    other.close();
  });

  it('is not asked for a stage that has no task yet', async () => {
    const node = makePivotNode({
      agents: { ...fakeAgents({ strategies: ['A'] }) },
      workspace: new MemoryWorkspace(),
      checks: scriptedChecks(),
      now: Date.now,
    });
    expect(await node(aState())).toEqual(pivotAgentNode(aState()));
  });

  it('ends as without an agent where nobody can be asked: without a state file', async () => {
    const agents = { ...fakeAgents({ strategies: ['A'] }), implement: async () => sameError() };
    const pipeline = {
      agents,
      workspace: new MemoryWorkspace(),
      checks: scriptedChecks([false]),
      now: Date.now,
    };
    const { graph } = new OrchestrationGraph(undefined, { pipeline });
    const task = aTask(1, { status: 'in_progress' });
    const state = aState({
      tasks: [task],
      activeTaskId: task.taskId,
      taskPivots: 2,
      pendingRecoveryNode: 'pivot_agent',
    });
    const node = graph.nodes['pivot_agent'];
    const update = (await node?.invoke(state)) as Partial<GraphState>;
    expect(update).toEqual({
      status: 'strategy_pivot',
      projectConfig: { ...state.projectConfig, status: 'strategy_pivot' },
      pendingRecoveryNode: null,
    });
  });
});

describe('the fingerprint of a strategy', () => {
  it.each([
    ['Use one file.', 'use  ONE file'],
    ['a\nb', 'a b'],
    ['ﬁle', 'file'],
  ])('%j is %j', (one, other) => {
    expect(strategyFingerprint(one)).toBe(strategyFingerprint(other));
  });

  it('tells different words apart, in any script', () => {
    const words = ['Use one file', 'Use two files', 'Datei teilen', 'ファイルを分ける', 'файл'];
    expect(new Set(words.map(strategyFingerprint)).size).toBe(words.length);
  });
});
