import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { only } from '../../../test/support/only.ts';
import { ada, repeating } from '../../engine/__tests__/ownGraph.ts';
import { type DurableOptions, durable } from '../../engine/app/durable.ts';
import type { AgentAction } from '../../engine/entropy/EntropyPart.ts';
import { internalsOf } from '../../engine/file/appInternals.ts';
import type { GuardEvidence } from '../../events/events.ts';
import { EventStore } from '../../state/events/EventStore.ts';
import { fakeAgents } from '../../testing/index.ts';
import type { Checks, StageAgents } from '../ports.ts';
import { aPipeline, driveToTheEnd } from './aPipeline.ts';

/** Checks that are red in the same words. */
const red = (output: string): Checks => ({
  run: async () => ({ passed: false, exitCode: 1, timedOut: false, output, command: 'scripted' }),
});

/** What guards wrote about the score, as `EVENT level`. */
function entropyEvents(db: Database, threadId = 'shop'): readonly string[] {
  return new EventStore(db)
    .list(threadId)
    .filter(({ payload }) => (payload as Partial<GuardEvidence>).measure === 'entropy')
    .map(({ name, payload }) => `${name} ${(payload as GuardEvidence).level}`);
}

const approve = { approved: true, by: ada } as const;

/** Drives through both approvals to the first gate behind them. */
async function toFirstGate({ app }: Awaited<ReturnType<typeof aPipeline>>) {
  for (let approvals = 0; approvals < 2; approvals += 1) {
    await app.decide(only((await internalsOf(app).drive('shop')).gates), approve);
  }
  return only((await internalsOf(app).drive('shop')).gates);
}

describe('the entropy score in the pipeline', () => {
  test('hands a task to a human whose checks are red in the same words four times, and says why', async ({
    db,
  }) => {
    const pipeline = await aPipeline(db, { tasks: 1, checks: red('TypeError: total is not a function') });
    const gate = await toFirstGate(pipeline);
    expect(gate).toMatchObject({
      kind: 'task_failure',
      artifact: {
        reason: 'entropy_limit',
        turns: 4,
        entropy: {
          score: 0.7875,
          parts: [
            {
              part: 'same_error',
              evidence:
                'the same error 4 times (turns 1, 2, 3, 4): These fail: scripted. TypeError: total is not a function',
            },
          ],
        },
      },
    });
    expect(pipeline.calls.filter((call) => call === 'T1 implement')).toHaveLength(4);
    expect(entropyEvents(db)).toEqual(['GUARD_WARNED 0.675', 'GUARD_TRIPPED 0.7875']);
  });

  test('counts anew after a human answered, and can hand the task over again', async ({ db }) => {
    const pipeline = await aPipeline(db, { tasks: 1, checks: red('TypeError: total is not a function') });
    const answers = ['retry', 'abort'];
    const { status, kinds } = await driveToTheEnd(pipeline, ({ kind }) =>
      kind === 'task_failure' ? { action: answers.shift() } : { approved: true },
    );
    expect([status, kinds.slice(2)]).toEqual(['cancelled', ['task_failure', 'task_failure']]);
    expect(pipeline.calls.filter((call) => call === 'T1 implement')).toHaveLength(8);
    const opened = ['GUARD_WARNED 0.675', 'GUARD_TRIPPED 0.7875'];
    expect(entropyEvents(db)).toEqual([...opened, ...opened]);
    const gates = db.prepare('SELECT count(*) FROM hitl_failure_gates_history').pluck().get();
    expect(gates).toBe(2);
  });

  test('keeps silent while the number of failing tests falls', async ({ db }) => {
    let failing = 12;
    const checks: Checks = {
      run: async (request) => {
        failing -= 1;
        return red(`Tests  ${failing} failed | ${40 - failing} passed`).run(request);
      },
    };
    const pipeline = await aPipeline(db, { tasks: 1, checks, config: { maxRecursionDepth: 9 } });
    const gate = await toFirstGate(pipeline);
    expect(gate.kind).toBe('recursion_limit');
    expect(entropyEvents(db)).toEqual([]);
  });

  const sameTree = (strategies: readonly string[]): Partial<StageAgents> => {
    const fake = fakeAgents({ strategies });
    const same: StageAgents['implement'] = (request, call) =>
      fake.implement(
        { ...request, attempt: request.strategy === undefined ? 0 : request.strategy.length },
        call,
      );
    return {
      writeTest: async () => ({ summary: 'again', files: [] }),
      implement: same,
      document: async () => ({ summary: 'again', files: [] }),
      ...(fake.pivot && { pivot: fake.pivot }),
    };
  };

  test('lets the pivot go first when both are due, and says so; then it is the human’s turn', async ({
    db,
  }) => {
    const pipeline = await aPipeline(db, {
      tasks: 1,
      checks: red('Tests  1 failed | 3 passed'),
      agents: sameTree(['A', 'BB', 'CCC']),
    });
    const gate = await toFirstGate(pipeline);
    expect(gate.artifact).toMatchObject({
      reason: 'entropy_limit',
      strategies: [{ strategy: 'A' }, { strategy: 'BB' }],
      entropy: { parts: [{ part: 'same_error' }, { part: 'same_test_results' }] },
    });
    const episode = ['GUARD_WARNED 0.6356', expect.stringMatching(/^GUARD_SUPPRESSED 0\.8/)];
    expect(entropyEvents(db)).toEqual([
      ...episode,
      ...episode,
      'GUARD_WARNED 0.6356',
      expect.stringMatching(/^GUARD_TRIPPED 0\.8/),
    ]);
  });
});

const Talk = Annotation.Root({
  turns: Annotation<readonly AgentAction[]>({
    reducer: (left, right) => [...left, ...right],
    default: () => [],
  }),
});

type Guards = NonNullable<DurableOptions<typeof Talk.State>['guards']>;

/** A graph of one's own that makes the same call for ever, or `until` turns. */
function talking(
  db: Database,
  guards: Guards,
  { until = 30, score }: { until?: number; score?: number } = {},
) {
  const turn: AgentAction = {
    action: 'ask',
    tool: 'ask',
    output: 'Please try again later, the service is busy right now.',
  };
  const update = { turns: [turn] };
  const builder = new StateGraph(Talk)
    .addNode('ask', () => (score === undefined ? update : repeating(update, score)))
    .addEdge(START, 'ask')
    .addConditionalEdges('ask', ({ turns }) => (turns.length < until ? 'ask' : END));
  return durable(builder, { db, guards });
}

describe('the entropy score in a graph of one’s own', () => {
  const entropy: Guards['entropy'] = ({ turns }) => turns;

  test('reads the turns the author names, as the reducers merge them', async ({ db }) => {
    const app = talking(db, { entropy });
    const gate = only((await app.run('talk', {})).gates);
    expect(gate).toMatchObject({
      kind: 'task_failure',
      artifact: { node: 'ask', entropy: { score: 0.8269, parts: [{ part: 'same_output' }] } },
    });
    expect((await app.values('talk'))?.turns).toHaveLength(5);
    expect(entropyEvents(db, 'talk')).toEqual(['GUARD_WARNED 0.608', 'GUARD_TRIPPED 0.8269']);
  });

  test('asks after the last node too', async ({ db }) => {
    const app = talking(db, { entropy }, { until: 5 });
    const gate = only((await app.run('talk', {})).gates);
    expect(gate.artifact).toMatchObject({ entropy: { score: 0.8269 } });
    await app.decide(gate, { action: 'retry', by: ada });
    expect((await app.run('talk')).status).toBe('completed');
  });

  test('leaves out what is declared as polling', async ({ db }) => {
    const app = talking(db, { entropy, polling: ['ask'] }, { until: 8 });
    expect((await app.run('talk', {})).status).toBe('completed');
  });

  test('is not read unless asked for, whatever the threshold', async ({ db }) => {
    const app = talking(db, { entropyThreshold: 0 }, { until: 8 });
    expect((await app.run('talk', {})).status).toBe('completed');
  });

  test('gives way to the score a node gives itself', async ({ db }) => {
    const calm = talking(db, { entropy }, { until: 8, score: 0 });
    expect((await calm.run('calm', {})).status).toBe('completed');
    const sure = talking(db, { entropy }, { until: 8, score: 1 });
    expect((await sure.run('sure', {})).gates).toMatchObject([
      { artifact: { entropy: { score: 1, parts: [] } } },
    ]);
  });

  test('does not change what a reducer that works in place is given', async ({ db }) => {
    const InPlace = Annotation.Root({
      turns: Annotation<AgentAction[]>({
        reducer: (left, right) => {
          left.push(...right);
          return left;
        },
        default: () => [],
      }),
    });
    const ask = ({ turns }: typeof InPlace.State) => ({ turns: [{ action: `ask ${turns.length}` }] });
    const builder = new StateGraph(InPlace)
      .addNode('first', ask)
      .addNode('second', ask)
      .addEdge(START, 'first')
      .addEdge('first', 'second')
      .addEdge('second', END);
    const app = durable(builder, { db, guards: { entropy: ({ turns }) => turns } });
    const { values } = await app.run('talk', {});
    expect(values?.turns.map(({ action }) => action)).toEqual(['ask 0', 'ask 1']);
  });

  test('refuses turns that cannot be read, naming what is wrong', async ({ db }) => {
    const bad = [{ action: 'test', tests: { passed: Number.NaN, failed: 0 } }];
    const app = talking(db, { entropy: () => bad });
    expect(await app.run('talk', {}, { throwOnFailure: false })).toMatchObject({
      status: 'failed',
      reason: 'Expected tests.passed of turn 1 to be a count, got NaN.',
    });
  });
});
