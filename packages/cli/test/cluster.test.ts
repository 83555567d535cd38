import { afterAll, beforeAll, describe, expect } from 'vitest';
import { giveUp } from '../../postgres/test/support/giveUp.ts';
import { query } from '../../postgres/test/support/query.ts';
import { type Cluster, startCluster } from '../../postgres/test/support/startCluster.ts';
import type { PostgresServer } from '../../postgres/test/support/startPostgres.ts';
import { callMain } from './support/callMain.ts';
import { test } from './support/fixtures.ts';

let cluster: Cluster;
let server: PostgresServer;
beforeAll(async () => {
  cluster = await startCluster();
  ({ server } = cluster);
});
afterAll(() => cluster.stop());

const documentOf = <T>({ stdout }: { readonly stdout: string }): T => JSON.parse(stdout) as T;

describe('devs migrate', () => {
  test('makes the schema, and leaves one that is there', async ({ dir }) => {
    const made = await callMain(dir, ['migrate', '--db', server.url, '--schema', 'made']);
    expect(made, made.stderr).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/^schema made: made, version \d+\n$/),
    });
    const again = await callMain(dir, ['migrate', '--schema', 'made', '--json'], {
      env: { DEVS_DATABASE_URL: server.url },
    });
    const { before, version, ...rest } = documentOf<Record<string, unknown>>(again);
    expect(rest).toEqual({ schema: 'made', labelled: 0, unreadable: [] });
    expect(before).toBe(version);
  });

  test('makes older runs searchable, and names one that it cannot read', async ({ dir }) => {
    const runs = cluster.runs({ schema: 'older' });
    for (const id of ['fine', 'spoilt']) await runs.create(cluster.newRun(id));
    await query(server.url, 'UPDATE older.runs SET labels = NULL');
    await query(server.url, `UPDATE older.run_bases SET bytes = '\\x00' WHERE run_id = 'spoilt'`);
    const called = await callMain(dir, ['migrate', '--db', server.url, '--schema', 'older']);
    expect(called).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(
        /^schema older: up to date, version \d+\nskipped run "spoilt", its file cannot be read: The data of run/,
      ),
      stderr: 'runs made searchable: 2 of 2\n',
    });
  });

  test('prints SQL that makes the same tables, and connects to nothing', async ({ dir }) => {
    const printed = await callMain(dir, ['migrate', '--print', '--schema', 'printed']);
    expect(printed, printed.stderr).toMatchObject({ exitCode: 0, stderr: '' });
    await query(server.url, printed.stdout);
    const checked = await callMain(dir, ['migrate', '--db', server.url, '--schema', 'printed']);
    expect(checked.stdout).toMatch(/^schema printed: up to date, version \d+\n$/);
  });
});

describe('the address of a cluster', () => {
  test.for([
    ['that is none', ['--db', 'mysql://ada:hunter2hunter2@h/db'], /--db is not a PostgreSQL address/],
    ['that is broken', ['--db', 'postgres://ada:hunter2hunter2@[::1/db'], /--db is not a PostgreSQL address/],
    [
      'with another name of a schema',
      ['--db', 'postgres://h/db', '--schema', 'a"b'],
      /is not a valid schema name/,
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
      stderr: expect.stringMatching(/The cluster is missing.*\n.*DEVS_DATABASE_URL/),
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
      stderr: expect.stringContaining('the database does not exist'),
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
      stderr: expect.stringContaining('a privilege is missing'),
    });
  });
});

describe('who runs a cluster', () => {
  const QUEUE = `runs.mail.${'f'.repeat(16)}`;
  const called = async (dir: string, ...argv: readonly string[]) => {
    const { exitCode, stdout, stderr } = await callMain(dir, [...argv], {
      env: { DEVS_DATABASE_URL: server.url },
    });
    return { exitCode, said: exitCode === 0 ? stdout : stderr };
  };

  test('is told to make the tables first, and then that nothing is there', async ({ dir }) => {
    expect(await called(dir, 'queue')).toMatchObject({
      exitCode: 2,
      said: expect.stringMatching(/^CONFIG_INVALID: Schema devs has no tables\.\n {2}→ .*devs migrate/),
    });
    await called(dir, 'migrate');
    expect(await called(dir, 'queue')).toEqual({
      exitCode: 0,
      said: 'No runs are waiting, and no workers are connected.\n',
    });
    expect(await called(dir, 'workers')).toEqual({ exitCode: 0, said: 'There are no workers.\n' });
    expect(await called(dir, 'tenants')).toEqual({ exitCode: 0, said: 'There are no runs.\n' });
    expect(await called(dir, 'redrive', '--all')).toEqual({
      exitCode: 0,
      said: 'There are no dead letters.\n',
    });
  });

  test('sees what waits for whom, whose it is, and what was given up', async ({ dir }) => {
    const runs = cluster.runs();
    await runs.create(cluster.newRun('mail-1'));
    const failed = await giveUp(server.url, QUEUE, new Error('disk full'));
    expect(failed).toBe('mail-1');
    await runs.create({ ...cluster.newRun('mail-2'), tenant: 'acme' });
    await called(dir, 'tenants', 'set', 'acme', '--cap', '4');

    const { said } = await called(dir, 'queue');
    const lines = said.split('\n');
    expect(lines[0]).toMatch(/^queue +ready +later +executing +oldest +runs +workers$/);
    expect(lines[1]).toMatch(/^runs\.mail\.f{16} +1 +0 +0 +0:\d\d +1 +none$/);
    expect(said).toContain('1 run has no worker with a matching version of their graph');
    expect(said).toMatch(/^acme +4 +0 +1 +1$/m);
    expect(said).toMatch(/^mail-1 +runs\.mail\.f{16} +9 +\S+Z +Error: disk full$/m);
    expect(said).toContain('after you fixed the cause: devs redrive mail-1');
    const { queues, tenants, deadLetters } = JSON.parse((await called(dir, 'queue', '--json')).said);
    expect(queues).toEqual([
      { queue: QUEUE, ready: 1, later: 0, active: 0, oldestSeconds: expect.any(Number), runs: 1, workers: 0 },
    ]);
    expect(tenants).toEqual([{ tenant: 'acme', cap: 4, driven: 0, ready: 1, runs: 1 }]);
    expect(deadLetters).toMatchObject([{ threadId: 'mail-1', runId: 'mail-1', queue: QUEUE, attempts: 9 }]);

    expect(await called(dir, 'redrive', 'mail-2')).toMatchObject({
      exitCode: 4,
      said: expect.stringContaining('Run "mail-2" is not a dead letter'),
    });
    expect(await called(dir, 'redrive', 'mail-1')).toEqual({
      exitCode: 0,
      said: 'mail-1 waits for a worker again\n',
    });
    expect(JSON.parse((await called(dir, 'queue', '--json')).said)).toMatchObject({
      queues: [{ ready: 2 }],
      deadLetters: [],
    });
  });

  test('says how many runs of a tenant are driven, and lists who drives', async ({ dir }) => {
    expect(await called(dir, 'tenants', 'set', 'acme', '--cap', 'none', '--json')).toMatchObject({
      said: expect.stringContaining('"cap": null'),
    });
    const runs = cluster.runs();
    const held = await runs.hold('mail-2');
    expect((await called(dir, 'tenants')).said).toMatch(/^acme +- +1 +1 +1$/m);
    const { said } = await called(dir, 'workers');
    expect(said).toMatch(/^\S+ +\S+ +\d+ +1 of 0 +yes +\S+Z +-$/m);
    expect(JSON.parse((await called(dir, 'workers', '--json')).said)).toMatchObject([{ busy: 1, slots: 0 }]);
    await held.close();
  });

  test('is told what it can do, and what not', async ({ dir }) => {
    expect(await called(dir, 'ui', '--file', 'x.sqlite')).toMatchObject({
      exitCode: 2,
      said: expect.stringContaining('--file is only for local runs'),
    });
    const { said } = await called(dir, 'migrate', '--grant', 'devs_worker');
    expect(said).toContain('--grant only works with --print');
    const printed = await called(dir, 'migrate', '--print', '--grant', 'devs_worker');
    expect(printed.said).toContain('TO "devs_worker";');
  });

  test.for([
    [['redrive'], /The run is missing/],
    [['redrive', 'mail-1', '--all'], /The run is missing/],
    [['tenants', 'set'], /The tenant or its --cap is missing/],
    [['tenants', 'drop', 'acme', '--cap', '1'], /The tenant or its --cap is missing/],
    [['tenants', 'set', 'acme', '--cap', '-1'], /is not a number of runs/],
  ] as const)('is told what is missing in %j', async ([argv, said], { dir }) => {
    expect(await called(dir, ...argv)).toMatchObject({ exitCode: 2, said: expect.stringMatching(said) });
  });
});
