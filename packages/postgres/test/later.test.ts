import { setTimeout as sleep } from 'node:timers/promises';
import { DevsError } from '@devs/core';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isAway, isServerFault, pgFault, retryWhileAway, saysLater } from '../src/server/faults.ts';
import { Worker, type WorkerEvent } from '../src/worker/Worker.ts';
import { type Cluster, startCluster } from './support/startCluster.ts';
import { startPooler } from './support/startPooler.ts';
import { stepsDriver, stepsRun } from './support/stepsDriver.ts';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster({ isOwn: true });
  await cluster.runs().list();
});
afterAll(() => cluster.stop());

const until = async (isSo: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await isSo())) await sleep(10);
};

/** As the server says it, or a pooler, which is no function of the server. */
const said = (code: string, { message = '', routine }: { message?: string; routine?: string } = {}) =>
  Object.assign(new Error(message), { code, ...(routine !== undefined && { routine }) });

describe('what a server says', () => {
  test.each([
    '25006',
    '57P01',
    '57P02',
    '57P03',
    '57P05',
    '57014',
    '53300',
    '53200',
    '40001',
    '40P01',
    '55P03',
    '08006',
  ])('%s passes with time', async (code) => {
    let asked = 0;
    const work = async (): Promise<string> => {
      asked += 1;
      if (asked < 3) throw said(code, { routine: 'f' });
      return 'done';
    };
    expect(saysLater(said(code, { routine: 'f' }))).toBe(true);
    expect(await retryWhileAway(work, { awayMs: 5000, onAway: () => undefined })).toBe('done');
  });

  test.each([
    ['query_wait_timeout', true],
    ['server login has been failing, try again later (server_login_retry)', true],
    ['no more connections allowed (max_client_conn)', true],
    ['no such database: elsewhere', false],
    ['unsupported startup parameter: options', false],
  ])('08P01 of a pooler, %j: %j', (message, passes) => {
    expect(saysLater(said('08P01', { message }))).toBe(passes);
    expect(isAway(said('08P01', { message, routine: 'ProcessStartupPacket' }))).toBe(false);
  });

  test.each(['26000', '42P05'])('%s is a pooler, and which option is to be set', (code) => {
    expect(pgFault(said(code, { message: 'prepared statement "devs_claim" does not exist' }))).toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('pooler in transaction mode'),
      remedy: expect.stringContaining('`directUrl`'),
      context: { option: 'directUrl' },
    });
  });

  test('counts for no run, also as the cause of another error; what a run does to itself is its own', () => {
    expect(isServerFault(new Error('a node', { cause: pgFault(said('42501')) }))).toBe(true);
    expect(isServerFault(said('25006'))).toBe(true);
    expect(isServerFault(pgFault(said('22P02')))).toBe(false);
    expect(isServerFault(new DevsError('x', { code: 'STATE_IO', remedy: 'y' }))).toBe(false);
  });
});

describe('a server that takes no changes', () => {
  const readOnly = (is: boolean): Promise<unknown> =>
    cluster
      .sql(`ALTER SYSTEM SET default_transaction_read_only = ${is}; `)
      .then(() => cluster.sql('SELECT pg_reload_conf()'));

  test('is waited for: drives go on, and nothing counts towards a dead letter', async () => {
    const events: WorkerEvent[] = [];
    const machine = cluster.runs({ awayMs: 300 });
    const failures: unknown[] = [];
    const call = async (_: string, step: number): Promise<void> => {
      if (step === 0 && failures.length === 0) await readOnly(true);
    };
    const driver = stepsDriver({ call });
    const drive: typeof driver.drive = (...given) =>
      driver.drive(...given).catch((error: unknown) => {
        failures.push(error);
        throw error;
      });
    const worker = await Worker.start(machine, {
      drivers: [{ ...driver, drive }],
      onEvent: (event) => events.push(event),
    });
    await machine.create(stepsRun({ id: 'demoted', steps: 2 }));
    await until(() => failures.length > 0);
    await readOnly(false);
    const isDone = async (): Promise<boolean> =>
      (await cluster.sql(`SELECT 1 FROM devs.runs WHERE run_id = 'demoted' AND status = 'completed'`))
        .length > 0;
    await until(isDone);
    expect(failures).toEqual([expect.objectContaining({ code: 'STATE_IO' })]);
    expect(events.filter(({ is }) => is === 'failed')).toEqual([]);
    const { leases } = await machine.driving();
    expect(await leases.deadLetters()).toEqual([]);
    await worker.stop();
  }, 60_000);

  test('is waited for by who asks for the first time', async () => {
    await readOnly(true);
    const told: unknown[] = [];
    const runs = cluster.runs({ schema: 'first', onAway: (why) => told.push(why) });
    const listed = runs.list();
    await until(() => told.length > 0);
    expect(told).toEqual([expect.objectContaining({ code: '25006' })]);
    await readOnly(false);
    expect(await listed).toEqual({ runs: [], next: null });
  });
});

test('a server that has no room for a connection is waited for', async () => {
  const url = new URL(cluster.server.url);
  await cluster.sql(`CREATE ROLE narrow LOGIN CONNECTION LIMIT 1; GRANT ALL ON SCHEMA devs, devs_boss TO narrow;
    GRANT ALL ON ALL TABLES IN SCHEMA devs, devs_boss TO narrow`);
  url.username = 'narrow';
  const first = new pg.Client({ connectionString: url.href });
  await first.connect();
  const told: unknown[] = [];
  const runs = cluster.runs({ url: url.href, migrate: false, onAway: (why) => told.push(why) });
  const listed = runs.list();
  await until(() => told.length > 0);
  expect(told).toEqual([expect.objectContaining({ code: '53300' })]);
  await cluster.sql('ALTER ROLE narrow CONNECTION LIMIT 10');
  expect((await listed).next).toBeNull();
  await first.end();
});

describe('a pooler in transaction mode', () => {
  const POOLED = { code: 'CONFIG_INVALID', remedy: expect.stringContaining('`directUrl`') };

  test('is found before anything is done, by who asks and by a worker', async () => {
    const pooler = await startPooler(cluster.server.url);
    const runs = cluster.runs({ url: pooler.url, schema: 'pooled' });
    await expect(runs.list()).rejects.toMatchObject(POOLED);
    const events: WorkerEvent[] = [];
    const started = Worker.start(runs, { drivers: [stepsDriver()], onEvent: (event) => events.push(event) });
    await expect(started).rejects.toMatchObject(POOLED);
    expect(events).toEqual([]);
    expect(await cluster.sql(`SELECT 1 FROM pg_namespace WHERE nspname = 'pooled'`)).toEqual([]);
    await runs.close();
    pooler.close();
  });

  test('is found as the direct connection, too', async () => {
    const pooler = await startPooler(cluster.server.url);
    const runs = cluster.runs({ url: cluster.server.url, directUrl: pooler.url });
    await expect(Worker.start(runs, { drivers: [stepsDriver()] })).rejects.toMatchObject(POOLED);
    await runs.close();
    pooler.close();
  });

  test('has runs driven through it where the server itself is named, too', async () => {
    const pooler = await startPooler(cluster.server.url);
    const runs = cluster.runs({ url: pooler.url, directUrl: cluster.server.url });
    const worker = await Worker.start(runs, { drivers: [stepsDriver()] });
    await runs.create(stepsRun({ id: 'through', steps: 3 }));
    const sql = `SELECT 1 FROM devs.runs WHERE run_id = 'through' AND status = 'completed'`;
    await until(async () => (await cluster.sql(sql)).length > 0);
    expect(pooler.transactions).toBeGreaterThan(10);
    await worker.stop();
    await runs.close();
    pooler.close();
  });
});
