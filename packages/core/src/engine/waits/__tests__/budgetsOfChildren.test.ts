import { setTimeout } from 'node:timers/promises';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { describe, expect } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { only } from '../../../../test/support/only.ts';
import { ada, twoSteps } from '../../__tests__/ownGraph.ts';
import { type DurableOptions, durable } from '../../app/durable.ts';
import { internalsOf } from '../../file/appInternals.ts';
import { step } from '../../node/step.ts';
import { child } from '../../node/waitFor.ts';

const State = Annotation.Root({ found: Annotation<number>() });

/** A graph that makes calls, one after the other, of 10 tokens each. */
function calling(count: number, made: string[]) {
  const work = async () => {
    for (let call = 1; call <= count; call += 1)
      await step(
        `call ${call}`,
        ({ usage, key }) => {
          made.push(key);
          usage({ tokensIn: 10 });
        },
        { reserve: { tokens: 10 } },
      );
    return { found: count };
  };
  return new StateGraph(State).addNode('work', work).addEdge(START, 'work').addEdge('work', END);
}

describe('what a child uses', () => {
  const parentOf = (
    below: { run(id: string, input?: object): Promise<{ readonly values: { found: number } | null }> },
    ids: readonly string[],
    options: DurableOptions<never>,
  ) =>
    durable(
      twoSteps(async () => {
        const ended = await Promise.all(ids.map((id) => child(below, id, {})));
        return { log: ended.map(({ values }) => String(values?.found)) };
      }),
      options as object,
    );

  test('counts in the budget of its parent, which is asked about in the child', async ({ db }) => {
    const made: string[] = [];
    const below = durable(calling(3, made), { db });
    const app = parentOf(below, ['a'], { db, budget: { tokens: 20 } });
    expect(await app.run('p', {})).toMatchObject({ status: 'waiting', children: ['a'] });
    expect(made).toHaveLength(2);
    expect(internalsOf(app).store.budgets.usesOf('p')).toMatchObject([
      { measure: 'tokens', spent: 20, limit: 20 },
    ]);
    const gate = only(await below.gates('a'));
    expect(gate).toMatchObject({ kind: 'budget', artifact: { limits: [{ measure: 'tokens', run: 'p' }] } });
    await below.decide(gate, { action: 'raise', tokens: 10, by: ada });
    expect(await app.run('p')).toMatchObject({ status: 'completed', values: { log: ['3', 'second'] } });
    expect(made).toHaveLength(3);
    expect(internalsOf(app).store.budgets.usesOf('p')).toMatchObject([
      { measure: 'tokens', spent: 30, limit: 30 },
    ]);
  });

  test('side by side does not pass it together, in runs of runs either', async ({ db }) => {
    const made: string[] = [];
    const leaf = durable(calling(4, made), { db });
    const middle = durable(
      new StateGraph(State)
        .addNode('work', async () => ({ found: (await child(leaf, 'leaf', {})).values?.found ?? 0 }))
        .addEdge(START, 'work')
        .addEdge('work', END),
      { db },
    );
    const app = durable(
      twoSteps(async () => {
        await Promise.all([child(middle, 'm', {}), child(leaf, 'l', {})]);
        return {};
      }),
      { db, budget: { calls: 5 } },
    );
    expect(await app.run('p', {})).toMatchObject({ status: 'waiting' });
    expect(made).toHaveLength(5);
    expect(internalsOf(app).store.budgets.usesOf('p')).toMatchObject([{ measure: 'calls', spent: 5 }]);
  });

  test('is held back for a call in flight, and shown so where another child asks for more', async ({
    db,
  }) => {
    const has = { begun: false, asked: false };
    const until = async (what: keyof typeof has): Promise<void> => {
      while (!has[what]) await setTimeout(1);
    };
    const reserve = { tokens: 10, usd: 1 };
    const first = async () => {
      await step(
        'holds',
        async ({ usage }) => {
          has.begun = true;
          await until('asked');
          usage({ tokensIn: 4, costUsd: 0.5 });
        },
        { reserve },
      );
      return {};
    };
    const second = async () => {
      await until('begun');
      try {
        await step('asks', () => expect.fail('it was made'), { reserve: { tokens: 15, usd: 2 } });
      } finally {
        has.asked = true;
      }
      return {};
    };
    const of = (work: () => Promise<object>) =>
      durable(new StateGraph(State).addNode('work', work).addEdge(START, 'work').addEdge('work', END), {
        db,
      });
    const [holding, asking] = [of(first), of(second)];
    const app = durable(
      twoSteps(async () => {
        await Promise.all([child(holding, 'a', {}), child(asking, 'b', {})]);
        return {};
      }),
      { db, budget: { tokens: 20, usd: 2.5 } },
    );
    expect(await app.run('p', {})).toMatchObject({ status: 'waiting' });
    expect(only(await asking.gates('b')).artifact).toMatchObject({
      limits: [
        { measure: 'usd', run: 'p', spent: 0, reserved: 1, next: 2, limit: 2.5 },
        { measure: 'tokens', run: 'p', spent: 0, reserved: 10, next: 15, limit: 20 },
      ],
    });
    expect(internalsOf(app).store.budgets.usesOf('p')).toMatchObject([{ spent: 0.5 }, { spent: 4 }]);
  });

  test('counts in the turn of its parent that has begun it, and in no later one', async ({ db }) => {
    const made: string[] = [];
    const below = durable(calling(2, made), { db });
    const app = durable(
      twoSteps(async ({ log }) => {
        await child(below, `of ${log.at(-1)}`, {});
        return {};
      }),
      { db, budget: { tokens: 30 } },
    );
    for (const turn of ['1', '2', '3'])
      expect(await app.run('p', { log: [turn] }, { turn })).toMatchObject({ status: 'completed' });
    expect(made).toHaveLength(6);
    expect(internalsOf(app).store.budgets.usesOf('p')).toMatchObject([
      { measure: 'tokens', spent: 20, limit: 30 },
    ]);
  });

  test('is limited by a budget of its own, too', async ({ db }) => {
    const made: string[] = [];
    const below = durable(calling(3, made), { db, budget: { calls: 1 } });
    const app = parentOf(below, ['a'], { db, budget: { tokens: 1000 } });
    expect(await app.run('p', {})).toMatchObject({ status: 'waiting', children: ['a'] });
    expect(made).toHaveLength(1);
    await below.decide(only(await below.gates('a')), { action: 'raise', calls: 2, by: ada });
    expect(await app.run('p')).toMatchObject({ status: 'completed' });
    expect(internalsOf(app).store.budgets.usesOf('p')).toMatchObject([{ spent: 30, limit: 1000 }]);
  });
});
