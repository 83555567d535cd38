import { once } from 'node:events';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { env } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { spawnProgram } from '../../core/test/support/spawnTs.ts';
import { otherUser, postgresPrograms } from './support/postgresPrograms.ts';
import { type PostgresServer, startPostgres } from './support/startPostgres.ts';

let server: PostgresServer;

beforeAll(async () => {
  server = await startPostgres({ isOwn: true });
});
afterAll(() => server.stop());

async function ask(url: string, sql: string): Promise<readonly object[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<object>(sql)).rows;
  } finally {
    await client.end();
  }
}

const listens = (url: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => resolve(true));
    socket.on('error', () => resolve(false)).on('connect', () => socket.destroy());
  });

describe('PostgreSQL for tests', () => {
  test('has what was committed after its power went out', async () => {
    await ask(server.url, 'CREATE TABLE kept AS SELECT 1 AS n');
    await server.restart();
    expect(await ask(server.url, 'SELECT n FROM kept')).toEqual([{ n: 1 }]);
  });

  test('is one server for the test files of a process, for each a database; or its own', async () => {
    vi.stubEnv('DEVS_TEST_PG', '');
    const [one, other] = [await startPostgres(), await startPostgres()];
    vi.unstubAllEnvs();
    const portOf = ({ url }: PostgresServer): string => new URL(url).port;
    expect(portOf(one)).toBe(portOf(other));
    expect(portOf(one)).not.toBe(portOf(server));
    await ask(one.url, 'CREATE TABLE mine AS SELECT 1 AS n');
    await expect(ask(other.url, 'SELECT n FROM mine')).rejects.toThrow('does not exist');
    await Promise.all([one.stop(), other.stop()]);
  });

  test('ends with the process that has started it, when that is killed', async () => {
    const user = otherUser();
    const dir = mkdtempSync(join(user === null ? tmpdir() : '/tmp', 'devs-programs-'));
    if (user !== null) chownSync(dir, user.uid, user.gid);
    // It would not find those that are installed with the sources.
    const PATH = `${postgresPrograms(dir, user)}${delimiter}${env['PATH']}`;
    const program = 'packages/postgres/test/support/forgetful.child.ts';
    const { child, finished } = spawnProgram(program, [], { DEVS_TEST_PG: '', PATH });
    if (child.stdout === null) throw new Error('no stdout');
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const url = line.toString().trim();
    expect(await listens(url)).toBe(true);
    child.kill('SIGKILL');
    await finished;
    while (await listens(url)) await sleep(20);
    rmSync(dir, { recursive: true });
  });

  test('is a database of its own on a server that is given', async () => {
    vi.stubEnv('DEVS_TEST_PG', server.url);
    const [one, other] = await Promise.all([startPostgres(), startPostgres()]);
    vi.unstubAllEnvs();
    await ask(one.url, 'CREATE TABLE mine AS SELECT 1 AS n');
    await one.restart();
    expect(await ask(one.url, 'SELECT n FROM mine')).toEqual([{ n: 1 }]);
    await expect(ask(other.url, 'SELECT n FROM mine')).rejects.toThrow('does not exist');
    await Promise.all([one.stop(), other.stop()]);
    expect(await ask(server.url, `SELECT 1 FROM pg_database WHERE datname LIKE 'devs_test_%'`)).toEqual([]);
  });
});
