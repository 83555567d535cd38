import { randomInt } from 'node:crypto';
import { START, StateGraph } from '@langchain/langgraph';
import { describe, expect } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { howMany } from '../../../../test/support/howMany.ts';
import { interceptStatements } from '../../../../test/support/interceptStatements.ts';
import { createDatabase } from '../../../db/createDatabase.ts';
import { OwnState, twoSteps } from '../../__tests__/ownGraph.ts';
import { durable } from '../../durable.ts';
import { step } from '../../node/step.ts';

/** Of the moments, one in so many; which, is another in every run. */
const EVERY = howMany('DEVS_TURNS_EVERY', 11);

describe('turns that are given at once', () => {
  test('of two keys one wins at every moment, and the other is refused or comes after it', async ({
    dbPath,
  }) => {
    const [db, elsewhere] = [createDatabase({ dbPath }), createDatabase({ dbPath })];
    for (const connection of [db, elsewhere]) connection.pragma('synchronous = OFF');
    let statements = 0;
    let act: (() => void) | null = null;
    let at = Number.POSITIVE_INFINITY;
    interceptStatements(db, (work) => {
      if (!db.inTransaction) {
        statements += 1;
        if (statements === at) act?.();
      }
      return work();
    });
    const app = durable(twoSteps(), { db });
    const other = durable(twoSteps(), { db: elsewhere });
    for (let moment = 1 + randomInt(EVERY); ; moment += EVERY) {
      const id = `run ${moment}`;
      await app.run(id, { log: ['0'] }, { turn: '0' });
      let second: Promise<unknown> | null = null;
      statements = 0;
      at = moment;
      act = () => {
        second = other.run(id, { log: ['b'] }, { turn: 'b' }).then(
          ({ status }) => status,
          (error: { code: string }) => error.code,
        );
      };
      const first = await app.run(id, { log: ['a'] }, { turn: 'a' }).then(
        ({ status }) => status,
        (error: { code: string }) => error.code,
      );
      at = Number.POSITIVE_INFINITY;
      if (second === null) break;
      const ends = [first, await second];
      expect(ends, id).toContain('completed');
      for (const end of ends) expect(['completed', 'INPUT_NOT_TAKEN'], id).toContain(end);
      const taken = [...(first === 'completed' ? ['a'] : []), ...(ends[1] === 'completed' ? ['b'] : [])];
      const { values } = await app.run(id);
      const inputs = values?.log.filter((word) => word === 'a' || word === 'b') ?? [];
      expect([...inputs].sort(), id).toEqual(taken);
    }
    expect(statements).toBeGreaterThan(10);
    for (const connection of [db, elsewhere]) connection.close();
  });

  test('of one key are one turn, whoever is first', async ({ db, dbPath }) => {
    let calls = 0;
    const graph = () =>
      new StateGraph(OwnState)
        .addNode('only', async () => {
          calls += 1;
          await new Promise((resolve) => setTimeout(resolve, 20));
          return { log: ['only'] };
        })
        .addEdge(START, 'only');
    const app = durable(graph(), { db });
    const elsewhere = createDatabase({ dbPath });
    const other = durable(graph(), { db: elsewhere });
    for (const turn of ['1', '2', '3']) {
      const both = await Promise.allSettled(
        [app, other].map((each) => each.run('run', { log: [turn] }, { turn })),
      );
      const ends = both.map((end) =>
        end.status === 'fulfilled' ? end.value.status : (end.reason as { code: string }).code,
      );
      expect(ends).toContain('completed');
      for (const end of ends) expect(['completed', 'THREAD_BUSY']).toContain(end);
    }
    expect(calls).toBe(3);
    expect((await app.run('run')).values?.log).toEqual(['1', 'only', '2', 'only', '3', 'only']);
    elsewhere.close();
  });

  test('a turn that another has followed meanwhile is told as it ended, and is not driven', async ({
    db,
    dbPath,
  }) => {
    const app = durable(twoSteps(), { db, gates: { second: () => 'go on?' } });
    const elsewhere = createDatabase({ dbPath });
    const other = durable(twoSteps(), { db: elsewhere, gates: { second: () => 'go on?' } });
    await app.run('run', { log: ['a'] }, { turn: '1' });
    const waiting = app.run('run', { log: ['a'] }, { turn: '1', wait: true });
    await other.cancel('run');
    await other.run('run', { log: ['b'] }, { turn: '2' });
    expect(await waiting).toMatchObject({ status: 'cancelled', turn: '1', values: { log: ['a', 'first'] } });
    elsewhere.close();
  });

  test('an earlier turn is told while the next one is driven', async ({ db, dbPath }) => {
    const elsewhere = createDatabase({ dbPath });
    const other = durable(twoSteps(), { db: elsewhere });
    const told: unknown[] = [];
    const graph = twoSteps(async ({ log }) => {
      if (log.length > 1) told.push(await other.run('run', { log: ['a'] }, { turn: '1' }));
      return {};
    });
    const app = durable(graph, { db });
    const first = await app.run('run', { log: ['a'] }, { turn: '1' });
    expect(await app.run('run', { log: ['b'] }, { turn: '2' })).toMatchObject({ status: 'completed' });
    expect(told).toEqual([first]);
    elsewhere.close();
  });

  test('a call that was cut off in a turn is given up with the next', async ({ db }) => {
    const abort = new AbortController();
    const graph = twoSteps(async () => {
      await step('call', ({ attempt, signal }) => {
        if (abort.signal.aborted) return attempt;
        abort.abort();
        signal.throwIfAborted();
        return attempt;
      });
      return {};
    });
    const app = durable(graph, { db });
    await app.run('run', { log: ['a'] }, { turn: '1', abort: abort.signal });
    const states = () => app.store.steps.listForThread('run').map(({ state }) => state);
    expect(states()).toEqual(['intent']);
    await app.cancel('run');
    expect(await app.run('run', { log: ['b'] }, { turn: '2' })).toMatchObject({ status: 'completed' });
    expect(states()).toEqual(['failed', 'done']);
  });

  test('a driver that was taken for dead does nothing to the next turn', async ({ db }) => {
    const app = durable(twoSteps(), { db });
    await app.run('run', { log: ['a'] }, { turn: '1' });
    const { threads } = app.store;
    const claim = threads.claim('run');
    if (claim.kind !== 'claimed') throw new Error('somebody drives it');
    const held = app.run('run', { log: ['b'] }, { turn: '2' });
    await expect(held).rejects.toMatchObject({
      code: 'INPUT_NOT_TAKEN',
      message: expect.stringContaining('holds the run'),
    });
    db.exec('UPDATE threads SET lease_expires_mono = 0'); // as after a laptop has slept
    expect(await app.run('run', { log: ['b'] }, { turn: '2' })).toMatchObject({ status: 'completed' });
    expect(() => threads.begin(claim.lease)).toThrow(expect.objectContaining({ code: 'LEASE_LOST' }));
  });
});
