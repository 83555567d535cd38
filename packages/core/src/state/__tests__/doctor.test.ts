import { closeSync, openSync, readFileSync, statSync, writeFileSync, writeSync } from 'node:fs';
import BetterSqlite3, { type Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { createDatabase, openReadOnly } from '../../db/createDatabase.ts';
import { runMigrations } from '../../db/migrate.ts';
import { MIGRATIONS } from '../../db/migrations/index.ts';
import { GraphCheckpointStore } from '../checkpoints/GraphCheckpointStore.ts';
import { type DoctorReport, doctor } from '../doctor/doctor.ts';
import { aFullFile, noise, RUN } from './aFullFile.ts';

const codesOf = ({ findings }: DoctorReport): readonly string[] => [
  ...new Set(findings.map(({ code, table }) => `${code} ${table}`)),
];

/** What somebody with write access can do to a file behind the engine's back. */
function tamper({ name }: Database, sql: string): void {
  const other = new BetterSqlite3(name);
  other.pragma('foreign_keys = OFF');
  other.pragma('ignore_check_constraints = ON');
  other.exec(sql);
  other.close();
}

describe('doctor finds nothing wrong with', () => {
  test('a fresh file, and says how large it is', ({ dbPath }) => {
    const db = createDatabase({ dbPath });
    const report = doctor(db);
    db.close();
    expect(report).toMatchObject({ ok: true, findings: [], sizes: { freeBytes: 0 } });
    expect(report.sizes?.fileBytes).toBeGreaterThan(100_000);
    expect(report.sizes?.walBytes).toBeGreaterThan(0);
  });

  test('a file in use, through a connection that only reads', ({ db, dbPath }) => {
    aFullFile(db, { checkpoints: 20 });
    const viewer = openReadOnly({ dbPath });
    const report = doctor(viewer);
    viewer.close();
    expect(report).toMatchObject({ ok: true, findings: [] });
    expect(Object.keys(report.sizes?.tables ?? {})[0]).toBe('state_blobs');
  });

  test('a file that is written to meanwhile', ({ db, dbPath }) => {
    aFullFile(db);
    const writer = createDatabase({ dbPath });
    writer.exec('BEGIN IMMEDIATE; DELETE FROM state_blobs WHERE blob_id < 0');
    expect(doctor(db).ok).toBe(true);
    writer.exec('ROLLBACK');
    writer.close();
  });

  test('a database in memory', () => {
    const db = createDatabase({ dbPath: ':memory:' });
    aFullFile(db);
    expect(doctor(db)).toMatchObject({ ok: true, findings: [], sizes: { walBytes: 0 } });
    db.close();
  });

  test('and changes no byte of the file', ({ db, dbPath }) => {
    aFullFile(db);
    db.close();
    const before = readFileSync(dbPath);
    const viewer = openReadOnly({ dbPath });
    doctor(viewer);
    viewer.close();
    expect(readFileSync(dbPath).equals(before)).toBe(true);
  });
});

describe('doctor reports', () => {
  test.for([
    ['VALUE_DAMAGED state_blobs', 'UPDATE state_blobs SET bytes = zeroblob(9) WHERE blob_id = 1'],
    ['VALUE_DAMAGED checkpoints', 'UPDATE checkpoints SET metadata = zeroblob(9) WHERE seq = 2'],
    [
      'VALUE_DAMAGED checkpoint_writes',
      'UPDATE checkpoint_writes SET value = zeroblob(9) WHERE blob_id IS NULL',
    ],
    [
      'VALUE_DAMAGED checkpoint_writes',
      'UPDATE checkpoint_writes SET sha256 = zeroblob(32) WHERE blob_id IS NOT NULL',
    ],
    [
      'VALUE_DAMAGED langgraph_checkpoints',
      `UPDATE langgraph_checkpoints SET serialized_state = '{"$devs":7}' WHERE id = 'action'`,
    ],
    [
      'VALUE_DAMAGED langgraph_checkpoints',
      `UPDATE langgraph_checkpoints SET serialized_state = '{"small":false}' WHERE id = 'thought'`,
    ],
    [
      'VALUE_MISSING langgraph_checkpoints',
      `UPDATE langgraph_checkpoints SET serialized_state = '{"$devs":1,"fields":{},"channels":{"a":999}}', sha256 = NULL`,
    ],
    [
      'VALUE_DAMAGED checkpoint_blobs',
      'UPDATE checkpoint_blobs SET value = zeroblob(9) WHERE value IS NOT NULL',
    ],
    [
      'VALUE_MISSING checkpoint_blobs',
      "UPDATE checkpoint_blobs SET blob_id = NULL WHERE channel = 'text' AND version = '1'",
    ],
    [
      'ROW_ORPHANED hitl_sessions',
      "INSERT INTO hitl_sessions (id, task_id, graph_state_json, suspended_at, thread_id) VALUES ('x', 't', '{}', 0, 'no')",
    ],
    [
      'DECISION_LOG_BROKEN hitl_decisions',
      "INSERT INTO hitl_decisions (session_id, body_json, prev_sha256, sha256) VALUES ('session-1', '{}', 'x', 'y')",
    ],
    [
      'FOREIGN_KEY_BROKEN hitl_failure_gates_history',
      "INSERT INTO hitl_failure_gates_history VALUES ('g', 't', 0.9, 0, 'nobody', 'entropy_limit', 0, 'retry')",
    ],
    ['FOREIGN_KEY_BROKEN checkpoint_blobs', 'UPDATE checkpoint_blobs SET blob_id = 999 WHERE value IS NULL'],
    ['FILE_DAMAGED null', 'UPDATE threads SET degraded = 7'],
    ['VALUE_DAMAGED threads', "UPDATE threads SET status = 'sleeping'"],
    [
      'VALUE_DAMAGED signals',
      "INSERT INTO signals (id, thread_id, seq, kind, payload_json, created_at) VALUES ('s', 'run-1', 1, 'sing', '1', 0)",
    ],
    ['VALUE_DAMAGED hitl_sessions', "UPDATE hitl_sessions SET kind = 'seance', row_sha256 = NULL"],
    ['VALUE_DAMAGED hitl_sessions', "UPDATE hitl_sessions SET question_json = '{}'"],
    ['VALUE_DAMAGED threads', "UPDATE threads SET policies_json = json_set(policies_json, '$.gates', 1)"],
    ['FILE_DAMAGED null', "UPDATE threads SET policies_json = '{', declared_sha256 = NULL"],
    ['DECISION_LOG_BROKEN hitl_decisions', 'UPDATE decision_log_end SET lines = 0'],
    ['VALUE_DAMAGED thread_inputs', 'UPDATE thread_inputs SET value = zeroblob(9)'],
    ['DECISION_LOG_BROKEN hitl_decisions', 'DELETE FROM decision_texts'],
    ['SCHEMA_MISSING events', 'DROP INDEX events_by_thread'],
    ['SCHEMA_MISSING hitl_decisions', 'DROP TRIGGER hitl_decisions_no_delete'],
    ['SCHEMA_CHANGED events', 'DROP INDEX events_by_thread; CREATE INDEX events_by_thread ON events (seq)'],
    ['SCHEMA_FOREIGN threads', 'CREATE TRIGGER t AFTER UPDATE ON threads BEGIN DELETE FROM signals; END'],
    ['NOT_EXAMINED null', 'DROP TABLE agent_steps'],
    ['ROW_ORPHANED checkpoint_blobs', 'DELETE FROM checkpoints WHERE seq = 1'],
    [
      'VALUE_MISSING checkpoint_blobs',
      "DELETE FROM checkpoint_blobs WHERE channel = 'nothing' AND version = '2'",
    ],
    ['VALUE_MISSING checkpoint_writes', 'DELETE FROM checkpoint_writes WHERE idx = 0'],
    ['VALUE_DAMAGED checkpoints', 'UPDATE checkpoints SET seq = 99 WHERE seq = 2'],
    ['VALUE_DAMAGED checkpoints', "UPDATE checkpoints SET parent_checkpoint_id = 'other' WHERE seq = 2"],
    ['VALUE_DAMAGED checkpoint_writes', 'UPDATE checkpoint_writes SET idx = idx + 7'],
    ['VALUE_DAMAGED state_blobs', 'UPDATE state_blobs SET blob_id = blob_id + 1000'],
    ['VALUE_DAMAGED agent_steps', "UPDATE agent_steps SET name = 'other'"],
    ['VALUE_DAMAGED thread_inputs', "UPDATE thread_inputs SET turn_key = 'other'"],
    ['VALUE_MISSING thread_inputs', 'UPDATE thread_inputs SET turn = 2'],
    ['VALUE_MISSING journal_values', 'DELETE FROM journal_values'],
  ] as const)('%s after: %s', ([expected, sql], { db }) => {
    aFullFile(db);
    tamper(db, sql);
    const report = doctor(db);
    expect(report.ok).toBe(false);
    expect(codesOf(report)).toContain(expected);
  });

  test.for([
    ['BLOB_UNUSED state_blobs', 'DELETE FROM agent_steps'],
    ['SCHEMA_FOREIGN theirs', 'CREATE TABLE theirs (x)'],
  ] as const)('%s as a note: %s', ([expected, sql], { db }) => {
    aFullFile(db);
    tamper(db, sql);
    const report = doctor(db);
    expect(report.ok).toBe(true);
    expect(codesOf(report)).toEqual([expected]);
  });

  test('no base of a splice in use as unused', ({ db }) => {
    const store = new GraphCheckpointStore(db);
    const values = [noise(5000, 1), `${noise(5000, 1)} and more`];
    for (const [n, text] of values.entries()) {
      const value = { type: 'json', bytes: new Uint8Array(Buffer.from(text)) };
      store.saveChannels(RUN, [{ channel: 'text', version: String(n), value }]);
    }
    expect(db.prepare('SELECT count(base_id) FROM state_blobs').pluck().get()).toBe(1);
    db.exec("DELETE FROM checkpoint_blobs WHERE version = '0'");
    expect(codesOf(doctor(db))).toEqual(['ROW_ORPHANED checkpoint_blobs']);
    db.exec('DELETE FROM checkpoint_blobs');
    expect(codesOf(doctor(db))).toEqual(['BLOB_UNUSED state_blobs']);
  });

  test('a session of a run inside a run as belonging to the outer one', ({ db }) => {
    aFullFile(db);
    db.exec(
      "INSERT INTO hitl_sessions (id, task_id, graph_state_json, suspended_at, thread_id) VALUES ('x', 't', '{}', 0, 'run-1/lg/0')",
    );
    expect(doctor(db).findings).toEqual([]);
  });

  test('a file of an older engine as not examined', ({ dbPath }) => {
    const older = new BetterSqlite3(dbPath);
    runMigrations(older, MIGRATIONS.slice(0, 4));
    older.close();
    const viewer = openReadOnly({ dbPath });
    const report = doctor(viewer);
    viewer.close();
    expect(report.ok).toBe(true);
    expect(codesOf(report)).toEqual(['NOT_EXAMINED null']);
  });

  test('no stored value, only ids', ({ db }) => {
    aFullFile(db);
    tamper(db, "UPDATE checkpoints SET metadata = CAST('secret' AS BLOB)");
    expect(JSON.stringify(doctor(db))).not.toContain('secret');
  });
});

describe('a file whose pages are damaged', () => {
  function overwrite(dbPath: string, from: number, to: number): void {
    const file = openSync(dbPath, 'r+');
    writeSync(file, Buffer.alloc(to - from, 0xa5), 0, to - from, from);
    closeSync(file);
  }

  test('is reported, not thrown, wherever the damage is', ({ db, dbPath }) => {
    aFullFile(db);
    db.close();
    const sound = readFileSync(dbPath);
    for (let page = 1; page < sound.length / 4096; page += 1) {
      writeFileSync(dbPath, sound);
      overwrite(dbPath, page * 4096, (page + 1) * 4096);
      const damaged = new BetterSqlite3(dbPath, { readonly: true });
      const report = doctor(damaged);
      damaged.close();
      expect(report.ok, `page ${page}`).toBe(false);
    }
  });

  test('is an error only when somebody else keeps it locked', ({ db, dbPath }) => {
    db.pragma('journal_mode = DELETE'); // Readers and a writer exclude each other, as in a backup just made.
    db.exec('BEGIN EXCLUSIVE');
    const reader = new BetterSqlite3(dbPath, { readonly: true, timeout: 0 });
    expect(() => doctor(reader)).toThrow(expect.objectContaining({ code: 'STATE_IO' }));
    reader.close();
    db.exec('ROLLBACK');
  });

  test('has no sizes if they cannot be read', ({ db, dbPath }) => {
    aFullFile(db);
    db.close();
    overwrite(dbPath, 4096, statSync(dbPath).size);
    const damaged = new BetterSqlite3(dbPath, { readonly: true });
    expect(doctor(damaged)).toMatchObject({ ok: false, sizes: null });
    damaged.close();
  });
});
