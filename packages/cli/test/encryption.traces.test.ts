import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rekey } from '@devs/core';
import { describe, expect } from 'vitest';
import { callMain } from './support/callMain.ts';
import { RUN_EMPTY, test } from './support/fixtures.ts';

/** Of bytes, which takes no time to open with. */
const OLD = `raw:${'b4d9e0c2'.repeat(8)}`;
const NEW = 'the next passphrase of it';

/** What a command says in both ways must not have a key in it. */
async function devs(dir: string, argv: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const called = await callMain(dir, argv, { env });
  expect(called.stdout + called.stderr).not.toMatch(/b4d9e0c2|next passphrase/);
  return called;
}

const withKey = { DEVS_ENCRYPTION_KEY: OLD };

describe('devs with DEVS_ENCRYPTION_KEY', () => {
  test('makes a state file that is encrypted, and shows, backs up and goes on with what is in it', async ({
    dir,
  }) => {
    const file = join(dir, '.devs', 'state.sqlite');
    expect(await devs(dir, RUN_EMPTY, withKey)).toMatchObject({ exitCode: 75 });
    expect(readFileSync(file).includes('SQLite format 3')).toBe(false);
    const shown = await devs(dir, ['status', '--json'], withKey);
    expect(JSON.parse(shown.stdout)).toMatchObject([{ id: 'sum' }]);
    const gates = await devs(dir, ['gates', '--json'], withKey);
    const [gate] = JSON.parse(gates.stdout) as { sessionId: string }[];
    expect((await devs(dir, ['show', gate?.sessionId ?? ''], withKey)).exitCode).toBe(0);
    expect((await devs(dir, ['approve', gate?.sessionId ?? ''], withKey)).exitCode).toBe(0);
    expect((await devs(dir, ['resume', 'sum'], withKey)).exitCode).toBe(75);
    const examined = await devs(dir, ['admin', 'doctor'], withKey);
    expect(examined).toMatchObject({ exitCode: 0, stdout: expect.not.stringContaining('NOT_ENCRYPTED') });
    expect((await devs(dir, ['admin', 'backup', 'copy.sqlite'], withKey)).exitCode).toBe(0);
    expect(readFileSync(join(dir, 'copy.sqlite')).includes('SQLite format 3')).toBe(false);
  });

  test('says what the key is not, and moves nothing into a cluster', async ({ dir }) => {
    await devs(dir, RUN_EMPTY, withKey);
    for (const [env, words] of [
      [{}, 'is encrypted, but no key is set'],
      [{ DEVS_ENCRYPTION_KEY: NEW }, 'cannot be opened with this key'],
    ] as const) {
      for (const argv of [['status'], ['resume', 'sum'], ['admin', 'doctor', '--json']]) {
        const called = await devs(dir, argv, env);
        expect(called).toMatchObject({ exitCode: 5 });
        expect(called.stdout + called.stderr).toContain('STATE_KEY_MISMATCH');
        expect(called.stdout + called.stderr).toContain(words);
      }
    }
    expect(await devs(dir, ['status'], { DEVS_ENCRYPTION_KEY: '' })).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining(
        'The encryption key must be 32 bytes or a string of at least 16 characters, got 0 characters',
      ),
    });
    const cluster = ['--db', 'postgres://nobody@127.0.0.1:1/none'];
    expect(await devs(dir, ['push', 'sum', ...cluster], withKey)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('encrypted'),
    });
    expect(await devs(dir, ['status', ...cluster], withKey)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('codec'),
    });
  });
});

describe('devs admin rekey', () => {
  test('encrypts, changes the key and decrypts; the file says once that it is not encrypted', async ({
    dir,
  }) => {
    await devs(dir, RUN_EMPTY);
    const plain = await devs(dir, ['admin', 'doctor']);
    expect(plain.exitCode).toBe(0);
    expect(plain.stdout.match(/NOT_ENCRYPTED/g)).toHaveLength(1);
    expect(plain.stdout).toContain('devs admin rekey');

    const made = await devs(dir, ['admin', 'rekey', '--json'], { DEVS_NEW_ENCRYPTION_KEY: OLD });
    expect(JSON.parse(made.stdout)).toMatchObject({ encrypted: true });
    const keyFile = join(dir, 'key');
    writeFileSync(keyFile, `${NEW}\n`);
    expect(await devs(dir, ['admin', 'rekey', '--new-key-file', 'key'], withKey)).toMatchObject({
      exitCode: 0,
    });
    expect((await devs(dir, ['resume', 'sum'], { DEVS_ENCRYPTION_KEY: NEW })).exitCode).toBe(75);
    const decrypted = await devs(dir, ['admin', 'rekey', '--decrypt'], { DEVS_ENCRYPTION_KEY: NEW });
    expect(decrypted).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('no longer encrypted'),
    });
    expect((await devs(dir, ['status'])).exitCode).toBe(0);
    expect(readdirSync(join(dir, '.devs')).filter((name) => name.startsWith('state'))).toEqual([
      'state.sqlite',
    ]);
  });

  test('takes one new key, and none from the command line', async ({ dir }) => {
    await devs(dir, RUN_EMPTY);
    for (const [argv, env] of [
      [[], {}],
      [['--decrypt'], { DEVS_NEW_ENCRYPTION_KEY: NEW }],
      [['--new-key-file', 'key'], { DEVS_NEW_ENCRYPTION_KEY: NEW }],
      [['--new-key-file', 'nowhere'], {}],
      [[NEW], {}],
      [[], { DEVS_NEW_ENCRYPTION_KEY: 'short' }],
      [[], { DEVS_NEW_ENCRYPTION_KEY: '' }],
    ] as const) {
      const called = await callMain(dir, ['admin', 'rekey', ...argv], { env });
      expect([argv, called.exitCode]).toEqual([argv, 2]);
    }
    expect((await devs(dir, ['status'])).exitCode).toBe(0);
    const file = join(dir, 'posts.sqlite');
    const named = ['admin', 'rekey', '--file', 'posts.sqlite'];
    expect((await devs(dir, named, { DEVS_NEW_ENCRYPTION_KEY: NEW })).exitCode).toBe(5);
    expect(() => rekey({ dbPath: file, newEncryptionKey: NEW })).toThrow('There is no state file');
  });
});
