import BetterSqlite3, { type Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { interceptStatements } from '../../../test/support/interceptStatements.ts';
import { CheckpointPersister } from '../../state/CheckpointPersister.ts';
import { EventStore } from '../../state/events/EventStore.ts';
import { durable } from '../app/durable.ts';
import { internalsOf } from '../file/appInternals.ts';
import { twoSteps } from './ownGraph.ts';

// The journal is fail-open forward and fail-closed backward. Source: 9_ROADMAP-REQ-014, law L6.

/** Makes every statement of one kind on the journal fail, as a constraint would. */
function breakJournal(db: Database, statement: 'INSERT' | 'DELETE'): void {
  db.exec(
    `CREATE TEMP TRIGGER broken BEFORE ${statement} ON langgraph_checkpoints
     BEGIN SELECT RAISE(ABORT, 'broken journal'); END`,
  );
}

describe('a journal that cannot be written', () => {
  test('does not stop the run: it is told, and the run is marked', async ({ db }) => {
    breakJournal(db, 'INSERT');
    const app = durable(twoSteps(), { db });
    const { status, values } = await app.run('run', {});
    expect([status, values?.log]).toEqual(['completed', ['first', 'second']]);
    expect(internalsOf(app).store.threads.get('run')?.degraded).toBe(true);
    const log = new EventStore(db).list('run');
    const lost = log.filter(({ name }) => name === 'CHECKPOINT_SAVE_FAILED');
    expect(lost.map(({ payload }) => payload)).toMatchObject(
      ['first', 'first', 'second', 'second'].map((nodeName) => ({
        nodeName,
        message: expect.stringContaining('broken journal'),
      })),
    );
    expect(log.filter(({ name }) => name === 'RUN_DEGRADED')).toHaveLength(1);
    expect(new CheckpointPersister(db).loadLatest('run')).toBeNull();
  });

  test('loses only the row that failed', async ({ db }) => {
    breakJournal(db, 'INSERT');
    const app = durable(
      twoSteps(() => {
        db.exec('DROP TRIGGER broken');
        return { log: ['first'] };
      }),
      { db, durability: 'sync' },
    );
    expect((await app.run('run', {})).status).toBe('completed');
    const turns = new CheckpointPersister(db).loadForTask('run');
    expect(turns.map(({ nodeName, turnType }) => `${nodeName} ${turnType}`)).toEqual([
      'first Action',
      'second Thought',
      'second Action',
    ]);
  });
});

describe('a file that cannot be written', () => {
  test('stops the run at the journal: the checkpoint behind it would be lost as well', async ({ db }) => {
    interceptStatements(db, (work, { source }) => {
      if (!/^\s*INSERT INTO langgraph_checkpoints/.test(source)) return work();
      throw new BetterSqlite3.SqliteError('database or disk is full', 'SQLITE_FULL');
    });
    const app = durable(twoSteps(), { db });
    await expect(app.run('run', {})).rejects.toMatchObject({ code: 'STATE_DISK_FULL' });
    expect(internalsOf(app).store.threads.get('run')?.degraded).toBe(false);
  });
});

describe('a rewind of the journal', () => {
  test('that fails says so and has deleted nothing', async ({ db }) => {
    await durable(twoSteps(), { db }).run('run', {});
    const journal = new CheckpointPersister(db);
    const before = journal.loadForTask('run');
    breakJournal(db, 'DELETE');
    expect(() => journal.deleteAfter('earlier', ['earlier', 'run'])).toThrow(/broken journal/);
    expect(journal.loadForTask('run')).toEqual(before);
    expect(before).toHaveLength(4);
  });
});
