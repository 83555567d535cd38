import { readFileSync } from 'node:fs';
import BetterSqlite3, { type Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { makeStateFile, test } from '../../../test/support/fixtures.ts';
import { tried } from '../../../test/support/tried.ts';
import type { DevsError } from '../../errors/DevsError.ts';
import { doctor } from '../../state/doctor/doctor.ts';
import {
  createDatabase,
  openReadOnly,
  openStateCopy,
  openWorkingCopy,
  prepareConnection,
} from '../createDatabase.ts';
import { runMigrations } from '../migrate.ts';
import { MIGRATIONS } from '../migrations/index.ts';
import { assertOwnSchema, foreignSchema } from '../ownSchema.ts';

/** A file as who writes it has it: without the engine's settings. */
function writing<T>(dbPath: string, work: (db: Database) => T): T {
  makeStateFile(dbPath);
  const db = new BetterSqlite3(dbPath);
  try {
    return work(db);
  } finally {
    db.close();
  }
}

function refusal(open: () => unknown): DevsError | null {
  try {
    open();
    return null;
  } catch (error) {
    return error as DevsError;
  }
}

const tablesOf = (db: Database): readonly string[] =>
  db
    .prepare<[], string>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT GLOB 'sqlite_*' ORDER BY name",
    )
    .pluck()
    .all();

const firstColumn = (db: Database, table: string): string =>
  db.prepare<[string], string>('SELECT name FROM pragma_table_info(?)').pluck().get(table) ?? '';

const TRIGGERS = ['BEFORE', 'AFTER'].flatMap((when) =>
  ['INSERT', 'UPDATE', 'DELETE'].map((what) => `${when} ${what}`),
);

/** Every way to plant something at a table. */
function plantingsAt(table: string, column: string): readonly string[] {
  return [
    ...TRIGGERS.map((when) => `CREATE TRIGGER planted ${when} ON ${table} BEGIN SELECT 1; END`),
    `CREATE TRIGGER planted AFTER INSERT ON ${table.toUpperCase()} BEGIN SELECT 1; END`,
    `CREATE TRIGGER "pl""anted" AFTER INSERT ON ${table} BEGIN SELECT 1; END`,
    `CREATE INDEX planted ON ${table} (${column})`,
    `CREATE INDEX planted ON ${table} (abs(${column}))`,
    `CREATE UNIQUE INDEX planted ON ${table} ((1)) WHERE ${column} IS NULL`,
  ];
}

const ELSEWHERE = [
  'CREATE VIEW planted AS SELECT * FROM threads',
  'CREATE VIEW planted AS SELECT 1 AS x; CREATE TRIGGER t INSTEAD OF INSERT ON planted BEGIN DELETE FROM waits; END',
  'CREATE TABLE theirs (x); CREATE TRIGGER planted AFTER INSERT ON theirs BEGIN DELETE FROM waits; END',
  'CREATE VIRTUAL TABLE planted USING fts5 (x)',
  'CREATE VIRTUAL TABLE planted USING rtree (id, x0, x1)',
  'DROP INDEX events_by_thread; CREATE INDEX events_by_thread ON events (seq)',
  'DROP TRIGGER hitl_decisions_no_delete; CREATE TRIGGER hitl_decisions_no_delete BEFORE DELETE ON hitl_decisions BEGIN SELECT 1; END',
];

/** A table of the engine's that is another one: its rows are not made as they are written. */
const ALTERED = [
  "ALTER TABLE hitl_sessions ADD COLUMN other TEXT DEFAULT 'ada'",
  'ALTER TABLE signals RENAME COLUMN payload_json TO payload',
  "ALTER TABLE threads ADD COLUMN twice TEXT GENERATED ALWAYS AS (status || '') VIRTUAL",
  ...[
    ["'awaiting_approval' CHECK", "'decided' CHECK"],
    ['thread_id        TEXT', 'thread_id        TEXT COLLATE NOCASE'],
    ['decided_at       INTEGER', 'decided_at       INTEGER CHECK (decided_at IS NULL)'],
    ['CREATE TABLE hitl_sessions', 'CREATE TABLE HITL_SESSIONS'],
    ['question_json TEXT', "question_json TEXT DEFAULT '{}'"],
  ].map(([from, to]) => `DROP TABLE hitl_sessions;${from}→${to}`),
];

/** Has a table made in another way than by a migration, where a planting says so. */
function plant(db: Database, sql: string): void {
  const [drop = '', change] = sql.split(/;(?=.*→)/);
  if (change === undefined) return void db.exec(sql);
  const [from = '', to = ''] = change.split('→');
  const made =
    db.prepare<[], string>("SELECT sql FROM sqlite_schema WHERE name = 'hitl_sessions'").pluck().get() ?? '';
  const anew = made.replace(new RegExp(from.replaceAll(/ +/g, ' +')), to);
  expect(anew, sql).not.toBe(made);
  db.pragma('foreign_keys = OFF');
  db.exec(`${drop}; ${anew}`);
}

describe('a file whose schema was planted', () => {
  test('is refused wherever it is opened to be written', ({ dbPath }) => {
    writing(dbPath, (db) => db.exec('CREATE TRIGGER planted AFTER INSERT ON threads BEGIN SELECT 1; END'));
    const before = readFileSync(dbPath);
    const opens = [
      () => createDatabase({ dbPath }),
      () => openStateCopy(before),
      () => openWorkingCopy(dbPath),
    ];
    for (const open of opens)
      expect(refusal(open)).toMatchObject({
        code: 'SCHEMA_FOREIGN',
        message: expect.stringContaining(
          'contains objects that devs did not create: trigger planted on threads.',
        ),
        remedy: expect.stringContaining('DROP TRIGGER "planted";'),
      });
  });

  test('is not written to', ({ dbPath }) => {
    writing(dbPath, (db) => {
      db.exec('CREATE TRIGGER planted AFTER INSERT ON threads BEGIN SELECT 1; END');
      db.pragma('journal_mode = DELETE'); // A writer would change that.
    });
    const before = readFileSync(dbPath);
    expect(refusal(() => createDatabase({ dbPath }))?.code).toBe('SCHEMA_FOREIGN');
    expect(readFileSync(dbPath).equals(before)).toBe(true);
  });

  test('opens for who only reads, whose doctor names it', ({ dbPath }) => {
    writing(dbPath, (db) => db.exec(ELSEWHERE[0] ?? ''));
    const db = openReadOnly({ dbPath });
    expect(foreignSchema(db)?.message).toContain('view planted');
    expect(doctor(db)).toMatchObject({
      ok: false,
      findings: [
        {
          code: 'SCHEMA_FOREIGN',
          severity: 'error',
          detail: expect.stringContaining('DROP VIEW "planted";'),
        },
      ],
    });
    db.close();
  });

  test('is refused for each planting at each table, and mended by the statement that is told', ({
    dbPath,
    task,
  }) => {
    writing(dbPath, (db) => {
      const plantings = tablesOf(db)
        .flatMap((table) => plantingsAt(table, firstColumn(db, table)))
        .concat(ELSEWHERE);
      const taken = plantings.filter((sql) => {
        db.exec('SAVEPOINT before');
        db.exec(sql);
        const refused = refusal(() => assertOwnSchema(db, 'engine'));
        db.exec(String(refused?.context['statements']));
        const isMended = refusal(() => assertOwnSchema(db, 'engine')) === null;
        db.exec('ROLLBACK TO before; RELEASE before');
        return refused?.code !== 'SCHEMA_FOREIGN' || !isMended;
      });
      tried(task, { ways: plantings.length, through: taken.length });
      expect(plantings.length).toBeGreaterThan(250);
      expect(taken).toEqual([]);
    });
  });

  test.for(ALTERED)('is refused for an altered table: %s', (sql, { dbPath }) => {
    writing(dbPath, (db) => plant(db, sql));
    expect(refusal(() => createDatabase({ dbPath }))).toMatchObject({
      code: 'SCHEMA_FOREIGN',
      message: expect.stringContaining('an altered table'),
      remedy: expect.stringMatching(/restore a backup/i),
    });
  });

  test('is refused where the name of what was planted says that it is of SQLite', ({ dbPath }) => {
    writing(dbPath, (db) => {
      db.exec('CREATE TRIGGER planted AFTER INSERT ON threads BEGIN SELECT 1; END');
      db.unsafeMode(true);
      db.pragma('writable_schema = ON');
      db.exec(
        `UPDATE sqlite_schema SET name = 'sqlite_planted', sql = replace(sql, 'planted', 'sqlite_planted')
         WHERE name = 'planted'`,
      );
    });
    expect(refusal(() => createDatabase({ dbPath }))?.code).toBe('SCHEMA_FOREIGN');
  });

  test.for([1, 6, 12, 20, MIGRATIONS.length - 1])(
    'is refused before it is brought up to date from %i migrations',
    (count, { dbPath }) => {
      const db = new BetterSqlite3(dbPath);
      runMigrations(db, MIGRATIONS.slice(0, count));
      expect(refusal(() => assertOwnSchema(db, 'engine'))).toBeNull();
      db.exec('CREATE TRIGGER planted AFTER UPDATE ON threads BEGIN SELECT 1; END');
      db.close();
      expect(refusal(() => createDatabase({ dbPath }))?.code).toBe('SCHEMA_FOREIGN');
    },
  );
});

describe('a plain table of somebody else', () => {
  test('is no reason to refuse a file, and a note of doctor', ({ dbPath }) => {
    writing(dbPath, (db) => db.exec('CREATE TABLE theirs (x); CREATE INDEX by_x ON theirs (x); ANALYZE'));
    const db = createDatabase({ dbPath });
    expect(doctor(db)).toMatchObject({ ok: true, findings: [{ severity: 'note' }, { severity: 'note' }] });
    db.close();
  });
});

describe("a program's own database", () => {
  const ITS_OWN = `
    CREATE TABLE posts (id INTEGER PRIMARY KEY, run TEXT, text TEXT);
    CREATE TABLE audit (what TEXT);
    CREATE INDEX posts_by_run ON posts (run);
    CREATE TRIGGER posts_told AFTER INSERT ON posts BEGIN INSERT INTO audit VALUES (NEW.text); END;
    CREATE VIEW latest AS SELECT max(id) AS id FROM posts;
    CREATE VIRTUAL TABLE found USING fts5 (text)`;

  test('keeps its tables, indexes, triggers and views, and they go on to work', ({ dbPath }) => {
    const db = new BetterSqlite3(dbPath);
    db.pragma('journal_mode = WAL');
    db.pragma('trusted_schema = OFF');
    db.exec(ITS_OWN);
    for (const _ of [1, 2]) {
      assertOwnSchema(db, 'program');
      runMigrations(db);
    }
    db.exec("INSERT INTO posts (text) VALUES ('hello'); INSERT INTO found VALUES ('hello')");
    expect(db.prepare('SELECT what FROM audit, latest').pluck().get()).toBe('hello');
    expect(foreignSchema(db)).toBeNull();
    db.close();
  });

  test('is refused for a trigger, an index or another form of the tables of the engine', ({
    dbPath,
    task,
  }) => {
    const db = new BetterSqlite3(dbPath);
    db.exec(ITS_OWN);
    runMigrations(db);
    const ours = tablesOf(db).filter((table) => !/^(?:posts|audit|found)/.test(table));
    const plantings = ours.flatMap((table) => plantingsAt(table, firstColumn(db, table)));
    const taken = plantings.filter((sql) => {
      db.exec(`SAVEPOINT before; ${sql}`);
      const code = refusal(() => prepareConnection(db))?.code;
      db.exec('ROLLBACK TO before; RELEASE before');
      return code !== 'SCHEMA_FOREIGN';
    });
    tried(task, { ways: plantings.length, through: taken.length });
    expect(plantings.length).toBeGreaterThan(250);
    expect(taken).toEqual([]);
    plant(db, ALTERED[0] ?? '');
    expect(refusal(() => prepareConnection(db))?.code).toBe('SCHEMA_FOREIGN');
    db.close();
  });
});
