import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { only } from '../../../../test/support/only.ts';
import { type DurableOptions, durable } from '../../../../test/support/runs/durable.ts';
import { notThroughRuns } from '../../../../test/support/runs/where.ts';
import { everyTable } from '../../../orchestration/__tests__/everyTable.ts';
import { EventStore } from '../../../state/events/EventStore.ts';
import { ada, type Own, OwnState, twoSteps } from '../../__tests__/ownGraph.ts';
import { internalsOf } from '../../file/appInternals.ts';
import { type StepOptions, step } from '../../node/step.ts';
import type { UsageReport } from '../usage.ts';

/** A node that makes eight calls side by side; each waits until all that may run do. */
function eightCallers(usage: UsageReport = {}, options: StepOptions = {}) {
  const made: string[] = [];
  const node = async () => {
    const names = Array.from({ length: 8 }, (_, index) => `call-${index}`);
    const call = (name: string) =>
      step(
        name,
        async ({ usage: report }) => {
          made.push(name);
          await new Promise((resolve) => setTimeout(resolve, 5));
          report(usage);
          return name;
        },
        options,
      );
    return { answer: await Promise.all(names.map(call)) };
  };
  return { made, builder: twoSteps(node) };
}

const tripped = (db: Database, run = 'run') =>
  new EventStore(db).list(run).filter(({ name }) => name === 'GUARD_TRIPPED');

/** Rounds of three nodes that lead to nothing; the first of them makes a call. */
function callingCircle(call: (n: number) => unknown = () => null) {
  const visits: string[] = [];
  const a = async () => {
    await step('call', () => call(visits.push('a')));
    return {};
  };
  const idle = (name: string) => () => {
    visits.push(name);
    return {};
  };
  const builder = new StateGraph(OwnState)
    .addNode('a', a)
    .addNode('b', idle('b'))
    .addNode('c', idle('c'))
    .addEdge(START, 'a')
    .addEdge('a', 'b')
    .addEdge('b', 'c')
    .addEdge('c', 'a');
  return { visits, builder };
}

/** A node with one call that makes so many requests, each looked at before it is made. */
function manyRequests(count: number, usage: UsageReport) {
  const attempts: number[] = [];
  const made: string[] = [];
  const node = async () => ({
    answer: await step('stage', ({ attempt, beforeRequest, usage: report }) => {
      attempts.push(attempt);
      while (made.length < count) {
        beforeRequest();
        made.push(`request ${made.length}`);
        report(usage);
      }
      return ['done'];
    }),
  });
  return { attempts, made, builder: twoSteps(node) };
}

describe('a budget within a call', () => {
  test.for([
    [{ calls: 3 }, { calls: 4 }, {}, 3],
    [{ tokens: 250 }, { tokens: 1000 }, { tokensIn: 90, tokensOut: 10 }, 3],
    [{ usd: 0.5 }, { usd: 5 }, { costUsd: 0.25 }, 2],
  ] as const)(
    '%j stops it before the request that would pass it, keeps what was reported, and it goes on',
    async ([budget, raise, usage, allowed], { db }) => {
      const { attempts, made, builder } = manyRequests(5, usage);
      const app = durable(builder, { db, budget });
      const first = await app.run('run', {});
      expect(first).toMatchObject({ status: 'waiting', gates: [{ kind: 'budget' }] });
      expect(made).toHaveLength(allowed);
      const { store } = internalsOf(app);
      expect(store.steps.costOf('run').requests).toBe(allowed);
      await app.decide(only(first.gates), { action: 'raise', ...raise, by: ada });
      expect(await app.run('run')).toMatchObject({ status: 'completed' });
      expect(attempts).toEqual([1, 2]);
      expect(made).toHaveLength(5);
      expect(store.steps.costOf('run').requests).toBe(5);
    },
  );

  test('lets a call end that needs no more, and does not look at work or at runs without a budget', async ({
    db,
  }) => {
    const exact = manyRequests(3, {});
    expect(await durable(exact.builder, { db, budget: { calls: 3 } }).run('exact', {})).toMatchObject({
      status: 'completed',
    });
    const free = manyRequests(50, {});
    expect(await durable(free.builder, { db }).run('free', {})).toMatchObject({ status: 'completed' });
    expect(free.attempts).toEqual([1]);
  });

  test('is a failure of its own where the call throws something else', async ({ db }) => {
    const node = async () => ({
      answer: await step('stage', ({ beforeRequest, usage }) => {
        usage({});
        try {
          beforeRequest();
        } catch {
          throw new Error('lost');
        }
        return ['done'];
      }),
    });
    const app = durable(twoSteps(node), { db, budget: { calls: 1 } });
    await expect(app.run('run', {})).rejects.toThrow('lost');
  });
});

describe('a budget', () => {
  test('that a human raised is a decision: the depth guard counts anew from there', async ({ db }) => {
    const { builder, visits } = callingCircle();
    const app = durable(builder, { db, budget: { calls: 2 }, guards: { maxDepth: 8 } });
    const asked = await app.run('run', {});
    expect(only(asked.gates)).toMatchObject({ kind: 'budget' });
    expect(visits).toHaveLength(6);
    await app.decide(only(asked.gates), { action: 'raise', calls: 100, by: ada });
    const next = await app.run('run');
    expect(only(next.gates)).toMatchObject({ kind: 'recursion_limit', artifact: { depth: 8 } });
    expect(visits).toHaveLength(14);
  });

  test.for([{ usd: 5 }, { tokens: 9 }, { calls: 2, ms: 1000 }])(
    'is not raised by %j where its calls were passed; nothing is written',
    async (raise, { db }) => {
      const app = durable(eightCallers().builder, { db, budget: { calls: 3 } });
      const gate = only((await app.run('run', {})).gates);
      const before = everyTable(db);
      await expect(app.decide(gate, { action: 'raise', ...raise, by: ada })).rejects.toMatchObject({
        code: 'INVALID_ANSWER',
        remedy: 'Raise calls, which the next call would exceed.',
      });
      expect(everyTable(db)).toEqual(before);
      await app.decide(gate, { action: 'raise', calls: 5, by: ada });
      expect(await app.run('run')).toMatchObject({ status: 'completed' });
    },
  );

  test('of three calls lets exactly three of eight parallel callers through; raised, it lets the others', async ({
    db,
  }) => {
    const { made, builder } = eightCallers();
    const app = durable(builder, { db, budget: { calls: 3 } });
    const first = await app.run('run', {});
    expect(first).toMatchObject({ status: 'waiting', gates: [{ kind: 'budget' }] });
    expect(made).toEqual(['call-0', 'call-1', 'call-2']);
    expect(only(first.gates)).toMatchObject({
      artifact: {
        node: 'first',
        limits: [{ measure: 'calls', limit: 3, spent: 3, reserved: 0, next: 1, taskId: null }],
      },
    });
    expect(
      internalsOf(app)
        .store.steps.listForThread('run')
        .map(({ state }) => state),
    ).toEqual(['done', 'done', 'done']);

    await app.decide(only(first.gates), { action: 'raise', calls: 2, by: ada });
    const second = await app.run('run');
    expect(second).toMatchObject({ status: 'waiting', gates: [{ kind: 'budget' }] });
    expect(made).toHaveLength(5);
    await app.decide(only(second.gates), { action: 'raise', calls: 3, by: ada });
    expect(await app.run('run')).toMatchObject({ status: 'completed' });
    expect(new Set(made).size).toBe(8);
    expect(made).toHaveLength(8);
    expect(tripped(db).map(({ payload }) => payload)).toMatchObject([
      { guard: 'budget', measure: 'calls', level: 3, limit: 3 },
      { guard: 'budget', measure: 'calls', level: 5, limit: 5 },
    ]);
  });

  test('of requests counts all that a call made, and takes the next ones to make as many', async ({ db }) => {
    const made: number[] = [];
    const builder = twoSteps(async () => {
      const ask = (n: number) =>
        step(`ask-${n}`, ({ usage }) => {
          made.push(n);
          usage({ tokensIn: 1, requests: 4 });
          return n;
        });
      await ask(1);
      return { answer: await Promise.all([2, 3, 4].map(ask)) };
    });
    const app = durable(builder, { db, budget: { calls: 10 } });
    const { gates } = await app.run('run', {});
    expect(made).toEqual([1, 2]);
    expect(only(gates)).toMatchObject({
      artifact: { limits: [{ measure: 'calls', limit: 10, spent: 8, reserved: 0, next: 4 }] },
    });
    await app.decide(only(gates), { action: 'raise', calls: 6, by: ada });
    expect(await app.run('run')).toMatchObject({ status: 'completed' });
    expect(internalsOf(app).store.steps.costOf('run')).toMatchObject({ calls: 4, requests: 16 });
  });

  test('is not passed by calls side by side that say what they may cost', async ({ db }) => {
    const { made, builder } = eightCallers({ costUsd: 1 }, { reserve: { usd: 1 } });
    const app = durable(builder, { db, budget: { usd: 3.5 } });
    const { gates } = await app.run('run', {});
    expect(made).toHaveLength(3);
    expect(only(gates)).toMatchObject({
      artifact: { limits: [{ measure: 'usd', limit: 3.5, spent: 3, reserved: 0, next: 1 }] },
    });
  });

  test.for([
    { costUsd: -5, tokensIn: -100, tokensOut: 1 },
    { costUsd: 1e12 },
    { tokensIn: 10, tokensOut: 0, tokensCached: 1_000_000, model: 'gpt-5' },
  ])(
    'is not won back, nor used up, by a call that says it used %j; its result stays',
    async (lie, { db }) => {
      const made: string[] = [];
      const node = async () => {
        const answer: string[] = [];
        for (const [name, usage] of [
          ['honest', { costUsd: 2, tokensIn: 7 }],
          ['lie', lie],
          ['next', { costUsd: 2 }],
        ] as const) {
          answer.push(
            await step(name, ({ usage: report }) => {
              made.push(name);
              report(usage);
              return name;
            }),
          );
        }
        return { answer };
      };
      const app = durable(twoSteps(node), { db, budget: { usd: 5 } });
      const { gates } = await app.run('run', {});
      expect(made).toEqual(['honest', 'lie']);
      expect(only(gates)).toMatchObject({ artifact: { limits: [{ spent: 4, reserved: 0, next: 2 }] } });
      expect(internalsOf(app).store.steps.costOf('run')).toMatchObject({ costUsd: 4, unpriced: 1 });
      const said = new EventStore(db).list('run').filter(({ name }) => name === 'USAGE_REFUSED');
      expect(said).toMatchObject([
        { payload: { node: 'first', step: 'lie', reason: expect.stringContaining('Expected') } },
      ]);
    },
  );

  test('asks nobody while calls in flight may take less than they hold back', async ({ db }) => {
    const { made, builder } = eightCallers({ costUsd: 0.1 }, { reserve: { usd: 1 } });
    const app = durable(builder, { db, budget: { usd: 2 } });
    expect(await app.run('run', {})).toMatchObject({ status: 'completed' });
    expect(made).toHaveLength(8);
    expect(internalsOf(app).store.steps.costOf('run')).toMatchObject({ calls: 8, unpriced: 0 });
  });

  test('lets no call begin that waited for one beside it until the run was told to stop', async ({ db }) => {
    const stop = new AbortController();
    const made: string[] = [];
    const node = async () => {
      const first = step(
        'first',
        async ({ usage }) => {
          await new Promise((resolve) => setTimeout(resolve, 20));
          made.push('first');
          usage({ tokensIn: 1 });
          stop.abort();
        },
        { reserve: { tokens: 10 } },
      );
      await Promise.all([first, step('second', () => made.push('second'), { reserve: { tokens: 9 } })]);
      return {};
    };
    const app = durable(twoSteps(node), { db, budget: { tokens: 10 } });
    expect(await app.run('run', {}, { drain: stop.signal })).toMatchObject({ status: 'paused' });
    expect(made).toEqual(['first']);
    expect(await app.run('run')).toMatchObject({ status: 'completed' });
    expect(made).toEqual(['first', 'second']);
  });

  test('lets a call hold back as much as the largest before it', async ({ db }) => {
    const costs = [0.2, 0.5, 0.2, 0.2];
    const made: number[] = [];
    const node = async () => {
      for (const [index, costUsd] of costs.entries()) {
        await step(`call-${index}`, ({ usage }) => {
          made.push(index);
          usage({ costUsd });
        });
      }
      return {};
    };
    const app = durable(twoSteps(node), { db, budget: { usd: 1 } });
    const { gates } = await app.run('run', {});
    expect(made).toEqual([0, 1]); // 0.7 spent; the third may cost 0.5
    expect(only(gates)).toMatchObject({ artifact: { limits: [{ next: 0.5 }] } });
  });

  test.for([
    ['tokens', { tokens: 100 }, { tokensIn: 60, tokensOut: 50 }],
    ['usd', { usd: 1 }, { costUsd: 1 }],
    ['usd', { usd: 1 }, { tokensIn: 2_000_000, tokensOut: 0, model: 'gpt-5' }],
  ] as const)('of %s %j stops the call after one that used %j', async ([measure, budget, usage], { db }) => {
    const node = async () => {
      await step('one', ({ usage: report }) => report(usage));
      await step('two', () => expect.fail('the second call was made'));
      return {};
    };
    const { gates } = await durable(twoSteps(node), { db, budget }).run('run', {});
    expect(only(gates)).toMatchObject({ kind: 'budget', artifact: { step: 'two', limits: [{ measure }] } });
  });

  test('of time counts driving and not the wait for a human', async ({ db }) => {
    let now = 0;
    const work = () => {
      now += 600;
    };
    const node = async () => {
      for (const name of ['one', 'two', 'three']) await step(name, work);
      return {};
    };
    const app = durable(twoSteps(node), { db, budget: { ms: 1000 }, now: () => now });
    const first = await app.run('run', {});
    expect(only(first.gates)).toMatchObject({
      artifact: { step: 'three', limits: [{ measure: 'ms', limit: 1000, spent: 1200 }] },
    });
    now += 1_000_000;
    await app.decide(only(first.gates), { action: 'raise', ms: 300, by: ada });
    expect(await app.run('run')).toMatchObject({ status: 'completed' });
  });

  test(
    'of time counts none that a clock set back seems to take, and goes on counting from there',
    notThroughRuns('watches its own store'),
    async ({ db }) => {
      let now = 10_000;
      const steps = [600, -5_000, 200, 300];
      const node = async () => {
        for (const [index, ms] of steps.entries())
          await step(`${index}`, () => {
            now += ms;
          });
        return {};
      };
      const app = durable(twoSteps(node), { db, budget: { ms: 5_000 }, now: () => now });
      expect((await app.run('run', {})).status).toBe('completed');
      expect(internalsOf(app).store.budgets.usesOf('run')).toMatchObject([{ measure: 'ms', spent: 1_100 }]);
    },
  );

  test('lets work pass, and counts no work', async ({ db }) => {
    const node = async () => {
      for (const name of ['a', 'b', 'c']) await step(name, () => name, { kind: 'work' });
      await step('call', () => 1);
      return {};
    };
    expect(await durable(twoSteps(node), { db, budget: { calls: 1 } }).run('run', {})).toMatchObject({
      status: 'completed',
    });
  });

  test('ends the run that its human aborts, with the reason', async ({ db }) => {
    const { builder } = eightCallers();
    const app = durable(builder, { db, budget: { calls: 1 } });
    const { gates } = await app.run('run', {});
    await app.decide(only(gates), { action: 'abort', by: ada });
    expect(await app.run('run')).toMatchObject({ status: 'cancelled', reason: 'aborted by a human' });
  });

  test('is raised by no policy and no agent', notThroughRuns('asks another method'), async ({ db }) => {
    const { builder } = eightCallers();
    const app = durable(builder, { db, budget: { calls: 1 } });
    await internalsOf(app).recordRun({ threadId: 'run', input: {}, policies: { gates: { budget: 'auto' } } });
    const { gates } = await app.run('run');
    const raise = { action: 'raise', calls: 1 } as const;
    const decide = (by: { kind: 'policy' | 'agent'; id: string }) =>
      app.decide(only(gates), { ...raise, by });
    await expect(decide({ kind: 'policy', id: 'budget=auto' })).rejects.toThrow(/has no policy/);
    await expect(decide({ kind: 'agent', id: 'architect' })).rejects.toThrow(/agent cannot/);
  });

  test('stops a node that catches what refuses its call', async ({ db }) => {
    const node = async () => {
      await step('one', () => 1);
      await step('two', () => 2).catch(() => 'never mind');
      return { answer: 'done without it' };
    };
    const app = durable(twoSteps(node), { db, budget: { calls: 1 } });
    expect(await app.run('run', {})).toMatchObject({ status: 'waiting', gates: [{ kind: 'budget' }] });
  });

  test('stops the calls that would follow beside the one it refused', async ({ db }) => {
    const made: string[] = [];
    const twoCalls = async (name: string) => {
      for (const call of ['first', 'second', 'third'])
        await step(`${name} ${call}`, () => void made.push(call));
    };
    const node = async () => {
      await Promise.all(['a', 'b', 'c'].map(twoCalls));
      return {};
    };
    const app = durable(twoSteps(node), { db, budget: { calls: 4 } });
    const { gates } = await app.run('run', {});
    expect(made).toHaveLength(4);
    await app.decide(only(gates), { action: 'raise', calls: 5, by: ada });
    expect(await app.run('run')).toMatchObject({ status: 'completed' });
    expect(made).toHaveLength(9);
  });

  test('belongs to the run: another process without one is held to it', async ({ db }) => {
    const { builder } = eightCallers();
    await internalsOf(durable(builder, { db, budget: { calls: 1 } })).recordRun({
      threadId: 'run',
      input: {},
    });
    const { gates } = await durable(builder, { db, budget: { calls: 100 } }).run('run');
    expect(only(gates)).toMatchObject({ artifact: { limits: [{ limit: 1 }] } });
  });

  test('warns once from 80 % on', async ({ db }) => {
    const node = async () => {
      for (let index = 0; index < 10; index += 1) await step(`call-${index}`, () => index);
      return {};
    };
    await durable(twoSteps(node), { db, budget: { calls: 10 } }).run('run', {});
    const warned = new EventStore(db).list('run').filter(({ name }) => name === 'GUARD_WARNED');
    expect(warned.map(({ payload }) => payload)).toMatchObject([{ measure: 'calls', level: 8, limit: 10 }]);
  });

  test('counts a call that threw and was made again twice', async ({ db }) => {
    let left = 2;
    const node = async () => {
      await step('flaky', ({ usage }) => {
        usage({ tokensIn: 10, tokensOut: 0 });
        left -= 1;
        if (left >= 0) throw new Error('no connection');
      });
      return {};
    };
    const app = durable(twoSteps(node), { db, budget: { calls: 2 } });
    for (const status of ['failed', 'failed', 'waiting']) {
      expect((await app.run('run', {}, { throwOnFailure: false })).status).toBe(status);
    }
    expect(internalsOf(app).store.steps.costOf('run').tokensIn).toBe(20);
  });

  test('asks once for the branches of a super-step', async ({ db }) => {
    const State = Annotation.Root({
      log: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
    });
    const branch = (name: string) => async () => ({ log: [await step('call', () => name)] });
    const builder = new StateGraph(State)
      .addNode('left', branch('left'))
      .addNode('middle', branch('middle'))
      .addNode('right', branch('right'))
      .addEdge(START, 'left')
      .addEdge(START, 'middle')
      .addEdge(START, 'right')
      .addEdge('left', END);
    const app = durable(builder, { db, budget: { calls: 1 } });
    const { gates } = await app.run('run', {});
    await app.decide(only(gates), { action: 'raise', calls: 2, by: ada });
    expect(await app.run('run')).toMatchObject({
      status: 'completed',
      values: { log: ['left', 'middle', 'right'] },
    });
  });
});

describe('a limit that is none', () => {
  test.for([
    { usd: Number.NaN },
    { usd: 0 },
    { calls: 1.5 },
    { tokens: -1 },
    { ms: Number.POSITIVE_INFINITY },
    { dollars: 5 },
    { perTask: { calls: 0 } },
  ])('%j is refused before there is a run', (budget, { db }) => {
    const options = { db, budget } as DurableOptions<Own>;
    expect(() => durable(twoSteps(), options)).toThrow(RangeError);
  });
});
