import { type RunOnRecord, type RunStoreUnderTest, runStoreCases } from '@devs/conformance';
import type { Database } from 'better-sqlite3';
import { describe, expect, onTestFinished } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { createDatabase } from '../../db/createDatabase.ts';
import { EventBus } from '../../events/events.ts';
import { SqliteRunStore } from '../SqliteRunStore.ts';
import { StateFile } from '../StateFile.ts';
import { aThread } from './aThread.ts';

function opened(dbPath: string): { readonly file: StateFile; readonly events: EventBus } {
  const db = createDatabase({ dbPath });
  onTestFinished(() => void db.close());
  const events = new EventBus();
  return { file: new StateFile(db, { events }), events };
}

/** One column of the rows of a run, in the order of `by`. */
function rowsOf(
  db: Database,
  column: string,
  from: { readonly table: string; readonly by?: string },
  id: string,
) {
  const { table, by = 'rowid' } = from;
  const key = table === 'langgraph_checkpoints' ? 'graph_id' : 'thread_id';
  const sql = `SELECT ${column} FROM ${table} WHERE ${key} = ? ORDER BY ${by}`;
  return db.prepare<[string], string>(sql).pluck().all(id);
}

function recordOf({ threads, db }: StateFile, id: string): RunOnRecord {
  const { status, recoveries } = threads.require(id);
  return {
    status,
    recoveries,
    turns: rowsOf(db, "turn_type || ' ' || node_name", { table: 'langgraph_checkpoints' }, id),
    steps: rowsOf(db, "name || ' ' || state || ' ' || attempt", { table: 'agent_steps', by: 'name' }, id),
    questions: rowsOf(db, "kind || ' ' || status", { table: 'hitl_sessions' }, id),
    waits: rowsOf(db, "purpose || ' ' || state", { table: 'waits' }, id),
    events: rowsOf(db, 'name', { table: 'events' }, id),
    requests: threads.signals.pending(id, ['pause', 'cancel']).map(({ kind }) => kind),
    pieces: rowsOf(db, 'seq', { table: 'step_transcripts' }, id).length,
  };
}

function stores(dbPath: string): RunStoreUnderTest {
  const { file, events } = opened(dbPath);
  const other = opened(dbPath).file;
  const told: string[] = [];
  events.onAny((name) => told.push(name));
  return {
    runs: new SqliteRunStore(file),
    elsewhere: new SqliteRunStore(other),
    admit: (threadId) => void other.threads.create(aThread({ threadId })),
    read: (threadId) => recordOf(other, threadId),
    told,
  };
}

describe('a RunStore over a state file', () => {
  for (const { name, check } of runStoreCases)
    test(name, async ({ dbPath }) => {
      expect.assertions(0);
      await check(stores(dbPath));
    });
});
