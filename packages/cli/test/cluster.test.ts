import { afterAll, beforeAll, describe, expect } from 'vitest';
import { query } from '../../postgres/test/support/query.ts';
import { type PostgresServer, startPostgres } from '../../postgres/test/support/startPostgres.ts';
import { callMain } from './support/callMain.ts';
import { test } from './support/fixtures.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

const documentOf = <T>({ stdout }: { readonly stdout: string }): T => JSON.parse(stdout) as T;

describe('devs migrate', () => {
  test('makes the schema, and leaves one that is there', async ({ dir }) => {
    const made = await callMain(dir, ['migrate', '--db', server.url, '--schema', 'made']);
    expect(made, made.stderr).toMatchObject({ exitCode: 0, stdout: 'schema made: made, version 1\n' });
    const again = await callMain(dir, ['migrate', '--schema', 'made', '--json'], {
      env: { DEVS_DATABASE_URL: server.url },
    });
    expect(documentOf(again)).toEqual({ schema: 'made', before: 1, version: 1 });
  });

  test('prints SQL that makes the same tables, and connects to nothing', async ({ dir }) => {
    const printed = await callMain(dir, ['migrate', '--print', '--schema', 'printed']);
    expect(printed, printed.stderr).toMatchObject({ exitCode: 0, stderr: '' });
    await query(server.url, printed.stdout);
    const checked = await callMain(dir, ['migrate', '--db', server.url, '--schema', 'printed']);
    expect(checked.stdout).toBe('schema printed: as this release wants it, version 1\n');
  });
});

describe('the address of a cluster', () => {
  test.for([
    ['that is none', ['--db', 'mysql://ada:hunter2hunter2@h/db'], /--db is no address of PostgreSQL/],
    ['that is broken', ['--db', 'postgres://ada:hunter2hunter2@[::1/db'], /--db is no address/],
    [
      'with another name of a schema',
      ['--db', 'postgres://h/db', '--schema', 'a"b'],
      /is no name of a schema/,
    ],
  ] as const)('%s is refused, and not repeated', async ([, words, said], { dir }) => {
    const called = await callMain(dir, ['migrate', ...words]);
    expect(called).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringMatching(said) });
    expect(called.stderr).not.toContain('hunter2');
  });

  test('is needed where a verb is about a cluster', async ({ dir }) => {
    const called = await callMain(dir, ['migrate']);
    expect(called).toMatchObject({
      exitCode: 2,
      stderr: expect.stringMatching(/No cluster is named.*\n.*DEVS_DATABASE_URL/),
    });
  });

  test.for([[[]], [['--json']]] as const)(
    'is told without its password where nobody listens, with %j',
    async ([words], { dir }) => {
      const url = 'postgres://ada:hunter2hunter2@127.0.0.1:1/db?password=hunter2hunter2';
      const called = await callMain(dir, ['migrate', '--db', url, ...words]);
      expect(called).toMatchObject({ exitCode: 5, stdout: '', stderr: expect.stringContaining('STATE_IO') });
      expect(called.stderr).not.toContain('hunter2');
    },
  );

  test('leads to a database that is there', async ({ dir }) => {
    const url = new URL(server.url);
    url.pathname = '/nothing';
    const called = await callMain(dir, ['migrate', '--db', url.href]);
    expect(called).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('There is no such database'),
    });
  });

  test('leads to one whose role may make tables', async ({ dir }) => {
    const role = `devs_reader_${process.pid}`;
    await query(server.url, `CREATE ROLE ${role}`);
    const url = new URL(server.url);
    url.searchParams.set('options', `-crole=${role}`);
    const called = await callMain(dir, ['migrate', '--db', url.href, '--schema', 'forbidden']);
    await query(server.url, `DROP ROLE ${role}`);
    expect(called).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('The role may not do that'),
    });
  });
});
