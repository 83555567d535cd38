import { copyFileSync, mkdirSync, realpathSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import BetterSqlite3, { type Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { createDatabase, openReadOnly } from '../../src/db/createDatabase.ts';
import { runMigrations } from '../../src/db/migrate.ts';
import { MIGRATIONS } from '../../src/db/migrations/index.ts';
import { assertOwnSchema, schemaDrift } from '../../src/db/ownSchema.ts';
import { everyTable } from '../../src/orchestration/__tests__/everyTable.ts';
import { aThread } from '../../src/state/__tests__/aThread.ts';
import { doctor } from '../../src/state/doctor/doctor.ts';
import { DecisionLog } from '../../src/state/gates/DecisionLog.ts';
import { ThreadInputStore } from '../../src/state/threads/ThreadInputStore.ts';
import { ThreadStore } from '../../src/state/threads/ThreadStore.ts';
import { test } from '../support/fixtures.ts';
import { aFileOf021, anEmptyFileOf021, BEFORE_022, INPUT, insertThread021, POLICIES } from './aFileOf021.ts';

/** Made anew, with the order in which their rows are kept. */
const COPIED = [
  'threads',
  'signals',
  'rewinds',
  'hitl_sessions',
  'hitl_decisions',
  'hitl_failure_gates',
  'hitl_failure_gates_history',
];
const KEPT = ['agent_steps', 'events', 'guard_firings', 'driven_time'];

type Rows = readonly Record<string, unknown>[];

function rowsOf(db: Database): Record<string, Rows> {
  const select = (columns: string, table: string): Rows =>
    db.prepare<[], Record<string, unknown>>(`SELECT ${columns} FROM ${table}`).all();
  return Object.fromEntries([
    ...COPIED.map((table) => [table, select('rowid, *', table)] as const),
    ...KEPT.map((table) => [table, select('*', table)] as const),
  ]);
}

/** What migration 022 makes of the rows of 021. */
function expectedOf(rows: Record<string, Rows>): Record<string, Rows> {
  const isBare = (row: Record<string, unknown>): boolean => row['thread_id'] === 'bare';
  const threads = rows['threads']?.map((row) => (isBare(row) ? row : { ...row, policies_json: POLICIES }));
  const steps = rows['agent_steps']?.map((row) => ({ ...row, codec: null }));
  return { ...rows, threads: threads ?? [], agent_steps: steps ?? [] };
}

describe('a file of the engine before migration 022', () => {
  test('keeps every row as it was, in its order', ({ dbPath }) => {
    const old = aFileOf021(dbPath);
    const before = rowsOf(old);
    old.close();
    for (const [table, rows] of Object.entries(before)) expect(rows.length, table).toBeGreaterThan(0);
    const db = new BetterSqlite3(dbPath);
    const upTo022 = MIGRATIONS.filter(({ version }) => version <= 22);
    runMigrations(db, upTo022);
    expect(rowsOf(db)).toStrictEqual(expectedOf(before));
    expect(db.prepare('SELECT name FROM temp.sqlite_schema').all()).toEqual([]);
    expect(schemaDrift(db)).toEqual([]);
    db.close();
  });

  test('is sound, its decisions included, and goes on', ({ dbPath }) => {
    aFileOf021(dbPath).close();
    const db = createDatabase({ dbPath });
    const report = doctor(db);
    expect(report.ok).toBe(true);
    expect(report.findings.map(({ code, table }) => `${code} ${table}`)).toEqual([
      'ROW_UNSEALED agent_steps',
      'ROW_UNSEALED thread_inputs',
    ]);
    expect(new DecisionLog(db).verify()).toEqual({ ok: true });
    expect(() => db.exec('DELETE FROM hitl_decisions')).toThrow('append-only');
    db.close();
  });

  test('has the inputs of its runs in a table of their own', ({ dbPath }) => {
    aFileOf021(dbPath).close();
    const db = createDatabase({ dbPath });
    const inputs = new ThreadInputStore(db);
    for (const { threadId, policies } of new ThreadStore(db).list()) {
      if (threadId === 'bare') continue;
      const { type, bytes } = inputs.require(threadId);
      expect([type, JSON.parse(Buffer.from(bytes).toString())]).toEqual(['json', INPUT]);
      expect(policies).not.toHaveProperty('input');
    }
    expect(() => inputs.require('bare')).toThrow(expect.objectContaining({ code: 'STATE_CORRUPT' }));
    db.close();
  });

  test('may hold a view that its program put over the tables', ({ dbPath }) => {
    const old = aFileOf021(dbPath);
    old.exec('CREATE VIEW open_runs AS SELECT thread_id FROM threads JOIN hitl_sessions USING (thread_id)');
    const before = old.prepare('SELECT * FROM open_runs').all();
    assertOwnSchema(old, 'program');
    runMigrations(old);
    expect(old.prepare('SELECT * FROM open_runs').all()).toEqual(before);
    old.close();
  });

  test('is not touched by a reader, and doctor does not look into it', ({ dbPath }) => {
    const old = aFileOf021(dbPath);
    const before = everyTable(old);
    const viewer = openReadOnly({ dbPath });
    const codes = doctor(viewer).findings.map(({ code }) => code);
    viewer.close();
    expect(codes).toEqual(['NOT_EXAMINED']);
    expect(everyTable(old)).toBe(before);
    old.close();
  });

  test('stays as it was when the process dies in front of any statement', ({ dbPath }) => {
    aFileOf021(dbPath).close();
    const left: string[] = [];
    const copy = (): void => {
      const target = join(dirname(dbPath), `left-${left.length}.sqlite`);
      for (const suffix of ['', '-wal']) copyFileSync(dbPath + suffix, target + suffix);
      left.push(target);
    };
    const sound = new BetterSqlite3(dbPath);
    const before = everyTable(sound);
    sound.close();
    const db = new BetterSqlite3(dbPath, { verbose: () => counting && copy() });
    let counting = false;
    db.pragma('foreign_keys = ON');
    counting = true;
    runMigrations(db, MIGRATIONS);
    counting = false;
    db.close();
    expect(left.length).toBeGreaterThan(30);
    for (const path of left) {
      const found = new BetterSqlite3(path);
      expect(everyTable(found), path).toBe(before);
      expect(runMigrations(found, BEFORE_022)).toEqual([]);
      found.close();
    }
  });
});

describe("the folder of an older engine's run", () => {
  /** The name that a folder has once the file was migrated. */
  function migrated(dbPath: string, workspace: string): string | null | undefined {
    const old = anEmptyFileOf021(dbPath);
    insertThread021(old, 'run', { workspace });
    old.close();
    const db = createDatabase({ dbPath });
    const { workspace: name } = new ThreadStore(db).require('run');
    db.close();
    return name;
  }

  test.for([
    ['beside the state folder', '/.devs-work/run', '../.devs-work/run'],
    ['in the state folder', '/.devs/runs/run', 'runs/run'],
    ['the project itself', '', '..'],
    ['the state folder itself', '/.devs', '.'],
    ['in a folder whose name only begins as that of the state folder', '/.devs-x', '../.devs-x'],
  ] as const)('%s is named from there', ([_where, folder, name], { dbPath }) => {
    const project = realpathSync(dirname(dbPath));
    mkdirSync(join(project, '.devs'));
    expect(migrated(join(project, '.devs', 'state.sqlite'), project + folder)).toBe(name);
  });

  test('elsewhere stays where it is', ({ dbPath }) => {
    const project = realpathSync(dirname(dbPath));
    mkdirSync(join(project, '.devs'));
    for (const folder of ['/elsewhere/run', `${project}-2/.devs-work/run`, 'run']) {
      const file = join(project, '.devs', `${folder.length}.sqlite`);
      expect(migrated(file, folder)).toBe(folder);
    }
  });

  test('that was recorded through a link keeps its path, and is still one folder', ({ dbPath }) => {
    const link = join(dirname(dbPath), 'link');
    const project = join(dirname(dbPath), 'project');
    mkdirSync(join(project, '.devs'), { recursive: true });
    symlinkSync(project, link);
    const folder = join(link, '.devs-work', 'run');
    expect(migrated(join(link, '.devs', 'state.sqlite'), folder)).toBe(folder);
    const db = createDatabase({ dbPath: join(link, '.devs', 'state.sqlite') });
    const threads = new ThreadStore(db);
    for (const workspace of ['../.devs-work/run', folder, join(realpathSync(project), '.devs-work', 'run')]) {
      expect(() => threads.create(aThread({ threadId: 'new', workspace }))).toThrow(
        expect.objectContaining({ code: 'WORKSPACE_BUSY' }),
      );
    }
    db.close();
  });

  test('in a database in memory is left alone', () => {
    const db = anEmptyFileOf021(':memory:');
    insertThread021(db, 'run', { workspace: '/w/run' });
    runMigrations(db);
    expect(new ThreadStore(db).require('run').workspace).toBe('/w/run');
    db.close();
  });
});
