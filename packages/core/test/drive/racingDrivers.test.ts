import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { everyTable } from '../../src/orchestration/__tests__/everyTable.ts';
import { HumanInTheLoopManager } from '../../src/orchestration/hitl.ts';
import { HitlSessionStore } from '../../src/state/gates/HitlSessionStore.ts';
import { localHost } from '../../src/state/threads/hostIdentity.ts';
import { test } from '../support/fixtures.ts';
import { howMany } from '../support/howMany.ts';
import { only } from '../support/only.ts';
import { tried } from '../support/tried.ts';
import { Desk, Driver } from './Drivers.ts';
import type { DriverAnswer, FreezePoint } from './driverProtocol.ts';

const ROUNDS = howMany('DEVS_RACED_ROUNDS', 15);

const ada = { kind: 'human', id: 'ada' } as const;

function approve(db: Database, answer: DriverAnswer): void {
  if ('code' in answer) throw new Error(`Expected open gates, got ${answer.code}.`);
  const { sessionId, artifactHash } = only(answer.gates);
  const { kind } = new HitlSessionStore(db).require(sessionId);
  const said = kind === 'interrupt' ? { value: true } : { approved: true };
  new HumanInTheLoopManager(db).decide(sessionId, { artifactHash, answer: said, by: ada });
}

/** Ends a lease as the time it lasts does. */
function expire(db: Database, id: string): void {
  db.prepare('UPDATE threads SET lease_expires_mono = ? WHERE thread_id = ?').run(
    localHost().monotonicMs() - 1,
    id,
  );
}

const leaseOf = (db: Database, id: string) =>
  db.prepare('SELECT lease_owner AS owner, lease_epoch AS epoch FROM threads WHERE thread_id = ?').get(id);

describe('two processes', { timeout: 120_000 }, () => {
  test(`that resume one approved run at once: one wins each of ${ROUNDS} rounds, the other is told, the node runs once`, async ({
    db,
    dbPath,
    task,
  }) => {
    const desk = new Desk(dbPath);
    const drivers = await Promise.all([Driver.start(dbPath), Driver.start(dbPath)]);
    for (let round = 0; round < ROUNDS; round += 1) {
      const id = `run-${round}`;
      approve(db, await only(drivers.slice(round % 2, (round % 2) + 1)).drive({ run: 'gated', id }));
      for (const driver of drivers) driver.tell({ run: 'gated', id, freeze: 'in a step' });
      // The winner stands still inside the guarded node until the loser has been told.
      const answers = drivers.map((driver, index) => driver.answer().then((answer) => ({ answer, index })));
      const first = await Promise.race(answers);
      expect([round, first.answer]).toEqual([round, { code: 'THREAD_BUSY' }]);
      desk.thaw(id);
      const winner = await answers[1 - first.index];
      tried(task, { ways: round + 1 });
      expect([round, winner?.answer]).toMatchObject([round, { status: 'waiting' }]);
    }
    expect(desk.effects('guarded')).toHaveLength(ROUNDS);
  });

  test('one killed, the other asked at once: it takes over without waiting for the lease to end', async ({
    db,
    dbPath,
  }) => {
    const desk = new Desk(dbPath);
    const [killed, next] = await Promise.all([Driver.start(dbPath), Driver.start(dbPath)]);
    approve(db, await killed.drive({ run: 'gated', id: 'run' }));
    killed.tell({ run: 'gated', id: 'run', freeze: 'in a step' });
    await desk.frozen('run');
    expect(await next.drive({ run: 'gated', id: 'run' })).toEqual({ code: 'THREAD_BUSY' });
    await killed.kill();
    expect(await next.drive({ run: 'gated', id: 'run' })).toMatchObject({ status: 'waiting' });
    expect(leaseOf(db, 'run')).toEqual({ owner: null, epoch: 3 });
    expect(desk.effects('guarded', 'run')).toHaveLength(2); // the call in flight is made again, and only that
    expect(desk.effects('second', 'run')).toHaveLength(1);
  });
});

/** What is refused to a thawed driver first, at each point. */
const FROZEN: readonly (readonly [FreezePoint, string])[] = [
  ['after the Thought', 'the intent of a step'],
  ['in a step', 'the result of a step'],
  ['before a step', 'the intent of a later step'],
  ['before the output', 'the journal'],
  ['after the Action', 'the checkpointer'],
  ['before a question', 'a session'],
  ['after a question', 'the output of a branch beside it'],
];

describe('a driver that was stopped and whose lease has ended', { timeout: 120_000 }, () => {
  test('is replaced, and after it goes on every write it tries is refused: 21 of 21', async ({
    db,
    dbPath,
    task,
  }) => {
    const desk = new Desk(dbPath);
    const [sleeper, other] = await Promise.all([Driver.start(dbPath), Driver.start(dbPath)]);
    const refused: string[] = [];
    for (let round = 0; round < 3; round += 1) {
      for (const [freeze, what] of FROZEN) {
        const id = `${what.replaceAll(' ', '-')}-${round}`;
        approve(db, await sleeper.drive({ run: 'gated', id }));
        sleeper.tell({ run: 'gated', id, freeze });
        await desk.frozen(id);
        await sleeper.stop();
        expect(await other.drive({ run: 'gated', id })).toEqual({ code: 'THREAD_BUSY' });
        expire(db, id);
        const taken = await other.drive({ run: 'gated', id });
        approve(db, taken);
        expect([id, await other.drive({ run: 'gated', id })]).toMatchObject([id, { status: 'completed' }]);

        const before = everyTable(db);
        sleeper.continue();
        desk.thaw(id);
        expect([id, await sleeper.answer()]).toEqual([id, { code: 'LEASE_LOST' }]);
        expect([id, everyTable(db) === before]).toEqual([id, true]);
        expect([id, desk.effects('last', id)]).toEqual([id, [`last ${id} ${other.pid}`]]);
        expect(() => approve(db, taken)).toThrow(expect.objectContaining({ code: 'GATE_ALREADY_DECIDED' }));
        refused.push(id);
        tried(task, { ways: refused.length });
      }
    }
    expect(refused).toHaveLength(21);
  });
});
