import { randomInt } from 'node:crypto';
import { START, StateGraph } from '@langchain/langgraph';
import { describe, expect } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { howMany } from '../../../../test/support/howMany.ts';
import { interceptStatements } from '../../../../test/support/interceptStatements.ts';
import { createDatabase } from '../../../db/createDatabase.ts';
import { OwnState, twoSteps } from '../../__tests__/ownGraph.ts';
import { durable } from '../../app/durable.ts';
import { internalsOf } from '../../file/appInternals.ts';
import { step } from '../../node/step.ts';

/** Of the moments, one in so many; which, is another in every run. */
const EVERY = howMany('DEVS_TURNS_EVERY', 11);

/** Both connections of a test, without the waits of a real disk; `at` acts once, before a statement outside a transaction. */
function openTwice(dbPath: string) {
  const [db, elsewhere] = [createDatabase({ dbPath }), createDatabase({ dbPath })];
  for (const connection of [db, elsewhere]) connection.pragma('synchronous = OFF');
  let statements = 0;
  let planned: { readonly moment: number; readonly act: () => void } | null = null;
  interceptStatements(db, (work) => {
    if (!db.inTransaction) {
      statements += 1;
      if (statements === planned?.moment) planned.act();
    }
    return work();
  });
  const at = (moment: number, act: () => void) => {
    statements = 0;
    planned = { moment, act };
    return (): boolean => statements < moment;
  };
  return { db, elsewhere, at, statements: () => statements };
}

const failing = () =>
  twoSteps(() => {
    throw new Error('no');
  });

describe('turns that are given at once', () => {
  test('of two keys one wins at every moment, and the other is refused or comes after it', async ({
    dbPath,
  }) => {
    const { db, elsewhere, at, statements } = openTwice(dbPath);
    const app = durable(twoSteps(), { db });
    const other = durable(twoSteps(), { db: elsewhere });
    for (let moment = 1 + randomInt(EVERY); ; moment += EVERY) {
      const id = `run ${moment}`;
      await app.run(id, { log: ['0'] }, { turn: '0' });
      const others: Promise<string>[] = [];
      at(moment, () => {
        const second = other.run(id, { log: ['b'] }, { turn: 'b' }).then(
          ({ status }) => status,
          (error: { code: string }) => error.code,
        );
        others.push(second);
      });
      const first = await app.run(id, { log: ['a'] }, { turn: 'a' }).then(
        ({ status }) => status,
        (error: { code: string }) => error.code,
      );
      if (others.length === 0) break;
      const ends = [first, ...(await Promise.all(others))];
      expect(ends, id).toContain('completed');
      for (const end of ends) expect(['completed', 'INPUT_NOT_TAKEN'], id).toContain(end);
      const taken = [...(first === 'completed' ? ['a'] : []), ...(ends[1] === 'completed' ? ['b'] : [])];
      const { values } = await app.run(id);
      const inputs = values?.log.filter((word) => word === 'a' || word === 'b') ?? [];
      expect([...inputs].sort(), id).toEqual(taken);
    }
    expect(statements()).toBeGreaterThan(10);
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

  test('a turn is not driven in the place of the one before, whenever it begins', async ({ dbPath }) => {
    const { db, elsewhere, at } = openTwice(dbPath);
    const app = durable(failing(), { db });
    const { threads, inputs } = internalsOf(durable(failing(), { db: elsewhere })).store;
    let followed = 0;
    for (let moment = 1; ; moment += 1) {
      const id = `run ${moment}`;
      await app.run(id, { log: ['a'] }, { throwOnFailure: false, turn: '1' });
      const beginNext = (): void => {
        const claim = threads.claim(id);
        if (claim.kind === 'busy') return;
        inputs.end(id, { status: 'failed', reason: 'no', checkpointId: null });
        inputs.insert(id, { type: 'json', bytes: Buffer.from('{"log":["b"]}') }, '2');
        threads.beginTurn(claim.lease);
        threads.release(claim.lease);
        followed += 1;
      };
      const isOver = at(moment, beginNext);
      expect(await app.run(id, undefined, { throwOnFailure: false, turn: '1' }), id).toMatchObject({
        status: 'failed',
        turn: '1',
      });
      if (isOver()) break;
      if (inputs.find(id, '2') !== null)
        expect(inputs.latest(id)).toMatchObject({ key: '2', isTaken: false });
    }
    expect(followed).toBeGreaterThan(3);
    for (const connection of [db, elsewhere]) connection.close();
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
    const graph = twoSteps(async ({ log }) => {
      await step('call', () => {});
      if (log.length === 1) throw new Error('no');
      return {};
    });
    const app = durable(graph, { db });
    await app.run('run', { log: ['a'] }, { throwOnFailure: false, turn: '1' });
    db.exec("UPDATE agent_steps SET state = 'intent', seal = NULL"); // as a kill in the call leaves it
    const states = () =>
      internalsOf(app)
        .store.steps.listForThread('run')
        .map(({ state }) => state);
    expect(await app.run('run', { log: ['b'] }, { turn: '2' })).toMatchObject({ status: 'completed' });
    expect(states()).toEqual(['failed', 'done']);
  });

  test('a driver that was taken for dead does nothing to the next turn', async ({ db }) => {
    const app = durable(twoSteps(), { db });
    await app.run('run', { log: ['a'] }, { turn: '1' });
    const { threads } = internalsOf(app).store;
    const claim = threads.claim('run');
    if (claim.kind !== 'claimed') throw new Error('somebody drives it');
    const held = app.run('run', { log: ['b'] }, { turn: '2' });
    await expect(held).rejects.toMatchObject({
      code: 'INPUT_NOT_TAKEN',
      message: expect.stringContaining('is in use by process'),
    });
    db.exec('UPDATE threads SET lease_expires_mono = 0'); // as after a laptop has slept
    expect(await app.run('run', { log: ['b'] }, { turn: '2' })).toMatchObject({ status: 'completed' });
    expect(() => threads.begin(claim.lease)).toThrow(expect.objectContaining({ code: 'LEASE_LOST' }));
  });
});
