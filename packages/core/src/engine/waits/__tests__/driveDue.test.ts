import { END, START, StateGraph } from '@langchain/langgraph';
import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { only } from '../../../../test/support/only.ts';
import { ada, OwnState, says, twoSteps } from '../../__tests__/ownGraph.ts';
import { durable } from '../../app/durable.ts';
import { internalsOf } from '../../file/appInternals.ts';
import { step } from '../../node/step.ts';
import { sleep, waitFor } from '../../node/waitFor.ts';
import { AClock, DAY, HOUR } from './aClock.ts';

const napping = (db: Database, clock: AClock, hours = 1) =>
  durable(
    twoSteps(async () => {
      await sleep(hours * HOUR);
      return { log: ['slept'] };
    }),
    { db, now: clock.now },
  );

describe('runDue()', () => {
  test('drives the one that is due longest first, no more than it may', async ({ db }) => {
    const clock = new AClock();
    for (const [id, hours] of [
      ['late', 3],
      ['early', 1],
      ['middle', 2],
      ['never', 99],
    ] as const)
      await napping(db, clock, hours).run(id, {});
    clock.step(DAY);
    const app = napping(db, clock);
    const ids = async (limit?: number) =>
      (await app.runDue(limit === undefined ? {} : { limit })).driven.map(({ id }) => id);
    expect(await ids(2)).toEqual(['early', 'middle']);
    expect(await ids()).toEqual(['late']);
    expect(await ids()).toEqual([]);
  });

  test('takes another hour than the clock has, for what waits already', async ({ db }) => {
    const clock = new AClock();
    const graph = twoSteps(async () => {
      await sleep(HOUR);
      await sleep(HOUR);
      return {};
    });
    const app = durable(graph, { db, now: clock.now });
    await app.run('r', {});
    const until = clock.at + HOUR;
    expect((await app.runDue({ now: until - 1 })).driven).toEqual([]);
    expect(only((await app.runDue({ now: until + DAY })).driven)).toMatchObject({
      status: 'waiting',
      until,
    });
    expect(only((await app.runDue({ now: until })).driven)).toMatchObject({ status: 'completed' });
  });

  test('refuses what is no number of runs and no time', async ({ db }) => {
    const app = napping(db, new AClock());
    for (const limit of [0, -1, Number.NaN]) await expect(app.runDue({ limit })).rejects.toThrow(RangeError);
    for (const now of [Number.NaN, Number.POSITIVE_INFINITY])
      await expect(app.runDue({ now })).rejects.toThrow(RangeError);
  });

  const sleeper = (node: string, options: { readonly name?: string; readonly version?: string } = {}) => {
    return (db: Database, clock: AClock) =>
      durable(
        new StateGraph(OwnState)
          .addNode(node, async () => {
            await sleep(1);
            return {};
          })
          .addEdge(START, node)
          .addEdge(node, END),
        { db, now: clock.now, ...options },
      );
  };

  test('tells of runs that it cannot drive, which keep no other from it', async ({ db }) => {
    const clock = new AClock();
    const older = sleeper('nap')(db, clock);
    await older.run('old', {});
    const app = sleeper('nap', { version: '2' })(db, clock);
    await app.run('own', {});
    clock.step(HOUR);
    const { driven, refused } = await app.runDue({ limit: 1 });
    expect(only(driven)).toMatchObject({ id: 'own', status: 'completed' });
    expect(only(refused)).toMatchObject({ id: 'old', error: { code: 'GRAPH_CHANGED' } });
    expect((await older.runDue()).driven).toMatchObject([{ id: 'old', status: 'completed' }]);
  });

  test.for([
    ['of other nodes', {}, 'other', {}],
    ['of the same shape and another name', { name: 'mail' }, 'nap', { name: 'bill' }],
    ['of a changed shape and another name', { name: 'mail' }, 'nap', { name: 'bill', version: '2' }],
    ['without a name', { name: 'mail', version: '2' }, 'other', {}],
  ] as const)('looks at no run of another graph: %s', async ([, options, node, others], { db }) => {
    const clock = new AClock();
    const app = sleeper('nap', options)(db, clock);
    const other = sleeper(node, others)(db, clock);
    for (let index = 0; index < 5; index += 1) {
      await app.run(`own-${index}`, {});
      await other.run(`other-${index}`, {});
    }
    clock.step(HOUR);
    for (const [one, prefix] of [
      [app, 'own'],
      [other, 'other'],
    ] as const) {
      const { driven, refused } = await one.runDue();
      expect(refused).toEqual([]);
      expect(driven.map(({ id }) => id)).toEqual([0, 1, 2, 3, 4].map((index) => `${prefix}-${index}`));
    }
  });

  test('goes on with runs that were recorded before the app had a name, and not with those of another', async ({
    db,
  }) => {
    const clock = new AClock();
    await sleeper('nap')(db, clock).run('mine', {});
    await sleeper('nap', { version: '2' })(db, clock).run('theirs', {});
    await sleeper('nap', { version: '2', name: 'bill' })(db, clock).run('bill', {});
    clock.step(HOUR);
    const { driven, refused } = await sleeper('nap', { name: 'mail' })(db, clock).runDue();
    expect(only(driven)).toMatchObject({ id: 'mine', status: 'completed' });
    expect(refused).toEqual([]);
  });

  test('leaves a run alone that another process drives, or has driven meanwhile', async ({ db }) => {
    const clock = new AClock();
    const app = napping(db, clock);
    await app.run('r', {});
    clock.step(HOUR);
    await internalsOf(app).withLease('r', async () => {
      expect(await app.runDue()).toEqual({ driven: [], refused: [] });
    });
    // Both have read the same list before one of them drives.
    const [one, two] = await Promise.all([app.runDue(), app.runDue()]);
    expect([...one.driven, ...two.driven]).toMatchObject([{ id: 'r', status: 'completed' }]);
    expect([...one.refused, ...two.refused]).toEqual([]);
  });

  test('goes on with a run whose driver died after its hour', async ({ db }) => {
    const clock = new AClock();
    const app = napping(db, clock);
    await app.run('r', {});
    // As a process leaves it that is killed between the timer and the node.
    db.exec(
      "UPDATE waits SET state = 'due', ended_at = 0, row_sha256 = NULL; UPDATE threads SET status = 'running'",
    );
    expect(only((await app.runDue()).driven)).toMatchObject({ id: 'r', status: 'completed' });
  });

  test('goes on with a turn that was recorded and never driven, once nobody is about to', async ({ db }) => {
    const clock = new AClock();
    const app = durable(twoSteps(), { db, now: clock.now });
    for (const turn of ['1', '2']) {
      await app.start('r', { log: [turn] }, { turn });
      clock.step(9_999);
      expect(await app.runDue({ now: clock.at + DAY })).toEqual({ driven: [], refused: [] });
      clock.step(1);
      expect(only((await app.runDue()).driven)).toMatchObject({ id: 'r', status: 'completed', turn });
      expect(await app.runDue()).toEqual({ driven: [], refused: [] });
    }
    expect((await app.values('r'))?.log).toEqual(['1', 'first', 'second', '2', 'first', 'second']);
  });

  test('goes on with a run that has never waited and whose driver died', async ({ db }) => {
    const app = durable(twoSteps(), { db });
    await app.start('r', {});
    db.exec("UPDATE threads SET status = 'running'");
    expect(only((await app.runDue()).driven)).toMatchObject({ id: 'r', status: 'completed' });
  });

  test('goes on with a run that a process left which was told to stop', async ({ db }) => {
    const clock = new AClock();
    const leaving = new AbortController();
    const graph = twoSteps(async () => {
      await sleep(HOUR);
      await step('work', () => leaving.abort());
      await step('more', () => undefined);
      return {};
    });
    const app = durable(graph, { db, now: clock.now });
    await app.run('r', {});
    await app.run('other', {});
    clock.step(HOUR);
    const { driven } = await app.runDue({ drain: leaving.signal });
    expect(only(driven)).toMatchObject({ status: 'paused' });
    const left = (await app.runDue()).driven.map(({ id, status }) => [id, status]);
    expect(left.sort()).toEqual([
      ['other', 'completed'],
      ['r', 'completed'],
    ]);
  });

  test('leaves a run alone that somebody has paused', async ({ db }) => {
    const clock = new AClock();
    const app = durable(
      twoSteps(async () => {
        await sleep(HOUR);
        await step('work', () => app.pause('r'));
        await new Promise((resolve) => setTimeout(resolve, 600));
        await step('more', () => undefined);
        return {};
      }),
      { db, now: clock.now },
    );
    await app.run('r', {});
    clock.step(HOUR);
    expect(await app.run('r')).toMatchObject({ status: 'paused', reason: 'pause' });
    expect(await app.runDue()).toEqual({ driven: [], refused: [] });
  });

  test('leaves runs alone that wait for humans, or for what has not come', async ({ db }) => {
    const clock = new AClock();
    const app = durable(
      twoSteps(async () => ({ answer: await waitFor('x') })),
      { db, now: clock.now, gates: { first: () => 'go?' } },
    );
    const { gates } = await app.run('r', {});
    await app.signal('r', 'x', 1, { by: ada, signalId: '1' });
    expect((await app.runDue()).driven).toEqual([]);
    await app.decide(only(gates), { approved: true, by: ada });
    await app.run('other', {});
    expect(await app.run('r')).toMatchObject({ status: 'completed', values: { answer: 1 } });
    await app.signal('other', 'y', 1, { by: ada, signalId: '1' });
    expect((await app.runDue()).driven).toEqual([]);
  });
});

describe('a run that sleeps', () => {
  test('leaves a run alone that waits for a second signal and has taken the first of that name', async ({
    db,
  }) => {
    const app = durable(
      twoSteps(async () => ({ log: [await waitFor<string>('mail'), await waitFor<string>('mail')] })),
      { db },
    );
    await app.run('r', {});
    await app.signal('r', 'mail', 'one', { by: ada, signalId: '1' });
    expect(only((await app.runDue()).driven)).toMatchObject({ status: 'waiting', waitsFor: ['mail'] });
    expect((await app.runDue()).driven).toEqual([]);
    await app.signal('r', 'mail', 'two', { by: ada, signalId: '2' });
    expect(only((await app.runDue()).driven).values?.log).toEqual(['one', 'two', 'second']);
  });

  test('goes on under a changed graph with the date it had', async ({ db }) => {
    const clock = new AClock();
    const graph = (nap: string) =>
      durable(
        new StateGraph(OwnState)
          .addNode(nap, async () => {
            await sleep(HOUR);
            return { log: [nap] };
          })
          .addNode('last', says('last'))
          .addEdge(START, nap)
          .addEdge(nap, 'last')
          .addEdge('last', END),
        { db, now: clock.now },
      );
    await graph('nap').run('r', {});
    clock.step(HOUR / 2);
    const changed = graph('rest');
    await changed.acceptGraph('r', { by: ada, renamed: { nodes: { nap: 'rest' } } });
    expect(await changed.run('r')).toMatchObject({ status: 'waiting', until: clock.at + HOUR / 2 });
    clock.step(HOUR / 2);
    expect(only((await changed.runDue()).driven)).toMatchObject({ values: { log: ['rest', 'last'] } });
  });

  test('leaves a wait behind that its node does not come back to, with what others wait for', async ({
    db,
  }) => {
    let other = 'b';
    const app = durable(
      twoSteps(
        async () => ({ log: (await Promise.all([waitFor('a'), waitFor(other)])).map(String) }),
        async () => ({ log: [String(await waitFor('b'))] }),
      ),
      { db },
    );
    const tell = (name: string) => app.signal('r', name, name, { by: ada, signalId: name });
    expect(await app.run('r', {})).toMatchObject({ waitsFor: ['a', 'b'] });
    other = 'c';
    await tell('a');
    expect(await app.run('r')).toMatchObject({ waitsFor: ['c'] });
    await tell('b');
    expect((await app.runDue()).driven).toEqual([]);
    await tell('c');
    expect(only((await app.runDue()).driven)).toMatchObject({
      status: 'completed',
      values: { log: ['a', 'c', 'b'] },
    });
  });

  test('is removed with all that is kept of it', async ({ db }) => {
    const app = napping(db, new AClock());
    await app.run('r', {});
    await app.signal('r', 'x', 1, { by: ada, signalId: '1' });
    await internalsOf(app).withLease('r', async (lease) => internalsOf(app).store.remover.remove(lease));
    expect(
      db.prepare('SELECT (SELECT count(*) FROM waits) + (SELECT count(*) FROM signals)').pluck().get(),
    ).toBe(0);
  });
});
