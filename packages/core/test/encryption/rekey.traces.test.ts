import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect } from 'vitest';
import { createDatabase, openReadOnly } from '../../src/db/createDatabase.ts';
import type { EncryptionKey } from '../../src/db/encryptionKey.ts';
import { rekey } from '../../src/db/rekey.ts';
import { internalsOf } from '../../src/engine/file/appInternals.ts';
import { isDevsError } from '../../src/errors/DevsError.ts';
import { doctor } from '../../src/state/doctor/doctor.ts';
import { test } from '../support/fixtures.ts';
import { howMany } from '../support/howMany.ts';
import { longer } from '../support/longer.ts';
import { programFile } from '../support/programFile.ts';
import { spawnProgram } from '../support/spawnTs.ts';
import { tried } from '../support/tried.ts';
import { newKey, plant, plantedApp, readableIn } from './planted.ts';

const HOLDER = new URL('holder.child.ts', import.meta.url);
const KILLS = howMany('DEVS_REKEY_KILLS', 3);

/** A process that has told that it is there. */
async function started(dbPath: string, what: string, env: object): Promise<ChildProcess> {
  const child = spawn(process.execPath, [programFile(HOLDER), dbPath, what], {
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  return child;
}

/** Which of these keys opens a file; `undefined` is none. */
function opening(dbPath: string, keys: readonly (EncryptionKey | undefined)[]): readonly unknown[] {
  return keys.filter((encryptionKey) => {
    try {
      createDatabase({ dbPath, encryptionKey }).close();
      return true;
    } catch (error) {
      if (isDevsError(error, 'STATE_KEY_MISMATCH')) return false;
      throw error;
    }
  });
}

/** A state file with a run that waits at a gate, and about two megabytes. */
async function filled(dbPath: string, encryptionKey?: EncryptionKey): Promise<void> {
  const app = plantedApp(dbPath, encryptionKey);
  await plant(app);
  const insert = internalsOf(app).store.db.prepare(
    "INSERT INTO events (at, name, payload_json) VALUES (?, 'X', json_quote(?))",
  );
  internalsOf(app).store.commit(() => {
    for (let n = 0; n < 400; n += 1) insert.run(n, `${n} `.repeat(1000));
  });
  app.close();
}

function rowsOf(dbPath: string, encryptionKey?: EncryptionKey): readonly unknown[] {
  const db = openReadOnly({ dbPath, encryptionKey });
  expect(doctor(db)).toMatchObject({ ok: true, encrypted: encryptionKey !== undefined });
  const rows = ['events', 'checkpoints', 'hitl_sessions'].map((table) =>
    db.prepare(`SELECT * FROM ${table}`).all(),
  );
  db.close();
  return rows;
}

describe('rekey', () => {
  test('encrypts, gives another key and decrypts, and a run goes on under each', async ({ dbPath }) => {
    await filled(dbPath);
    const rows = rowsOf(dbPath);
    const [text, bytes] = ['an old passphrase', newKey()];
    writeFileSync(`${dbPath}.rekey`, 'of one that was killed');
    for (const [encryptionKey, newEncryptionKey] of [
      [undefined, text],
      [text, bytes],
      [bytes, null],
      [undefined, bytes],
    ] as const) {
      const made = rekey({ dbPath, encryptionKey, newEncryptionKey });
      expect(made).toEqual({
        path: dbPath,
        encrypted: newEncryptionKey !== null,
        bytes: statSync(dbPath).size,
      });
      const now = newEncryptionKey ?? undefined;
      expect(statSync(dbPath).mode & 0o777).toBe(0o600);
      expect(rowsOf(dbPath, now)).toEqual(rows);
      expect(opening(dbPath, [undefined, text, bytes, newKey()])).toEqual([now]);
      expect(readableIn(dbPath).length > 0).toBe(newEncryptionKey === null);
    }
    expect(readdirSync(dirname(dbPath))).toEqual(['state.sqlite']);
    const app = plantedApp(dbPath, bytes);
    const [gate] = await app.gates('planted');
    await app.decide(gate as NonNullable<typeof gate>, { approved: true, by: { kind: 'human', id: 'ada' } });
    expect(await app.run('planted')).toMatchObject({ status: 'completed' });
    app.close();
  });

  test('is refused while somebody has the file open, here or elsewhere, and leaves it', async ({
    dbPath,
  }) => {
    const key = newKey();
    const refusal = { code: 'STATE_IO', message: expect.stringContaining('is open in another process') };
    const change = () => rekey({ dbPath, encryptionKey: key, newEncryptionKey: newKey() });
    const here = createDatabase({ dbPath, encryptionKey: key });
    expect(change).toThrow(expect.objectContaining(refusal));
    here.close();
    const DEVS_ENCRYPTION_KEY = `raw:${Buffer.from(key).toString('hex')}`;
    const holder = await started(dbPath, 'hold', { DEVS_ENCRYPTION_KEY });
    const before = readFileSync(dbPath);
    expect(change).toThrow(expect.objectContaining(refusal));
    expect(readFileSync(dbPath).equals(before)).toBe(true);
    expect(existsSync(`${dbPath}.rekey`)).toBe(false);
    holder.stdin?.end();
    await once(holder, 'exit');
    expect(opening(dbPath, [key])).toEqual([key]);
    expect(change()).toMatchObject({ encrypted: true });
  });

  test('loses no row of a process that writes whenever it can', async ({ dbPath }) => {
    let [old, next] = [newKey(), newKey()].map((key) => `raw:${Buffer.from(key).toString('hex')}`);
    createDatabase({ dbPath, encryptionKey: old }).close();
    const env = { DEVS_ENCRYPTION_KEY: old ?? '', DEVS_NEW_ENCRYPTION_KEY: next ?? '' };
    const writer = spawnProgram('packages/core/test/encryption/holder.child.ts', [dbPath, 'insist'], env);
    let changed = 0;
    while (writer.child.exitCode === null) {
      try {
        rekey({ dbPath, encryptionKey: old, newEncryptionKey: next ?? '' });
        [old, next] = [next, old];
        changed += 1;
      } catch (error) {
        expect(error).toMatchObject({ code: 'STATE_IO' }); // the writer has it
      }
      await sleep(20);
    }
    const { code, stdout, stderr } = await writer.finished;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(changed).toBeGreaterThan(0);
    const db = openReadOnly({ dbPath, encryptionKey: old });
    const rows = db.prepare('SELECT json_extract(payload_json, ?) FROM events').pluck().all('$');
    expect(rows).toEqual(expect.arrayContaining(stdout.trim().split('\n')));
    expect(doctor(db)).toMatchObject({ ok: true });
    db.close();
  });

  test('refuses what cannot be done before it begins', ({ dbPath }) => {
    createDatabase({ dbPath }).close();
    const before = readFileSync(dbPath);
    for (const [keys, code] of [
      [{ newEncryptionKey: 'short' }, 'CONFIG_INVALID'],
      [{ newEncryptionKey: null }, 'CONFIG_INVALID'],
      [{ encryptionKey: 'not the key of it', newEncryptionKey: null }, 'STATE_KEY_MISMATCH'],
    ] as const)
      expect(() => rekey({ dbPath, ...keys })).toThrow(expect.objectContaining({ code }));
    expect(() => rekey({ dbPath: `${dbPath}.none`, newEncryptionKey: newKey() })).toThrow(
      expect.objectContaining({ code: 'STATE_IO' }),
    );
    linkSync(dbPath, `${dbPath}.too`);
    expect(() => rekey({ dbPath, newEncryptionKey: newKey() })).toThrow(
      expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.stringContaining('hard link') }),
    );
    rmSync(`${dbPath}.too`);
    expect(readFileSync(dbPath).equals(before)).toBe(true);
    expect(existsSync(`${dbPath}.rekey`)).toBe(false);
  });

  test('changes the file that a link leads to, and it stays its owner’s', ({ dbPath }) => {
    createDatabase({ dbPath }).close();
    const isRoot = process.getuid?.() === 0; // nobody else can give a file away
    if (isRoot) chownSync(dbPath, 4321, 1234);
    const { uid, gid } = statSync(dbPath);
    const link = `${dbPath}.link`;
    symlinkSync(dbPath, link);
    rekey({ dbPath: link, newEncryptionKey: newKey() });
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(readFileSync(dbPath).includes('SQLite format 3')).toBe(false);
    expect(statSync(dbPath)).toMatchObject({ uid, gid });
  });

  test('leaves a file that opens with the old key or with the new one, and all rows, whenever it is killed', {
    timeout: longer(60_000, KILLS / 3),
  }, async ({ dbPath, task }) => {
    const key = { text: 'the passphrase of the file', other: 'the next passphrase of it' };
    await filled(dbPath, key.text);
    const rows = rowsOf(dbPath, key.text);
    let { text: old, other: next } = key;
    let longest = 400;
    for (let kills = 0; kills < KILLS; kills += 1) {
      const env = { DEVS_ENCRYPTION_KEY: old, DEVS_NEW_ENCRYPTION_KEY: next };
      const child = await started(dbPath, 'rekey', env);
      const ended = once(child, 'exit');
      let told = '';
      child.stdout?.on('data', (text: Buffer) => {
        told += text.toString();
      });
      child.stdin?.write('go\n');
      await sleep(Math.random() * longest);
      child.kill('SIGKILL');
      await ended;
      if (told !== '') longest = Number(told); // it was faster
      const opened = opening(dbPath, [next, old]); // with the new key first, which is the wrong one then
      expect(opened).toHaveLength(1);
      if (opened[0] === next) [old, next] = [next, old];
      expect(rowsOf(dbPath, old)).toEqual(rows);
    }
    tried(task, { ways: KILLS });
    expect(rekey({ dbPath, encryptionKey: old, newEncryptionKey: next })).toMatchObject({ encrypted: true });
    expect(readdirSync(dirname(dbPath))).toEqual(['state.sqlite']);
  });
});
