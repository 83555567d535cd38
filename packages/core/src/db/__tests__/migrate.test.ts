import { readFileSync } from 'node:fs';
import BetterSqlite3 from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { createDatabase } from '../createDatabase.ts';
import { pendingMigrations } from '../ledger.ts';
import type { Migration } from '../Migration.ts';
import { runMigrations } from '../migrate.ts';
import { MIGRATIONS } from '../migrations/index.ts';

const aMigration = (version: number, sql = `CREATE TABLE t${version} (x)`): Migration => ({
  version,
  name: `${version}_test`,
  sha256: `sha-${version}`,
  sql,
});
const [one, two, three] = [aMigration(1), aMigration(2), aMigration(3)];

const tablesOf = (db: BetterSqlite3.Database): unknown[] =>
  db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").pluck().all();

describe('runMigrations', () => {
  test('applies what is missing, in order, once', () => {
    const db = new BetterSqlite3(':memory:');
    expect(runMigrations(db, [one, two])).toEqual(['1_test', '2_test']);
    expect(runMigrations(db, [one, two])).toEqual([]);
    expect(runMigrations(db, [one, two, three])).toEqual(['3_test']);
    expect(tablesOf(db)).toEqual(['schema_migrations', 't1', 't2', 't3']);
    db.close();
  });

  test('records version, name, hash and time of each', () => {
    const db = new BetterSqlite3(':memory:');
    runMigrations(db, [one]);
    expect(db.prepare('SELECT * FROM schema_migrations').get()).toEqual({
      version: 1,
      name: '1_test',
      sha256: 'sha-1',
      applied_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    db.close();
  });

  test('leaves the file as it was when one of them fails', () => {
    const db = new BetterSqlite3(':memory:');
    runMigrations(db, [one]);
    expect(() => runMigrations(db, [one, two, aMigration(3, 'CREATE TABLE t1 (x)')])).toThrow(
      /already exists/,
    );
    expect(tablesOf(db)).toEqual(['schema_migrations', 't1']);
    db.close();
  });

  test('a gap in the list is harmless, one below what a file has is refused', () => {
    const db = new BetterSqlite3(':memory:');
    runMigrations(db, [one, three]);
    expect(() => runMigrations(db, [one, two, three])).toThrow(
      expect.objectContaining({ code: 'MIGRATION_GAP' }),
    );
    db.close();
  });

  test('refusals say how to get out', () => {
    const db = new BetterSqlite3(':memory:');
    runMigrations(db, [one, two]);
    const edited = { ...two, sha256: 'other' };
    expect(() => runMigrations(db, [one])).toThrow(
      expect.objectContaining({ code: 'SCHEMA_TOO_NEW', remedy: expect.stringContaining('Upgrade') }),
    );
    expect(() => runMigrations(db, [one, edited])).toThrow(
      expect.objectContaining({
        code: 'MIGRATION_EDITED',
        remedy: expect.stringContaining('delete the state folder'),
      }),
    );
    db.close();
  });

  test('a list out of order is a mistake of its author', () => {
    const db = new BetterSqlite3(':memory:');
    for (const list of [[two, one], [one, one], [aMigration(0)], [aMigration(Number.NaN)]]) {
      expect(() => runMigrations(db, list)).toThrow(RangeError);
    }
    expect(tablesOf(db)).toEqual([]);
    db.close();
  });

  test('finds the work done when another connection was faster', ({ dbPath }) => {
    const [a, b] = [new BetterSqlite3(dbPath), new BetterSqlite3(dbPath)];
    expect(pendingMigrations(b, [one])).toHaveLength(1);
    runMigrations(a, [one]);
    expect(runMigrations(b, [one])).toEqual([]);
    a.close();
    b.close();
  });
});

describe("the engine's own migrations", () => {
  test('give the schema that is on record', ({ db }) => {
    const objects = db
      .prepare<[], string>(
        `SELECT sql FROM sqlite_schema
         WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' AND name <> 'schema_migrations'
         ORDER BY type DESC, name`,
      )
      .pluck()
      .all();
    const recorded = readFileSync(new URL('../../../test/db/schema.sql', import.meta.url), 'utf8');
    expect(`${objects.join(';\n\n')};\n`).toBe(recorded);
  });

  /** Every object and every row of a file, but when its migrations were recorded. */
  function everythingIn(db: BetterSqlite3.Database): unknown {
    const objects = db
      .prepare<[], { name: string; type: string }>(
        'SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name',
      )
      .all();
    const rows = objects
      .filter(({ type }) => type === 'table')
      .map(({ name }) => db.prepare<[], object>(`SELECT * FROM ${name}`).all());
    const recorded = db.prepare('SELECT version, name, sha256 FROM schema_migrations').all();
    return { objects, recorded, rows: rows.map((some) => some.map((row) => ({ ...row, applied_at: '' }))) };
  }

  test('make of an empty file at once what they make one by one', () => {
    const inMemory = () => new BetterSqlite3(':memory:');
    const [atOnce, oneByOne, notEmpty] = [inMemory(), inMemory(), inMemory()];
    expect(runMigrations(atOnce)).toEqual(MIGRATIONS.map(({ name }) => name));
    runMigrations(oneByOne, [...MIGRATIONS]);
    expect(everythingIn(atOnce)).toEqual(everythingIn(oneByOne));
    notEmpty.exec('CREATE TABLE of_another_tool (n INTEGER) STRICT');
    runMigrations(notEmpty);
    notEmpty.exec('DROP TABLE of_another_tool');
    expect(everythingIn(notEmpty)).toEqual(everythingIn(oneByOne));
    for (const db of [atOnce, oneByOne, notEmpty]) db.close();
  });

  test('are exactly the .sql files, as hashed', () => {
    for (const { name, sql } of MIGRATIONS) {
      const file = readFileSync(new URL(`../migrations/${name}.sql`, import.meta.url), 'utf8');
      expect(sql).toBe(file.replaceAll('\r\n', '\n'));
    }
  });

  test('keep to the numbers that were planned', () => {
    const versions = MIGRATIONS.map(({ version }) => version);
    expect(versions.filter((version) => version > 6 && version < 13)).toEqual([]);
    expect(MIGRATIONS.find(({ version }) => version === 14)?.name).toBe('014_create_hitl_failure_gates');
  });

  test('give the failure gates their six columns', () => {
    const db = createDatabase({ dbPath: ':memory:' });
    const columns = db.prepare("SELECT name FROM pragma_table_info('hitl_failure_gates')").pluck().all();
    expect(columns).toEqual(['id', 'task_id', 'entropy_score', 'triggered_at', 'session_id', 'reason']);
    db.close();
  });
});
