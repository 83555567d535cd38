import { copyFileSync, renameSync, rmSync, truncateSync } from 'node:fs';
import { dirname } from 'node:path';
import BetterSqlite3, { type Database } from 'better-sqlite3';
import { describe, expect, vi } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { createDatabase, openReadOnly, prepareConnection } from '../createDatabase.ts';
import { assertSameFile, identityOf, watchFile } from '../fileIdentity.ts';

const REPLACED = expect.objectContaining({ code: 'STATE_REPLACED' });
const INSERT = `INSERT INTO events (at, name, payload_json) VALUES (0, 'X', '"${'x'.repeat(500)}"')`;
const ATTEMPTS = 100;

/** A commit as the stores make one: looked at before the write and before the acknowledgement. */
function commit(db: Database, between: () => void = () => {}): void {
  const write = db.transaction(() => {
    assertSameFile(db);
    db.exec(INSERT);
    between();
  });
  write.immediate();
  assertSameFile(db);
}

const ACCIDENTS: readonly (readonly [what: string, happens: (dbPath: string) => void])[] = [
  ['deleted', (dbPath) => rmSync(dbPath)],
  ['deleted with its folder', (dbPath) => rmSync(dirname(dbPath), { recursive: true })],
  ['moved away with its folder', (dbPath) => renameSync(dirname(dbPath), `${dirname(dbPath)}-moved`)],
  [
    'replaced by a copy of itself',
    (dbPath) => {
      copyFileSync(dbPath, `${dbPath}.copy`);
      renameSync(`${dbPath}.copy`, dbPath);
    },
  ],
  ['truncated to nothing', (dbPath) => truncateSync(dbPath, 0)],
  ['truncated to its first page', (dbPath) => truncateSync(dbPath, 4096)],
  ['separated from its write-ahead log', (dbPath) => rmSync(`${dbPath}-wal`)],
];

describe('a state file that is', () => {
  test.for(ACCIDENTS)('%s takes no further acknowledged commit', ([, happens], { dbPath }) => {
    const db = createDatabase({ dbPath });
    for (let n = 0; n < 10; n += 1) commit(db);
    db.pragma('wal_checkpoint(PASSIVE)'); // The file has its full size.
    commit(db);
    happens(dbPath);
    for (let n = 0; n < ATTEMPTS; n += 1) expect(() => commit(db)).toThrow(REPLACED);
    db.close();
    rmSync(`${dirname(dbPath)}-moved`, { recursive: true, force: true });
  });

  test('truncated while its log is empty is not taken for a compacted one', ({ db, dbPath }) => {
    commit(db);
    const other = createDatabase({ dbPath });
    commit(other);
    other.pragma('wal_checkpoint(TRUNCATE)');
    other.close();
    assertSameFile(db);
    truncateSync(dbPath, 4096);
    expect(() => assertSameFile(db)).toThrow(REPLACED);
  });

  test('replaced during a commit does not acknowledge it', ({ db, dbPath }) => {
    expect(() => commit(db, () => rmSync(dbPath))).toThrow(REPLACED);
  });

  test('replaced while it is being opened is refused', ({ db, dbPath }) => {
    const before = identityOf(dbPath);
    copyFileSync(dbPath, `${dbPath}.copy`);
    renameSync(`${dbPath}.copy`, dbPath);
    expect(() => watchFile(db, dbPath, before)).toThrow(REPLACED);
    rmSync(dbPath);
    expect(() => watchFile(db, dbPath, before)).toThrow(REPLACED);
  });

  test('replaced is noticed by a viewer too', ({ db, dbPath }) => {
    commit(db);
    const viewer = openReadOnly({ dbPath });
    assertSameFile(viewer);
    rmSync(dbPath);
    expect(() => assertSameFile(viewer)).toThrow(REPLACED);
    viewer.close();
  });
});

describe('a state file that stays where it is', () => {
  test('grows, is checkpointed, and is opened and closed by others without a complaint', ({ db, dbPath }) => {
    for (let n = 0; n < 50; n += 1) {
      commit(db);
      if (n % 10 !== 0) continue;
      const other = createDatabase({ dbPath });
      commit(other);
      other.pragma('wal_checkpoint(TRUNCATE)');
      other.close();
    }
    assertSameFile(db);
  });

  test('may shrink when somebody compacts it', ({ db, dbPath }) => {
    for (let n = 0; n < 200; n += 1) commit(db);
    const other = createDatabase({ dbPath });
    other.exec('DELETE FROM events; VACUUM');
    other.pragma('wal_checkpoint(TRUNCATE)');
    other.close();
    for (let n = 0; n < 20; n += 1) commit(db);
    truncateSync(dbPath, 8192);
    expect(() => commit(db)).toThrow(REPLACED);
  });
});

describe('a connection that', () => {
  test('has no file is not watched', () => {
    const db = createDatabase({ dbPath: ':memory:' });
    expect(() => commit(db)).not.toThrow();
    db.close();
  });

  test('its caller opened is watched once it is prepared', ({ dbPath }) => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const db = new BetterSqlite3(dbPath);
    prepareConnection(db);
    commit(db);
    rmSync(dbPath);
    expect(() => commit(db)).toThrow(REPLACED);
    db.close();
    warn.mockRestore();
  });

  test('its caller opened by a URI is left alone', ({ dbPath }) => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const cwd = process.cwd();
    process.chdir(dirname(dbPath)); // better-sqlite3 takes a URI only without folders.
    const db = new BetterSqlite3('file:state.sqlite?mode=rwc');
    process.chdir(cwd);
    prepareConnection(db);
    expect(() => commit(db)).not.toThrow();
    db.close();
    warn.mockRestore();
  });
});
