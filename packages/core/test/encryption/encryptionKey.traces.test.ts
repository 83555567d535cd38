import { createHash } from 'node:crypto';
import { copyFileSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { backup } from '../../src/db/backup.ts';
import { createDatabase, openReadOnly } from '../../src/db/createDatabase.ts';
import type { EncryptionKey } from '../../src/db/encryptionKey.ts';
import { FileNews } from '../../src/db/FileWatch.ts';
import { dataVersion } from '../../src/db/fileIdentity.ts';
import { durable } from '../../src/engine/app/durable.ts';
import { internalsOf } from '../../src/engine/file/appInternals.ts';
import { maskSensitiveData } from '../../src/masking/maskSensitiveData.ts';
import { doctor } from '../../src/state/doctor/doctor.ts';
import { Orchestrator } from '../../src/surface/Orchestrator.ts';
import { MemoryRuns } from '../../src/testing/MemoryRuns.ts';
import { test } from '../support/fixtures.ts';
import { spawnProgram } from '../support/spawnTs.ts';
import { ALL, newKey, plant, plantedApp, plantedGraph, readableIn } from './planted.ts';

/** 32 bytes: a text takes time to open with. */
const KEY = `raw:${'b4d9e0c2'.repeat(8)}`;
const HOLDER = 'packages/core/test/encryption/holder.child.ts';
const rawText = (key: Uint8Array): string => `raw:${Buffer.from(key).toString('hex')}`;

function thrownBy(work: () => unknown): { readonly code: string; readonly remedy: string } & Error {
  try {
    work();
  } catch (error) {
    return error as ReturnType<typeof thrownBy>;
  }
  throw new Error('nothing was thrown');
}

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** All bytes of a folder. */
const bytesIn = (folder: string): ReadonlyMap<string, Buffer> =>
  new Map(
    readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => [name, readFileSync(join(folder, name))]),
  );

/** Locks of this process, as the kernel has them. */
const locksHere = (): readonly string[] =>
  readFileSync('/proc/locks', 'utf8')
    .split('\n')
    .filter((line) => line.split(/\s+/).includes(String(process.pid)))
    .map((line) => line.replace(/^\d+:/, ''))
    .sort();

const PAGE_BYTES = 4096;

describe('a state file with a key', () => {
  test('has nothing readable in it, its log and its backup, and is its owner’s alone', async ({ dbPath }) => {
    const app = plantedApp(dbPath, newKey());
    await plant(app);
    const copy = `${dbPath}.backup`;
    backup(internalsOf(app).store.db, copy);
    for (const end of ['', '-wal', '-shm', '.backup'])
      expect(statSync(`${dbPath}${end}`).mode & 0o777).toBe(0o600);
    expect([readableIn(dbPath), readableIn(copy)]).toEqual([[], []]);
    app.close();
    expect(readableIn(dbPath)).toEqual([]);
  });

  test('has all of that without one', async ({ dbPath }) => {
    const app = plantedApp(dbPath);
    await plant(app);
    backup(internalsOf(app).store.db, `${dbPath}.backup`);
    expect([readableIn(dbPath), readableIn(`${dbPath}.backup`)]).toEqual([ALL, ALL]);
    app.close();
  });

  test('has nothing readable while a transaction writes more than memory holds, nor after kill -9', async ({
    dbPath,
  }) => {
    const key = newKey();
    const db = createDatabase({ dbPath, encryptionKey: key });
    db.pragma('cache_size = 4');
    const isReadable = (): boolean =>
      [...bytesIn(dirname(dbPath)).values()].some((all) => all.includes('dormouse'));
    db.exec('BEGIN IMMEDIATE');
    const insert = db.prepare("INSERT INTO events (at, name, payload_json) VALUES (1, 'X', json_quote(?))");
    for (let n = 0; n < 500; n += 1) insert.run(`${n} dormouse`);
    expect(statSync(`${dbPath}-wal`).size).toBeGreaterThan(20_000); // else nothing of it is on the disk
    expect(isReadable()).toBe(false);
    db.exec('ROLLBACK');
    db.close();

    const env = { DEVS_ENCRYPTION_KEY: rawText(key) };
    const died = await spawnProgram(HOLDER, [dbPath, 'dormouse'], env).finished;
    expect(died).toMatchObject({ signal: 'SIGKILL', stderr: '' });
    expect(isReadable()).toBe(false);
    const left = openReadOnly({ dbPath, encryptionKey: key });
    expect(left.prepare('SELECT payload_json FROM events').pluck().all()).toEqual(['"dormouse"']);
    expect(doctor(left)).toMatchObject({ ok: true, encrypted: true });
    left.close();
  });

  test('keeps what SQLite would put into temporary files in memory', ({ dbPath }) => {
    const db = createDatabase({ dbPath, encryptionKey: newKey() });
    expect(db.pragma('temp_store', { simple: true })).toBe(2);
    db.close();
  });

  test('goes on in another process, from which this one is told what is new', async ({ dbPath }) => {
    const db = createDatabase({ dbPath, encryptionKey: KEY });
    const news = new FileNews(db);
    const before = dataVersion(db);
    const writer = spawnProgram(HOLDER, [dbPath, 'write'], { DEVS_ENCRYPTION_KEY: KEY }).finished;
    while (dataVersion(db) === before) await news.next(60_000);
    news.stop();
    expect(await writer).toMatchObject({ stdout: 'written\n', stderr: '' });
    expect(db.prepare('SELECT count(*) FROM events').pluck().get()).toBe(20);
    db.close();
  });

  test('keeps its locks when somebody here opens it without the key, or with another one', async ({
    dbPath,
  }) => {
    const db = createDatabase({ dbPath, encryptionKey: KEY });
    db.exec('BEGIN IMMEDIATE');
    const before = locksHere();
    expect(thrownBy(() => createDatabase({ dbPath }))).toMatchObject({ code: 'STATE_KEY_MISMATCH' });
    expect(thrownBy(() => openReadOnly({ dbPath, encryptionKey: newKey() }))).toMatchObject({
      code: 'STATE_KEY_MISMATCH',
    });
    expect(locksHere()).toEqual(before);
    const other = await spawnProgram(HOLDER, [dbPath, 'write'], { DEVS_ENCRYPTION_KEY: KEY }).finished;
    expect(other).toMatchObject({ stdout: expect.stringMatching(/^SQLITE_BUSY/) });
    db.exec('COMMIT');
    db.close();
  });

  test('is not copied into memory where nothing can be written beside it', ({ dbPath }) => {
    const encryptionKey = newKey();
    createDatabase({ dbPath, encryptionKey }).close();
    symlinkSync('/nowhere/at/all', `${dbPath}-wal`); // SQLite cannot make its log there.
    expect(thrownBy(() => openReadOnly({ dbPath, encryptionKey }))).toMatchObject({
      code: 'STATE_IO',
      message: expect.stringContaining('is encrypted and cannot be read from a read-only folder'),
    });
  });

  test('is as sound for the doctor as any other, and damage in it is found', ({ dbPath }) => {
    const key = newKey();
    createDatabase({ dbPath, encryptionKey: key }).close();
    const examine = (at: number) => {
      const damaged = `${dbPath}.${at}`;
      copyFileSync(dbPath, damaged);
      const bytes = readFileSync(damaged);
      bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
      writeFileSync(damaged, bytes);
      return () => createDatabase({ dbPath: damaged, encryptionKey: key });
    };
    expect(thrownBy(examine(2000))).toMatchObject({
      code: 'STATE_KEY_MISMATCH',
      message: expect.stringContaining('the key is wrong'),
    });
    expect(thrownBy(examine(21))).toMatchObject({ code: 'STATE_CORRUPT' });
    // The last pages have the list of migrations, which is read when a file is opened.
    const elsewhere = examine(statSync(dbPath).size - 3 * PAGE_BYTES - 100)();
    expect(doctor(elsewhere)).toMatchObject({ ok: false, encrypted: true });
    elsewhere.close();
  });
});

describe('a key', () => {
  it.each<[string, EncryptionKey]>([
    ['an empty text', ''],
    ['a short text', 'fifteen letters'],
    ['a text that ends in half a character', 'correct horse battery staple\ud800'],
    ['raw: without 64 digits', `raw:${'ab'.repeat(31)}`],
    ['31 bytes', newKey().subarray(1)],
    ['no bytes', new Uint8Array()],
  ])('is refused before anything is written: %s', (_what, encryptionKey) => {
    const dbPath = join('/nowhere', 'state.sqlite'); // would be STATE_IO
    const error = thrownBy(() => createDatabase({ dbPath, encryptionKey }));
    expect(error).toMatchObject({ code: 'CONFIG_INVALID', remedy: expect.stringContaining('randomBytes') });
    if (typeof encryptionKey === 'string' && encryptionKey !== '')
      expect(inspect(error)).not.toContain(encryptionKey);
  });

  it('is a text or bytes', () => {
    expect(() => createDatabase({ dbPath: '/nowhere', encryptionKey: 5 as never })).toThrow(TypeError);
  });

  it('is none for a database in memory, an open one, and runs that are in no state file', async () => {
    const memory = createDatabase({ dbPath: ':memory:' });
    for (const open of [
      () => createDatabase({ dbPath: ':memory:', encryptionKey: KEY }),
      () => durable(plantedGraph(), { runs: new MemoryRuns(), graph: 'planted', encryptionKey: KEY }),
    ])
      expect(thrownBy(open)).toMatchObject({ code: 'CONFIG_INVALID' });
    expect(thrownBy(() => durable(plantedGraph(), { db: memory, encryptionKey: KEY }))).toBeInstanceOf(
      TypeError,
    );
    await expect(Orchestrator.open({ runs: new MemoryRuns(), encryptionKey: KEY })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      remedy: expect.stringContaining('codec'),
    });
    memory.close();
  });

  test('that is missing, wrong or one too many is typed, is not shown, and leaves every byte', ({
    dbPath,
  }) => {
    const plain = join(dirname(dbPath), 'plain', 'state.sqlite');
    createDatabase({ dbPath, encryptionKey: KEY }).close();
    createDatabase({ dbPath: plain }).close();
    const sums = () =>
      [dbPath, plain].flatMap((path) =>
        [...bytesIn(dirname(path))].map(([name, all]) => `${name} ${sha256(all)}`),
      );
    const before = sums();
    const other = 'another passphrase of mine';
    const words: string[] = [];
    for (const open of [createDatabase, openReadOnly])
      for (const [path, encryptionKey, message] of [
        [dbPath, undefined, 'is encrypted, but no key is set'],
        [dbPath, other, 'cannot be opened with this key'],
        [plain, other, 'is not encrypted, but a key is set'],
      ] as const) {
        const error = thrownBy(() => open({ dbPath: path, encryptionKey }));
        expect(error).toMatchObject({
          code: 'STATE_KEY_MISMATCH',
          message: expect.stringContaining(message),
        });
        words.push(inspect(error, { depth: 9 }));
      }
    expect(sums()).toEqual(before);
    expect(words.join()).not.toMatch(/another passphrase|b4d9e0c2/);
    createDatabase({ dbPath, encryptionKey: KEY }).close();
    createDatabase({ dbPath: plain }).close();
    expect(maskSensitiveData(`it is ${other}`)).toBe('it is [REDACTED:registered]');
  });

  test('needs a driver that only who has a key needs', async ({ dbPath }) => {
    const child = 'packages/core/test/encryption/withoutDriver.child.ts';
    const { stdout, stderr } = await spawnProgram(child, [dbPath, KEY]).finished;
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toEqual({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('better-sqlite3-multiple-ciphers'),
      remedy: expect.stringContaining('npm install better-sqlite3-multiple-ciphers@'),
      left: ['state.sqlite'],
    });
  });
});
