import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import BetterSqlite3, { type Database } from 'better-sqlite3';
import { afterEach, describe, expect, vi } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import {
  closeDatabase,
  createDatabase,
  getDatabase,
  openReadOnly,
  prepareConnection,
} from '../createDatabase.ts';
import { MIGRATIONS } from '../migrations/index.ts';
import {
  APPLICATION_ID,
  applyPragmas,
  assertPragmas,
  type ConnectionPolicy,
  isSupportedSqlite,
} from '../pragmas.ts';

const POLICY: ConnectionPolicy = { synchronous: 'full', busyTimeoutMs: 5000 };
const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);
const sizeOf = (path: string): number => (existsSync(path) ? statSync(path).size : 0);
const pragma = (db: Database, name: string): unknown => db.pragma(name, { simple: true });

/** Makes SQLite seem to hold a setting at another value than it was given. */
function falsify(name: string, value: string | number): void {
  const { pragma: real } = BetterSqlite3.prototype;
  const falsified: Database['pragma'] = function (this: Database, source, options) {
    return source === name ? value : real.call(this, source, options);
  };
  vi.spyOn(BetterSqlite3.prototype, 'pragma').mockImplementation(falsified);
}

describe('the settings of a connection', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  test('are as strict on the second open as on the first', ({ dbPath }) => {
    const first = createDatabase({ dbPath });
    const second = createDatabase({ dbPath });
    first.close();
    const third = createDatabase({ dbPath });
    for (const db of [second, third]) {
      expect([db.name, sizeOf(dbPath) > 0]).toEqual([dbPath, true]);
      expect({
        journal_mode: pragma(db, 'journal_mode'),
        synchronous: pragma(db, 'synchronous'),
        fullfsync: pragma(db, 'fullfsync'),
        checkpoint_fullfsync: pragma(db, 'checkpoint_fullfsync'),
        foreign_keys: pragma(db, 'foreign_keys'),
        busy_timeout: pragma(db, 'busy_timeout'),
        trusted_schema: pragma(db, 'trusted_schema'),
        cell_size_check: pragma(db, 'cell_size_check'),
        journal_size_limit: pragma(db, 'journal_size_limit'),
        wal_autocheckpoint: pragma(db, 'wal_autocheckpoint'),
        application_id: pragma(db, 'application_id'),
      }).toEqual({
        journal_mode: 'wal',
        synchronous: 2,
        fullfsync: 1,
        checkpoint_fullfsync: 1,
        foreign_keys: 1,
        busy_timeout: 250,
        trusted_schema: 0,
        cell_size_check: 1,
        journal_size_limit: 16 * 1024 * 1024,
        wal_autocheckpoint: 2000,
        application_id: APPLICATION_ID,
      });
      db.close();
    }
  });

  test.for([
    'journal_mode = DELETE',
    'synchronous = NORMAL',
    'foreign_keys = OFF',
    'busy_timeout = 100',
    'trusted_schema = ON',
    'cell_size_check = OFF',
    'journal_size_limit = -1',
    'journal_size_limit = 16777217',
    'application_id = 7',
  ])('are refused when read back as %s', (setting, { db }) => {
    expect(() => assertPragmas(db, POLICY)).not.toThrow();
    db.pragma(setting);
    expect(() => assertPragmas(db, POLICY)).toThrow(expect.objectContaining({ code: 'STATE_IO' }));
    expect(() => assertPragmas(db, POLICY)).toThrow(setting.split(' ')[0]);
  });

  test.for([
    ['journal_mode', 'delete'],
    ['synchronous', 1],
    ['foreign_keys', 0],
    ['busy_timeout', 249],
    ['trusted_schema', 1],
    ['cell_size_check', 0],
    ['journal_size_limit', 16 * 1024 * 1024 + 1],
  ] as const)('that SQLite does not take stop the opening: %s stays %s', ([name, value], { dbPath }) => {
    createDatabase({ dbPath }).close();
    const untouched = readFileSync(dbPath);
    falsify(name, value);
    const open = (): Database => createDatabase({ dbPath });
    expect(open).toThrow(expect.objectContaining({ code: 'STATE_IO' }));
    expect(open).toThrow(`${name} is ${value}`);
    expect(readFileSync(dbPath).equals(untouched)).toBe(true);
  });

  test.for([
    ['busy_timeout', 0],
    ['trusted_schema', 1],
    ['cell_size_check', 0],
  ] as const)('of a viewer are read back as well: %s stays %s', ([name, value], { dbPath }) => {
    createDatabase({ dbPath }).close();
    falsify(name, value);
    expect(() => openReadOnly({ dbPath })).toThrow(expect.objectContaining({ code: 'STATE_IO' }));
  });

  test('refuse a SQLite that can damage a shared write-ahead log', () => {
    expect(['3.51.2', '3.50.9', '2.99.99', '3.51'].map(isSupportedSqlite)).toEqual([
      false,
      false,
      false,
      false,
    ]);
    expect(['3.51.3', '3.51.10', '3.52.0', '4.0.0'].map(isSupportedSqlite)).toEqual([true, true, true, true]);
    const db = createDatabase({ dbPath: ':memory:' });
    db.function('sqlite_version', () => '3.51.2');
    expect(() => assertPragmas(db, POLICY)).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }));
    db.close();
  });

  test('can be relaxed to normal durability, and only by name', ({ dbPath }) => {
    const db = createDatabase({ dbPath, synchronous: 'normal', busyTimeoutMs: 9000 });
    expect(pragma(db, 'synchronous')).toBe(1);
    expect(pragma(db, 'fullfsync')).toBe(0);
    db.close();
    for (const options of [
      { busyTimeoutMs: 4999 },
      { busyTimeoutMs: Number.NaN },
      { synchronous: 'off' as 'full' },
    ]) {
      expect(() => createDatabase({ dbPath, ...options })).toThrow(
        expect.objectContaining({ code: 'CONFIG_INVALID' }),
      );
    }
  });

  test('a private database in memory opens too', () => {
    const db = createDatabase({ dbPath: ':memory:' });
    expect(pragma(db, 'journal_mode')).toBe('memory');
    expect(db.prepare('SELECT count(*) FROM schema_migrations').pluck().get()).toBe(MIGRATIONS.length);
    db.close();
  });
});

describe('files and folders', () => {
  const umask = process.umask();
  afterEach(() => {
    process.umask(umask);
  });

  test.for([0o000, 0o022])('are private under umask %o', (mask, { dbPath }) => {
    process.umask(mask);
    const folder = join(dirname(dbPath), 'new', 'nested');
    const path = join(folder, 'state.sqlite');
    const db = createDatabase({ dbPath: path });
    db.prepare("INSERT INTO events (at, name, payload_json) VALUES (1, 'RUN_FINISHED', '{}')").run();
    expect(modeOf(folder)).toBe('700');
    expect(['', '-wal', '-shm'].map((suffix) => modeOf(path + suffix))).toEqual(['600', '600', '600']);
    db.close();
  });

  test('an existing folder keeps its mode unless it is .devs', ({ dbPath }) => {
    const root = dirname(dbPath);
    const [shared, own] = [join(root, 'shared'), join(root, '.devs')];
    for (const folder of [shared, own]) {
      mkdirSync(folder);
      chmodSync(folder, 0o755);
    }
    createDatabase({ dbPath: join(shared, 'state.sqlite') }).close();
    createDatabase({ fromDir: root }).close();
    expect([modeOf(shared), modeOf(own)]).toEqual(['755', '700']);
    expect(modeOf(join(own, 'state.sqlite'))).toBe('600');
  });

  test('a folder that cannot be made is an input/output fault', ({ dbPath }) => {
    writeFileSync(dbPath, '');
    expect(() => createDatabase({ dbPath: join(dbPath, 'state.sqlite') })).toThrow(
      expect.objectContaining({ code: 'STATE_IO' }),
    );
  });

  test('a name that the file system does not take is an input/output fault', ({ dbPath }) => {
    expect(() => createDatabase({ dbPath: `${dbPath}${'x'.repeat(300)}` })).toThrow(
      expect.objectContaining({ code: 'STATE_IO' }),
    );
  });

  test('an empty path is refused: SQLite would open a temporary database', () => {
    expect(() => createDatabase({ dbPath: '' })).toThrow(TypeError);
    expect(() => createDatabase({} as { dbPath: string })).toThrow(TypeError);
  });
});

describe('a file that is refused', () => {
  /** Opens, expects the refusal, and compares every byte. */
  function expectRefused(dbPath: string, code: string): void {
    const before = readFileSync(dbPath);
    expect(() => createDatabase({ dbPath })).toThrow(expect.objectContaining({ code }));
    expect(readFileSync(dbPath).equals(before)).toBe(true);
    // A connection that only reads leaves at most an empty log behind.
    expect(['-wal', '-journal'].filter((suffix) => sizeOf(dbPath + suffix) > 0)).toEqual([]);
  }

  test('stays as it is: another program’s database', ({ dbPath }) => {
    const other = new BetterSqlite3(dbPath);
    other.exec('CREATE TABLE theirs (x)');
    other.close();
    expectRefused(dbPath, 'CONFIG_INVALID');
  });

  test('stays as it is: another program’s mark in the header', ({ dbPath }) => {
    const other = new BetterSqlite3(dbPath);
    other.pragma('application_id = 252006673');
    other.close();
    expectRefused(dbPath, 'CONFIG_INVALID');
  });

  test('stays as it is: a migration table of another tool', ({ dbPath }) => {
    const other = new BetterSqlite3(dbPath);
    other.exec('CREATE TABLE schema_migrations (version TEXT)');
    other.close();
    expectRefused(dbPath, 'CONFIG_INVALID');
  });

  test('stays as it is: no database at all', ({ dbPath }) => {
    writeFileSync(dbPath, 'not a database, but long enough to be read as a header'.repeat(20));
    expectRefused(dbPath, 'STATE_CORRUPT');
  });

  test.for([
    ['SCHEMA_TOO_NEW', "INSERT INTO schema_migrations VALUES (900, '900_later', 'x', 'now')"],
    ['MIGRATION_EDITED', "UPDATE schema_migrations SET sha256 = 'other' WHERE version = 3"],
    ['MIGRATION_GAP', 'DELETE FROM schema_migrations WHERE version = 6'],
  ] as const)('stays as it is: %s', ([code, change], { dbPath }) => {
    const db = createDatabase({ dbPath });
    db.exec(change);
    db.close();
    expectRefused(dbPath, code);
    expect(() => openReadOnly({ dbPath })).toThrow(expect.objectContaining({ code }));
  });

  test('keeps what a killed writer left in its write-ahead log', ({ dbPath }) => {
    const db = createDatabase({ dbPath });
    db.exec("INSERT INTO schema_migrations VALUES (900, '900_later', 'x', 'now')");
    const before = readFileSync(dbPath);
    expect(() => createDatabase({ dbPath })).toThrow(expect.objectContaining({ code: 'SCHEMA_TOO_NEW' }));
    expect(readFileSync(dbPath).equals(before)).toBe(true);
    db.close();
  });
});

describe('openReadOnly', () => {
  test('reads beside a writer and cannot write', ({ db, dbPath }) => {
    const viewer = openReadOnly({ dbPath });
    db.prepare("INSERT INTO events (at, name, payload_json) VALUES (1, 'RUN_FINISHED', '{}')").run();
    expect(viewer.prepare('SELECT count(*) FROM events').pluck().get()).toBe(1);
    expect(() => viewer.exec('DELETE FROM events')).toThrow(/readonly/);
    viewer.close();
  });

  test('refuses a missing file without creating it, and an empty one', ({ dbPath }) => {
    expect(() => openReadOnly({ dbPath })).toThrow(expect.objectContaining({ code: 'STATE_IO' }));
    expect(existsSync(dbPath)).toBe(false);
    writeFileSync(dbPath, '');
    expect(() => openReadOnly({ dbPath })).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }));
  });

  test.for([
    ['a missing folder', (path: string) => join(path, 'nowhere', 'state.sqlite')],
    ['a folder that is a file', (path: string) => join(path, 'file', 'state.sqlite')],
    ['a name no file can have', (path: string) => join(path, 'x'.repeat(300))],
    ['a link to itself', (path: string) => join(path, 'loop')],
  ] as const)('refuses %s with a remedy, and makes nothing', ([, pathIn], { dbPath }) => {
    const folder = dirname(dbPath);
    writeFileSync(join(folder, 'file'), '');
    symlinkSync('loop', join(folder, 'loop'));
    const before = readdirSync(folder);
    expect(() => openReadOnly({ dbPath: pathIn(folder) })).toThrow(
      expect.objectContaining({ code: 'STATE_IO', remedy: expect.stringContaining('path') }),
    );
    expect(() => openReadOnly({ fromDir: pathIn(folder) })).toThrow(
      expect.objectContaining({ code: 'STATE_IO' }),
    );
    expect(readdirSync(folder)).toEqual(before);
  });
});

describe('getDatabase', () => {
  afterEach(closeDatabase);

  test('returns one instance until it is closed', ({ dbPath }) => {
    const db = getDatabase({ dbPath });
    expect(getDatabase()).toBe(db);
    expect(getDatabase({ dbPath })).toBe(db);
    expect(() => getDatabase({ dbPath: `${dbPath}2` })).toThrow(TypeError);
    closeDatabase();
    closeDatabase();
    expect(db.open).toBe(false);
    expect(getDatabase({ dbPath })).not.toBe(db);
  });

  test('opens anew when somebody else closed the instance', ({ dbPath }) => {
    getDatabase({ dbPath }).close();
    expect(getDatabase({ dbPath }).open).toBe(true);
  });

  test('opens the state file of the working folder by default', ({ dbPath }) => {
    const cwd = vi.spyOn(process, 'cwd').mockReturnValue(dirname(dbPath));
    expect(getDatabase().name).toBe(join(dirname(dbPath), '.devs', 'state.sqlite'));
    cwd.mockRestore();
  });
});

describe('prepareConnection', () => {
  test('migrates a handle its caller opened, makes commits durable and warns once', ({ dbPath }) => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    createDatabase({ dbPath }).close();
    const db = new BetterSqlite3(dbPath);
    prepareConnection(db);
    prepareConnection(db);
    expect(pragma(db, 'synchronous')).toBe(2);
    expect(warn).toHaveBeenCalledTimes(1);
    expect(String(warn.mock.calls[0]?.[0])).toContain('trusted_schema');
    warn.mockRestore();
    db.close();
  });

  test('says nothing about a connection of createDatabase', ({ db }) => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    prepareConnection(db);
    expect(warn).not.toHaveBeenCalled();
    warn.mockRestore();
  });

  test('says nothing about a handle that is set as createDatabase sets it', ({ dbPath }) => {
    createDatabase({ dbPath }).close();
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const db = new BetterSqlite3(dbPath);
    applyPragmas(db, POLICY);
    prepareConnection(db);
    expect(warn).not.toHaveBeenCalled();
    warn.mockRestore();
    db.close();
  });

  test('leaves a read-only connection as it is, and checks its history', ({ db, dbPath }) => {
    const reader = new BetterSqlite3(dbPath, { readonly: true });
    prepareConnection(reader);
    reader.close();
    db.exec("UPDATE schema_migrations SET sha256 = 'other' WHERE version = 3");
    const second = new BetterSqlite3(dbPath, { readonly: true });
    expect(() => prepareConnection(second)).toThrow(expect.objectContaining({ code: 'MIGRATION_EDITED' }));
    second.close();
  });

  test('a file it prepared opens as a state file', ({ dbPath }) => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const raw = new BetterSqlite3(dbPath);
    raw.exec('CREATE TABLE theirs (x)');
    prepareConnection(raw);
    raw.close();
    const db = createDatabase({ dbPath });
    expect(pragma(db, 'application_id')).toBe(APPLICATION_ID);
    db.close();
    warn.mockRestore();
  });
});

describe('a folder .devs', () => {
  test('is ignored by git before the state file is in it', ({ dbPath }) => {
    const project = dirname(dbPath);
    const git = (...args: readonly string[]): string =>
      execFileSync('git', args, { cwd: project }).toString();
    git('init', '-q');
    createDatabase({ fromDir: project }).close();
    git('add', '--all');
    expect(git('status', '--porcelain')).toBe('');
    expect(readdirSync(join(project, '.devs')).sort()).toEqual(['.gitignore', 'state.sqlite']);
  });

  test('keeps the .gitignore that it has, and gets one where a full disk left nothing in it', ({
    dbPath,
  }) => {
    const folder = join(dirname(dbPath), '.devs');
    mkdirSync(folder);
    for (const [before, after] of [
      ['state*\n', 'state*\n'],
      ['', '*\n'],
    ] as const) {
      writeFileSync(join(folder, '.gitignore'), before);
      createDatabase({ fromDir: dirname(dbPath) }).close();
      expect(readFileSync(join(folder, '.gitignore'), 'utf8')).toBe(after);
    }
  });
});
