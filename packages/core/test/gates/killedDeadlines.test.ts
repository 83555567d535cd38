import { randomInt } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { createDatabase } from '../../src/db/createDatabase.ts';
import { twoSteps } from '../../src/engine/__tests__/ownGraph.ts';
import { internalsOf } from '../../src/engine/appInternals.ts';
import { AClock, DAY, HOUR } from '../../src/engine/waits/__tests__/aClock.ts';
import { test } from '../support/fixtures.ts';
import { howMany } from '../support/howMany.ts';
import { durable } from '../support/runs/durable.ts';
import { ofOneFile } from '../support/runs/where.ts';
import { tried } from '../support/tried.ts';
import { type Death, DyingFile } from './DyingFile.ts';

/** Of the writes, one in so many is died at; which, is another in every run. */
const EVERY = howMany('DEVS_DEADLINE_DEATHS_EVERY', 29);

function start(dbPath: string, death: Death | null) {
  const db = createDatabase({ dbPath });
  db.pragma('synchronous = OFF'); // dying here is closing: what was committed is in the file
  return { db, file: new DyingFile(db, death) };
}

/** Nobody decides: a reminder, another person, and a no at the end. Every process does the same from the beginning. */
async function live(db: Database, id: string): Promise<unknown> {
  const clock = new AClock();
  const app = durable(twoSteps(), {
    db,
    now: clock.now,
    gates: {
      second: {
        show: () => 'go?',
        onReject: () => ({ log: ['refused'] }),
        deadlines: [
          { within: HOUR, do: 'remind' },
          { within: 2 * HOUR, do: { reassign: ['bob'] } },
          { within: DAY, do: 'reject' },
        ],
      },
    },
  });
  await app.run(id, {});
  for (let looks = 0; looks < 30; looks += 1) {
    await app.runDue();
    if (internalsOf(app).store.threads.require(id).status === 'completed') return (await app.values(id))?.log;
    clock.step(HOUR);
  }
  throw new Error('The run does not end.');
}

const DONE = ['HITL_SESSION_OPENED', 'GATE_REMINDED', 'GATE_REASSIGNED', 'HITL_SESSION_DECIDED'];

const doneIn = (db: Database, id: string): readonly unknown[] =>
  db
    .prepare(
      'SELECT name FROM events WHERE thread_id = ? AND name IN (SELECT value FROM json_each(?)) ORDER BY seq',
    )
    .pluck()
    .all(id, JSON.stringify(DONE));

describe('a process that dies at any write of a run whose gate nobody decides', () => {
  test('reminds once, reassigns once and decides once', {
    ...ofOneFile('dies at a write'),
    timeout: 300_000,
  }, async ({ db, dbPath, task }) => {
    const whole = start(dbPath, null);
    expect(await live(whole.db, 'whole')).toEqual(['first', 'refused']);
    expect(doneIn(db, 'whole')).toEqual(DONE);
    whole.db.close();
    let deaths = 0;
    for (let write = 1 + randomInt(EVERY); write <= whole.file.writes; write += EVERY) {
      for (const side of ['before', 'after'] as const) {
        const run = `${side}-${write}`;
        const dying = start(dbPath, { write, side });
        deaths += (await live(dying.db, run).catch(() => null)) === null ? 1 : 0;
        tried(task, { ways: deaths });
        dying.db.close();
        db.prepare('UPDATE threads SET lease_owner = NULL').run(); // what its death does for a real process
        const next = start(dbPath, null);
        expect([run, await live(next.db, run)]).toEqual([run, ['first', 'refused']]);
        next.db.close();
        expect([run, doneIn(db, run)]).toEqual([run, DONE]);
      }
    }
    expect(deaths).toBeGreaterThan(50 / EVERY);
    expect(db.prepare('SELECT count(*) - count(DISTINCT session_id) FROM hitl_decisions').pluck().get()).toBe(
      0,
    );
  });
});
