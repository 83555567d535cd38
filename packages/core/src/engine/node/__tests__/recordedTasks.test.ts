import {
  entrypoint,
  getConfig,
  getPreviousState,
  interrupt,
  START,
  StateGraph,
  task,
} from '@langchain/langgraph';
import { InMemoryCache, MemorySaver } from '@langchain/langgraph-checkpoint';
import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { only } from '../../../../test/support/only.ts';
import { durable } from '../../../../test/support/runs/durable.ts';
import { notThroughRuns } from '../../../../test/support/runs/where.ts';
import { testApp } from '../../../testing/TestApp.ts';
import { ada, OwnState } from '../../__tests__/ownGraph.ts';
import { step } from '../step.ts';
import { sleep, waitFor } from '../waitFor.ts';

const QUICK = { maxAttempts: 3, initialInterval: 1, jitter: false, logWarning: false } as const;

/** A task that counts its calls. */
function counting(name = 'add') {
  const calls: unknown[] = [];
  const called = task(name, async (what: unknown) => {
    calls.push(what);
    return `${name} ${String(what)}`;
  });
  return { calls, called };
}

const stepsIn = (db: Database) =>
  db
    .prepare<[], string>(
      "SELECT name || ' ' || kind || ' ' || state || ' ' || attempt FROM agent_steps ORDER BY name",
    )
    .pluck()
    .all();

describe('a task', () => {
  test('is a step of its own kind of name, and is not called again when its run is tried again', async ({
    db,
  }) => {
    const { calls, called } = counting();
    let isDown = true;
    const flow = entrypoint('flow', async (what: string) => {
      const results = [await called(what), await called(`${what} again`)];
      if (isDown) throw new Error('down');
      return results;
    });
    const app = durable(flow, { db });
    const told: string[] = [];
    app.events.on('STEP_FINISHED', ({ node, step: name }) => told.push(`${node}: ${name}`));
    await expect(app.run('run', 'x')).rejects.toThrow('down');
    isDown = false;
    expect(await app.run('run')).toMatchObject({ status: 'completed', values: ['add x', 'add x again'] });
    expect(calls).toEqual(['x', 'x again']);
    expect(told).toEqual(['flow: task add', 'flow: task add 2']);
    expect(stepsIn(db)).toEqual(['task add call done 1', 'task add 2 call done 1']);
  });

  test('may have the name of a step beside it, and of one inside it', async ({ db }) => {
    const add = task('add', async (what: string) => step('add', () => `inside ${what}`));
    const flow = entrypoint('flow', async (what: string) => [
      await add(what),
      await step('add', () => 'beside'),
      await add(what),
    ]);
    const { values } = await durable(flow, { db }).run('run', 'x');
    expect(values).toEqual(['inside x', 'beside', 'inside x']);
  });

  test('of a node that is tried again keeps its result', async ({ db }) => {
    const { calls, called } = counting();
    let failures = 2;
    const graph = new StateGraph(OwnState)
      .addNode(
        'node',
        async () => {
          const log = await Promise.all([called('a'), called('b')]);
          failures -= 1;
          if (failures >= 0) throw new Error('flaky');
          return { log };
        },
        { retryPolicy: QUICK },
      )
      .addEdge(START, 'node');
    expect((await durable(graph, { db }).run('run', {})).values).toEqual({ log: ['add a', 'add b'] });
    expect(calls).toEqual(['a', 'b']);
  });

  test('that is tried again has one record, and steps inside it theirs', async ({ db }) => {
    let attempts = 0;
    let made = 0;
    const flaky = task({ name: 'flaky', retry: QUICK }, async () => {
      const inside = await step('inside', () => {
        made += 1;
        return made;
      });
      attempts += 1;
      if (attempts < 3) throw new Error('flaky');
      return inside + attempts;
    });
    const { values } = await durable(
      entrypoint('flow', async () => flaky()),
      { db },
    ).run('run', {});
    expect({ values, made }).toEqual({ values: 4, made: 1 });
    expect(stepsIn(db)).toContain('task flaky call done 3');
  });

  test('counts against the budget before it is called', async ({ db }) => {
    const { calls, called } = counting();
    const flow = entrypoint('flow', async () => [await called(1), await called(2), await called(3)]);
    const app = durable(flow, { db, budget: { calls: 2 } });
    const { gates } = await app.run('run', 'x');
    expect(only(gates)).toMatchObject({ kind: 'budget' });
    expect(calls).toEqual([1, 2]);
    await app.decide(only(gates), { action: 'raise', calls: 1, by: ada });
    expect((await app.run('run')).values).toEqual(['add 1', 'add 2', 'add 3']);
    expect(calls).toEqual([1, 2, 3]);
  });

  test('may wait for a signal and for time; a step in it may not', async ({ db }) => {
    const pay = task('pay', async (order: string) => {
      await sleep(0);
      const { amount } = await waitFor<{ amount: number }>('paid');
      return `${order}: ${amount}`;
    });
    const bad = task('bad', async () => step('in a step', () => waitFor('paid')));
    const flow = entrypoint('flow', async (order: string) =>
      order === 'bad' ? bad() : Promise.all([pay(order), pay(`${order} too`)]),
    );
    const app = durable(flow, { db });
    await app.run('run', 'order');
    expect(await app.run('run', undefined, { throwOnFailure: false })).toMatchObject({ status: 'waiting' });
    await app.signal('run', 'paid', { amount: 1 }, { by: ada, signalId: 'first' });
    await app.signal('run', 'paid', { amount: 2 }, { by: ada, signalId: 'second' });
    expect((await app.run('run')).values).toEqual(['order: 1', 'order too: 2']);
    await expect(app.run('bad', 'bad')).rejects.toThrow('cannot be called inside a step');
  });

  test('is found in the cache of its entrypoint', async ({ db }) => {
    let calls = 0;
    const slow = task({ name: 'slow', cachePolicy: { ttl: 60 } }, async (x: number) => {
      calls += 1;
      return x * 2;
    });
    const flow = entrypoint({ name: 'flow', cache: new InMemoryCache() }, async (x: number) => slow(x));
    const app = durable(flow, { db });
    expect((await app.run('one', 2)).values).toBe(4);
    expect((await app.run('two', 2)).values).toBe(4);
    expect(calls).toBe(1);
  });

  test('is aborted by its timeout and by whoever stops the run', async ({ db }) => {
    let attempts = 0;
    const stop = new AbortController();
    const hang = task({ name: 'hang', timeout: 20, retry: QUICK }, async () => {
      attempts += 1;
      return attempts > 1 ? 'in time' : new Promise(() => {});
    });
    const stopped = task('stopped', async () => {
      const { signal } = getConfig();
      if (stop.signal.aborted) return 'resumed';
      stop.abort();
      return new Promise((_, reject) => {
        signal?.addEventListener('abort', () => reject(new Error('aborted')));
        if (signal?.aborted) reject(new Error('aborted'));
      });
    });
    const app = durable(
      entrypoint('flow', async () => [await hang(), await stopped()]),
      { db },
    );
    await expect(app.run('run', 'x', { signal: stop.signal })).rejects.toThrow();
    expect((await app.get('run'))?.status).toBe('paused');
    expect((await app.run('run')).values).toEqual(['in time', 'resumed']);
    expect(attempts).toBe(2);
  });

  test('begins no more once its run was asked to stop, and none twice', async ({ db }) => {
    const { calls, called } = counting();
    const stop = new AbortController();
    const flow = entrypoint('flow', async () => {
      const first = await called(1);
      stop.abort();
      return [first, await called(2)];
    });
    const app = durable(flow, { db });
    expect((await app.run('run', 'x', { drain: stop.signal })).status).toBe('paused');
    expect(calls).toEqual([1]);
    expect((await app.run('run')).values).toEqual(['add 1', 'add 2']);
    expect(calls).toEqual([1, 2]);
  });

  test('with a result that cannot be stored fails the run, whatever its caller makes of it', async ({
    db,
  }) => {
    const bad = task('bad', async () => ({ fn: () => 1 }));
    const flow = entrypoint('flow', async () => bad().catch(() => 'caught'));
    const ran = await durable(flow, { db }).run('run', 'x', { throwOnFailure: false });
    expect(ran).toMatchObject({ status: 'failed', error: { code: 'VALUE_NOT_STORABLE' } });
  });

  test('takes an answer only for what was asked', async ({ db }) => {
    let price = 1;
    const ask = task('ask', async () => [price, interrupt<object, string>({ price })]);
    const app = durable(
      entrypoint('flow', async () => ask()),
      { db },
    );
    const { gates } = await app.run('run', 'x');
    await app.decide(only(gates), { value: 'yes', by: ada });
    price = 2;
    const again = await app.run('run');
    expect(again).toMatchObject({ status: 'waiting', gates: [{ artifact: { price: 2 } }] });
    await app.decide(only(again.gates), { value: 'no', by: ada });
    expect((await app.run('run')).values).toEqual([2, 'no']);
  });

  test('of any name has its place', async ({ db }) => {
    const names = ['llm: write', 'a/b', '', 'ü 語', '__end__'];
    const tasks = names.map((name) => task(name, async () => step('inside', () => name)));
    const flow = entrypoint('flow', async () => {
      const results = await Promise.all(tasks.map((each) => each()));
      return [...results, interrupt('go on?')];
    });
    const app = durable(flow, { db });
    await app.decide(only((await app.run('run', 1)).gates), { value: 'yes', by: ada });
    expect((await app.run('run')).values).toEqual([...names, 'yes']);
    const parted = task('a|b', async () => 1);
    const ran = durable(
      entrypoint('flow', async () => parted()),
      { db },
    ).run('parted', 1);
    await expect(ran).rejects.toThrow('must not contain "|"');
  });
});

describe('an entrypoint', () => {
  const asks = (name = 'flow') =>
    entrypoint(name, async (text: string) => {
      const before = getPreviousState<{ count: number }>()?.count ?? 0;
      const said = interrupt<string, string>(text);
      return entrypoint.final({ value: { text, said, before }, save: { count: before + 1 } });
    });

  test('is left as it is, and runs by LangGraph alone beside', async ({ db }) => {
    const { calls, called } = counting();
    const flow = entrypoint({ name: 'flow', checkpointer: new MemorySaver() }, async (what: string) =>
      called(what),
    );
    const app = durable(flow, { db });
    expect((await app.run('run', 'a')).values).toBe('add a');
    expect(await flow.invoke('b', { configurable: { thread_id: 'plain' } })).toBe('add b');
    expect(await flow.invoke('b', { configurable: { thread_id: 'run' } })).toBe('add b');
    expect(calls).toEqual(['a', 'b', 'b']);
    expect(stepsIn(db)).toHaveLength(1);
  });

  test('remembers over turns what it saved', async ({ db }) => {
    const app = durable(asks(), { db });
    for (const [at, text] of ['one', 'two', 'three'].entries()) {
      const { gates } = await app.run('run', text, { turn: `${at}` });
      await app.decide(only(gates), { value: 'yes', by: ada });
      expect((await app.run('run')).values).toEqual({ text, said: 'yes', before: at });
    }
  });

  test(
    'is read and changed from outside as LangGraph does it',
    notThroughRuns('asks another method'),
    async ({ db }) => {
      const app = durable(asks(), { db });
      await app.run('run', 'x');
      expect(await app.getState('run')).toMatchObject({ next: ['flow'], tasks: [{ name: 'flow' }] });
      await app.updateState('run', { text: 'by hand', said: '', before: 7 }, { asNode: 'flow', by: ada });
      expect(await app.run('run')).toMatchObject({
        status: 'completed',
        values: { text: 'by hand', before: 7 },
      });
      expect((await app.getStateHistory('run')).map(({ metadata }) => metadata?.source)).toEqual([
        'update',
        'input',
      ]);
    },
  );

  test(
    'is forked, cancelled and checked before an upgrade',
    notThroughRuns('asks another method'),
    async ({ db }) => {
      const { calls, called } = counting();
      const flow = entrypoint('flow', async (text: string) => [
        await called(text),
        interrupt<string, string>(text),
      ]);
      const app = durable(flow, { db, version: '1' });
      await app.run('run', 'x');
      const [latest] = await app.getStateHistory('run', { limit: 1 });
      const checkpointId = String(latest?.config.configurable?.['checkpoint_id']);
      await app.fork('run', { as: 'fork', checkpointId, by: ada });
      await app.decide(only((await app.run('fork')).gates), { value: 'forked', by: ada });
      expect((await app.run('fork')).values).toEqual(['add x', 'forked']);
      expect(calls.length).toBeLessThanOrEqual(2);
      await expect(durable(asks('renamed'), { db }).run('run')).rejects.toMatchObject({
        code: 'GRAPH_CHANGED',
      });
      const newer = durable(flow, { db, version: '2' });
      await expect(newer.run('run')).rejects.toMatchObject({ code: 'GRAPH_CHANGED' });
      expect((await newer.checkUpgrade()).refused).toMatchObject([{ id: 'run' }]);
      await app.cancel('run');
      expect((await app.run('run', undefined, { throwOnFailure: false })).status).toBe('cancelled');
    },
  );

  test('takes no gates and no entropy, which are for nodes', ({ db }) => {
    // @ts-expect-error: it has no nodes
    expect(() => durable(asks(), { db, gates: { flow: () => 1 } })).toThrow('ask with interrupt()');
    expect(() => durable(asks(), { db, guards: { entropy: () => [] } })).toThrow('guards.entropy');
  });

  test('goes on in another process from any point of a task', async () => {
    const { calls, called } = counting();
    const app = testApp(entrypoint('flow', async (what: string) => [await called(what), await called('b')]));
    await app.crashAt('in step task add', 'run', 'a');
    await app.crashAt('after step task add 2', 'run');
    expect((await app.run('run')).values).toEqual(['add a', 'add b']);
    expect(calls).toEqual(['a', 'a', 'b']);
  });
});
