import BetterSqlite3 from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { createDatabase } from '../../db/createDatabase.ts';
import { runMigrations } from '../../db/migrate.ts';
import { MIGRATIONS } from '../../db/migrations/index.ts';
import { BlobStore } from '../blobs/BlobStore.ts';
import { BlobSweeper } from '../blobs/BlobSweeper.ts';
import { CheckpointPersister } from '../CheckpointPersister.ts';

/** More than two rounds look at. */
const VALUES = 1100;

const LARGE = { text: 'x'.repeat(9000), more: 'y'.repeat(100) };
const aTurn = (id: string) => ({
  ...{ id, graphId: 'r', nodeName: 'n', turnType: 'Thought' as const, taskId: 'task-2', state: LARGE },
  createdAt: new Date(0),
});

describe('a sweep of the whole file', () => {
  test('lets others write after every few values', ({ db, dbPath }) => {
    const blobs = new BlobStore(db);
    db.transaction(() => {
      for (let n = 0; n < VALUES; n += 1) blobs.put(Buffer.from(`value ${n}`));
    }).immediate();
    const other = createDatabase({ dbPath });
    other.pragma('busy_timeout = 0');
    const rounds = [...new BlobSweeper(db).rounds()].map((swept, n) => {
      other.prepare('INSERT INTO guard_firings VALUES (?, ?)').run('r', String(n));
      return swept.blobs;
    });
    other.close();
    expect(rounds).toEqual([500, 500, 100, 0]);
  });

  test('leaves what the journal refers to, until its rows are gone', ({ db }) => {
    const journal = new CheckpointPersister(db);
    journal.save(aTurn('one'));
    journal.save(aTurn('two'));
    db.prepare("DELETE FROM langgraph_checkpoints WHERE id = 'two'").run();
    const sweeper = new BlobSweeper(db);
    expect([...sweeper.rounds()].map(({ blobs }) => blobs)).toEqual([0, 0]);
    expect(journal.loadLatest('r')?.state).toEqual(LARGE);
    journal.deleteAfter('task-1', ['task-1', 'task-2']);
    expect([...sweeper.rounds()].map(({ blobs }) => blobs)).toEqual([2, 0]);
  });
});

test('a file of an earlier release knows what its journal refers to, a damaged row aside', ({ dbPath }) => {
  const db = new BetterSqlite3(dbPath);
  runMigrations(
    db,
    MIGRATIONS.filter(({ version }) => version < 32),
  );
  const insert = db.prepare(`
    INSERT INTO langgraph_checkpoints (id, graph_id, node_name, turn_type, serialized_state, task_id, created_at)
    VALUES (?, 'r', 'n', 'Thought', ?, 't', '')`);
  insert.run('large', '{"$devs":1,"fields":{},"channels":{"a":3,"b":4,"c":3}}');
  insert.run('small', '{"channels":{"a":5}}');
  db.pragma('ignore_check_constraints = ON');
  insert.run('damaged', '{"$devs":1,"fields":{},"channels":{"a":6');
  runMigrations(db);
  expect(db.prepare('SELECT blob_id, turn_id FROM journal_values').raw().all()).toEqual([
    [3, 'large'],
    [4, 'large'],
  ]);
  db.prepare('DELETE FROM langgraph_checkpoints').run();
  expect(db.prepare('SELECT count(*) FROM journal_values').pluck().get()).toBe(0);
  db.close();
});
