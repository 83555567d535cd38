import { START, StateGraph } from '@langchain/langgraph';
import { describe, expect } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { only } from '../../../../test/support/only.ts';
import { EventStore } from '../../../state/events/EventStore.ts';
import { ada, circle, OwnState, repeating, says, twoSteps } from '../../__tests__/ownGraph.ts';
import { durable } from '../../app/durable.ts';
import { internalsOf } from '../../file/appInternals.ts';
import { step } from '../../node/step.ts';

/** As many calls in one node as the input says, a dollar each. */
function paying() {
  let made = 0;
  const graph = new StateGraph(OwnState)
    .addNode('pay', async ({ log }) => {
      const calls = Number(log.at(-1));
      for (let call = 0; call < calls; call += 1) {
        await step(`call ${call}`, ({ usage }) => {
          made += 1;
          usage({ costUsd: 1 });
        });
      }
      return {};
    })
    .addEdge(START, 'pay');
  return { graph, made: () => made };
}

const inTurn = (turn: string, calls: number) => [{ log: [String(calls)] }, { turn }] as const;

describe('the guards of a turn', () => {
  test('a budget is that of one turn, and what the run has spent stays readable', async ({ db }) => {
    const { graph, made } = paying();
    const app = durable(graph, { db, budget: { calls: 3 } });
    for (const turn of ['1', '2', '3']) {
      expect(await app.run('run', ...inTurn(turn, 3))).toMatchObject({ status: 'completed' });
    }
    expect(made()).toBe(9);
    expect(internalsOf(app).store.steps.costOf('run')).toMatchObject({ calls: 9, costUsd: 9 });
    expect(internalsOf(app).store.budgets.usesOf('run')).toMatchObject([
      { measure: 'calls', spent: 3, limit: 3 },
    ]);
  });

  test('a question about it is of one turn: neither its answer nor its absence counts in the next', async ({
    db,
  }) => {
    const { graph, made } = paying();
    const app = durable(graph, { db, budget: { calls: 2 } });
    const first = await app.run('run', ...inTurn('1', 3));
    expect(only(first.gates)).toMatchObject({ kind: 'budget' });
    await app.cancel('run');

    const second = await app.run('run', ...inTurn('2', 3));
    expect(only(second.gates)).toMatchObject({
      kind: 'budget',
      artifact: { limits: [{ limit: 2, spent: 2 }] },
    });
    await app.decide(only(second.gates), { action: 'raise', calls: 5, by: ada });
    expect(await app.run('run')).toMatchObject({ status: 'completed', turn: '2' });
    expect(made()).toBe(5);

    const third = await app.run('run', ...inTurn('3', 3));
    expect(only(third.gates)).toMatchObject({
      kind: 'budget',
      artifact: { limits: [{ limit: 2, spent: 2 }] },
    });
    await app.decide(only(third.gates), { action: 'raise', calls: 1, by: ada });
    expect(await app.run('run')).toMatchObject({ status: 'completed', turn: '3' });
    const again = await app.run('run', ...inTurn('4', 9));
    expect(only(again.gates)).toMatchObject({ artifact: { limits: [{ limit: 2 }] } });
  });

  test('what a failed turn held back is not held back in the next', async ({ db }) => {
    const failing = new StateGraph(OwnState)
      .addNode('pay', async ({ log }) => {
        await step('call', () => {}, { reserve: { usd: 3 } });
        if (log.length === 1) throw new Error('no');
        return {};
      })
      .addEdge(START, 'pay');
    const app = durable(failing, { db, budget: { usd: 4 } });
    const [input, turn] = inTurn('1', 1);
    expect(await app.run('run', input, { ...turn, throwOnFailure: false })).toMatchObject({
      status: 'failed',
    });
    expect(await app.run('run', ...inTurn('2', 1))).toMatchObject({ status: 'completed' });
  });

  test('driven time counts by turn', async ({ db }) => {
    let now = 0;
    const slow = twoSteps(async () => {
      await step('call', () => {
        now += 60;
      });
      return {};
    });
    const app = durable(slow, { db, budget: { ms: 100 }, now: () => now });
    for (const turn of ['1', '2', '3']) {
      expect(await app.run('run', {}, { turn })).toMatchObject({ status: 'completed' });
    }
    expect(internalsOf(app).store.budgets.usesOf('run')).toMatchObject([{ measure: 'ms', spent: 60 }]);
  });

  test('depth counts from the first node of the turn', async ({ db }) => {
    const visits: string[] = [];
    const app = durable(
      circle((node) => visits.push(node)),
      { db, guards: { maxDepth: 4 } },
    );
    for (const turn of ['1', '2', '3']) {
      const { gates } = await app.run('run', {}, { turn });
      expect(only(gates)).toMatchObject({ kind: 'recursion_limit', artifact: { depth: 4, limit: 4 } });
      expect(visits.splice(0)).toEqual(['a', 'b', 'c']);
      await app.cancel('run');
    }
  });

  test('a node that was stuck in one turn is not in the next, nor asked about', async ({ db }) => {
    let score = 1;
    const app = durable(
      twoSteps(() => repeating({ log: ['first'] }, score)),
      { db },
    );
    const first = await app.run('run', {}, { turn: '1' });
    expect(only(first.gates)).toMatchObject({ kind: 'task_failure' });
    await app.cancel('run');
    score = 0;
    const second = await app.run('run', {}, { turn: '2' });
    expect(second).toMatchObject({
      status: 'completed',
      gates: [],
      values: { log: ['first', 'first', 'second'] },
    });
    score = 1;
    const third = await app.run('run', {}, { turn: '3' });
    expect(only(third.gates).sessionId).not.toBe(only(first.gates).sessionId);
  });

  test('a suspension that was asked at the end of a turn is not asked at the end of the next', async ({
    db,
  }) => {
    let score = 1;
    const app = durable(
      twoSteps(says('first'), () => repeating({ log: ['second'] }, score)),
      { db },
    );
    const first = await app.run('run', {}, { turn: '1' });
    await app.decide(only(first.gates), { action: 'retry', by: ada });
    expect(await app.run('run')).toMatchObject({ status: 'completed' });
    score = 0;
    expect(await app.run('run', {}, { turn: '2' })).toMatchObject({ status: 'completed', gates: [] });
  });

  test('recoveries count by turn', async ({ db }) => {
    const app = durable(twoSteps(), { db });
    await app.run('run', {}, { turn: '1' });
    db.exec('UPDATE threads SET recoveries = 5, recovery_counted_at = 1');
    const aborted = AbortSignal.abort();
    await app.run('run', {}, { turn: '2', drain: aborted });
    expect(internalsOf(app).store.threads.require('run')).toMatchObject({ status: 'paused', recoveries: 0 });
    expect(new EventStore(db).listNamed('run', 'RUN_RECOVERED')).toEqual([]);
  });
});
