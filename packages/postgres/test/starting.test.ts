import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ClusterAdmin, type WorkerEvent } from '../src/index.ts';
import { Worker } from '../src/worker/Worker.ts';
import { type Cluster, startCluster } from './support/startCluster.ts';
import { startProxy } from './support/startProxy.ts';
import { stepsDriver } from './support/stepsDriver.ts';

let cluster: Cluster;
let ended: (() => Promise<void>) | null = null;

beforeAll(async () => {
  cluster = await startCluster({ isPutBack: true });
  await cluster.runs().list();
});
beforeEach(() => async () => {
  await ended?.();
  ended = null;
});
afterAll(() => cluster.stop());

const NOBODY = 'postgres://me:secret@127.0.0.1:1/there';
const UNREACHED = { code: 'STATE_IO', message: expect.stringContaining('127.0.0.1:1/there') };

/** As a worker of its own machine is started; resolves when it drives. */
function starting(options: Parameters<Cluster['runs']>[0], signal?: AbortSignal) {
  const events: WorkerEvent[] = [];
  const machine = cluster.runs(options);
  const started = Worker.start(machine, {
    drivers: [stepsDriver({})],
    onEvent: (event) => events.push(event),
    ...(signal && { signal }),
  });
  started.catch(() => undefined);
  return { started, events, machine };
}

const until = async (isSo: () => boolean): Promise<void> => {
  while (!isSo()) await sleep(10);
};

describe('a worker that starts before PostgreSQL can be used', () => {
  test('waits while it recovers and while nobody listens, says so and for what, and drives then', async () => {
    ended = await cluster.server.recover();
    const { started, events } = starting({});
    await until(() => events.length > 0);
    expect(events).toEqual([{ is: 'waiting', error: expect.objectContaining({ code: '57P03' }) }]);
    // It stops meanwhile, and comes back.
    ended = null;
    await cluster.server.restart();
    const worker = await started;
    expect(worker.isReady).toBe(true);
    expect(events).toHaveLength(1);
    await worker.stop({ drainMs: 0 });
  });

  test('waits as long as it is patient, and then it is an error that names the server', async () => {
    const { started, events } = starting({ url: NOBODY, awayMs: 120 });
    await expect(started).rejects.toMatchObject(UNREACHED);
    expect(events).toMatchObject([{ is: 'waiting', error: { code: 'ECONNREFUSED' } }]);
    expect(JSON.stringify(await started.catch((error: unknown) => error))).not.toContain('secret');
  });

  test('stops waiting when it is told to', async () => {
    const stopping = new AbortController();
    const { started, events } = starting({ url: NOBODY }, stopping.signal);
    await until(() => events.length > 0);
    stopping.abort();
    await expect(started).rejects.toThrow(expect.objectContaining({ name: 'AbortError' }));
  });

  test('ends at once where waiting does not help', async () => {
    const url = new URL(cluster.server.url);
    url.pathname = '/elsewhere';
    const { started, events } = starting({ url: url.href });
    await expect(started).rejects.toMatchObject({ code: 'CONFIG_INVALID', context: { postgres: '3D000' } });
    expect(events).toEqual([]);
  });
});

describe('who asks something before PostgreSQL can be used', () => {
  test('is told at once where nobody listens', async () => {
    const told: unknown[] = [];
    await expect(cluster.runs({ url: NOBODY, onAway: (why) => told.push(why) }).list()).rejects.toMatchObject(
      UNREACHED,
    );
    expect(told).toEqual([]);
  });

  test('waits for a server that is there and recovers, which is said', async () => {
    ended = await cluster.server.recover();
    const told: string[] = [];
    const onAway = (why: unknown): void => void told.push(why === null ? 'back' : 'away');
    const listed = cluster.runs({ onAway }).list();
    const admin = new ClusterAdmin({ url: cluster.server.url, awayMs: 20_000, onAway });
    const tenants = admin.tenants();
    await until(() => told.length === 2);
    await ended();
    ended = null;
    expect(await listed).toEqual({ runs: [], next: null });
    expect(await tenants).toEqual([]);
    expect(told).toEqual(['away', 'away', 'back', 'back']);
    await admin.close();
  });

  test('is told why, where it takes longer', async () => {
    ended = await cluster.server.recover();
    const slow = {
      code: 'STATE_IO',
      message: expect.stringMatching(/does not accept connections yet: the database/),
    };
    await expect(cluster.runs({ awayMs: 60 }).list()).rejects.toMatchObject(slow);
    await expect(new ClusterAdmin({ url: cluster.server.url }).queue()).rejects.toMatchObject(slow);
  });
});

test('a connection that is lost while a program opens its runs is not waited for, and may be tried again', async () => {
  const proxy = await startProxy(cluster.server.url);
  const runs = cluster.runs({ url: proxy.url, directUrl: cluster.server.url });
  proxy.loseAnswer('synchronous_commit');
  await expect(runs.list()).rejects.toMatchObject({ code: 'STATE_IO' });
  expect(await runs.list()).toEqual({ runs: [], next: null });
  await runs.close();
  proxy.close();
});
