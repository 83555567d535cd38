import { existsSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Database } from 'better-sqlite3';
import { afterEach, describe, expect } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { backup } from '../backup.ts';
import { createDatabase, openReadOnly } from '../createDatabase.ts';

const INSERT = "INSERT INTO events (at, name, payload_json) VALUES (0, 'X', json_quote(?))";
const countOf = (db: Database): unknown => db.prepare('SELECT count(*) FROM events').pluck().get();
const targetOf = (dbPath: string): string => join(dirname(dbPath), 'copy.sqlite');
const leftIn = (dbPath: string): readonly string[] =>
  readdirSync(dirname(dbPath)).filter((name) => name.includes('copy'));

describe('backup', () => {
  test('holds everything committed and opens as a state file', ({ db, dbPath }) => {
    for (let n = 0; n < 100; n += 1) db.prepare(INSERT).run(`event ${n}`);
    const target = targetOf(dbPath);
    expect(backup(db, target)).toEqual({ path: target, bytes: statSync(target).size });

    const viewer = openReadOnly({ dbPath: target });
    expect(countOf(viewer)).toBe(100);
    viewer.close();
    const copy = createDatabase({ dbPath: target });
    expect(copy.pragma('integrity_check', { simple: true })).toBe('ok');
    expect(copy.pragma('journal_mode', { simple: true })).toBe('wal');
    copy.prepare(INSERT).run('one more');
    expect([countOf(copy), countOf(db)]).toEqual([101, 100]);
    copy.close();
  });

  test('can be taken through a connection that only reads', ({ db, dbPath }) => {
    db.prepare(INSERT).run('x');
    const viewer = openReadOnly({ dbPath });
    backup(viewer, targetOf(dbPath));
    viewer.close();
    const copy = openReadOnly({ dbPath: targetOf(dbPath) });
    expect(countOf(copy)).toBe(1);
    copy.close();
  });

  test('leaves out what is not committed', ({ db, dbPath }) => {
    const writer = createDatabase({ dbPath });
    writer.exec('BEGIN IMMEDIATE');
    writer.prepare(INSERT).run('pending');
    backup(db, targetOf(dbPath));
    writer.exec('ROLLBACK');
    writer.close();
    const copy = openReadOnly({ dbPath: targetOf(dbPath) });
    expect(countOf(copy)).toBe(0);
    copy.close();
  });

  test('a relative target is meant from the working folder', ({ db }) => {
    const target = join('test-results', `backup-${process.pid}.sqlite`);
    mkdirSync(dirname(target), { recursive: true });
    expect(backup(db, target).path).toBe(resolve(target));
    rmSync(target);
  });
});

describe('the files of a backup', () => {
  const umask = process.umask();
  afterEach(() => {
    process.umask(umask);
  });

  test.for([0o000, 0o022])('are private under umask %o', (mask, { db, dbPath }) => {
    process.umask(mask);
    backup(db, targetOf(dbPath));
    expect(statSync(targetOf(dbPath)).mode & 0o777).toBe(0o600);
    const copy = createDatabase({ dbPath: targetOf(dbPath) });
    copy.prepare(INSERT).run('x');
    for (const suffix of ['-wal', '-shm']) {
      expect(statSync(targetOf(dbPath) + suffix).mode & 0o777).toBe(0o600);
    }
    copy.close();
  });

  test('are one file and nothing beside it', ({ db, dbPath }) => {
    backup(db, targetOf(dbPath));
    expect(leftIn(dbPath)).toEqual(['copy.sqlite']);
  });
});

describe('a backup is refused', () => {
  test.for(['', '-wal', '-journal'])('over an existing file, name%s', (suffix, { db, dbPath }) => {
    writeFileSync(targetOf(dbPath) + suffix, 'precious');
    expect(() => backup(db, targetOf(dbPath))).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }));
    expect(statSync(targetOf(dbPath) + suffix).size).toBe('precious'.length);
    expect(leftIn(dbPath)).toEqual([`copy.sqlite${suffix}`]);
  });

  test('over the state file itself', ({ db, dbPath }) => {
    expect(() => backup(db, dbPath)).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }));
  });

  test('over a link that leads nowhere', ({ db, dbPath }) => {
    symlinkSync('/nonexistent/place', targetOf(dbPath));
    expect(() => backup(db, targetOf(dbPath))).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }));
    expect(leftIn(dbPath)).toEqual(['copy.sqlite']);
  });

  test('into a folder that does not exist, without making one', ({ db, dbPath }) => {
    const folder = join(dirname(dbPath), 'none');
    expect(() => backup(db, join(folder, 'copy.sqlite'))).toThrow(
      expect.objectContaining({ code: 'STATE_IO', remedy: expect.stringContaining('make the backup again') }),
    );
    expect(existsSync(folder)).toBe(false);
  });

  test('inside a transaction, and on a closed connection: mistakes of the caller', ({ db, dbPath }) => {
    const inside = db.transaction(() => backup(db, targetOf(dbPath)));
    expect(() => inside.immediate()).toThrow(TypeError);
    const closed = createDatabase({ dbPath });
    closed.close();
    expect(() => backup(closed, targetOf(dbPath))).toThrow(TypeError);
    expect(leftIn(dbPath)).toEqual([]);
  });
});
