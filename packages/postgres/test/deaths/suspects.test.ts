import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Worker } from '../../src/worker/Worker.ts';
import { workApp } from '../chaos/workApp.ts';
import { type Cluster, startCluster } from '../support/startCluster.ts';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(() => cluster.stop());

/** Promises by name, kept when it is told so. */
class Holds {
  readonly #kept = new Map<string, PromiseWithKeep>();

  until(name: string): Promise<void> {
    return this.#of(name).promise;
  }

  keep(...names: readonly string[]): void {
    for (const name of names) this.#of(name).keep();
  }

  #of(name: string): PromiseWithKeep {
    const known = this.#kept.get(name) ?? promiseWithKeep();
    this.#kept.set(name, known);
    return known;
  }
}

interface PromiseWithKeep {
  readonly promise: Promise<void>;
  readonly keep: () => void;
}

function promiseWithKeep(): PromiseWithKeep {
  let keep = (): void => undefined;
  const promise = new Promise<void>((resolve) => {
    keep = resolve;
  });
  return { promise, keep };
}

/** A worker that notes what it begins, and holds a node of a run until it is told to go on. */
async function aWorker(held: readonly string[]) {
  const [holds, begun] = [new Holds(), [] as string[]];
  const runs = cluster.runs();
  const app = workApp(runs, async (run, node) => {
    begun.push(`${run} ${node}`);
    if (held.includes(`${run} ${node}`)) await holds.until(`${run} ${node}`);
  });
  const worker: Worker = await runs.work({ drivers: [app], slots: 4 });
  const began = async (what: string): Promise<void> => {
    while (!begun.includes(what)) await sleep(10);
  };
  return { runs, app, worker, holds, begun, began };
}

const died = (id: string, deaths: number): Promise<unknown> =>
  cluster.sql('UPDATE devs.runs SET deaths = $2 WHERE run_id = $1', [id, deaths]);
const ended = async (...ids: readonly string[]): Promise<void> => {
  const sql = `SELECT 1 FROM devs.runs WHERE run_id = ANY ($1) AND status <> 'completed'`;
  while ((await cluster.sql(sql, [ids])).length > 0) await sleep(10);
};
const deathsOf = async (id: string): Promise<unknown> =>
  (await cluster.sql('SELECT deaths FROM devs.runs WHERE run_id = $1', [id]))[0]?.['deaths'];

test('runs that one process has died with go on side by side, and at once', async () => {
  const starter = workApp(cluster.runs(), () => Promise.reject(new Error('This process drives nothing.')));
  await starter.list(); // makes the tables
  await cluster.sql('ALTER TABLE devs.runs ALTER COLUMN deaths SET DEFAULT 1');
  const killed = ['killed-1', 'killed-2', 'killed-3'];
  for (const id of killed) await starter.start(id, { run: id });
  await cluster.sql('ALTER TABLE devs.runs ALTER COLUMN deaths SET DEFAULT 0');
  const { worker, holds, began } = await aWorker(killed.map((id) => `${id} first`));
  // None has made progress when the last of them begins.
  await Promise.all(killed.map((id) => began(`${id} first`)));
  holds.keep(...killed.map((id) => `${id} first`));
  await ended(...killed);
  await worker.stop();
}, 60_000);

describe('a run that processes have died with', () => {
  test('is taken after the others, by a worker that makes room for it, and is alone until it has made progress', async () => {
    const starter = workApp(cluster.runs(), () => Promise.reject(new Error('This process drives nothing.')));
    await starter.start('busy', { run: 'busy' });
    const { runs, app, worker, holds, begun, began } = await aWorker([
      'busy first',
      'left first',
      'left second',
      'later first',
    ]);
    await began('busy first');
    // Its job is one of before: the row alone says that processes have died with it.
    await cluster.sql('ALTER TABLE devs.runs ALTER COLUMN deaths SET DEFAULT 2');
    await starter.start('left', { run: 'left' });
    await cluster.sql('ALTER TABLE devs.runs ALTER COLUMN deaths SET DEFAULT 0');
    const { leases } = await runs.driving();
    await sleep(300);
    holds.keep('busy first'); // its next safe point
    await began('left first');
    const others = begun.filter((what) => !what.startsWith('busy'));
    expect(others).toEqual(['left first']);
    await app.start('later', { run: 'later' });
    await sleep(300);
    expect(begun).not.toContain('later first');
    expect(await deathsOf('left')).toBe(2);
    holds.keep('left first');
    await Promise.all([began('left second'), began('later first')]);
    expect(await deathsOf('left')).toBe(0);
    holds.keep('left second', 'later first');
    await ended('busy', 'left', 'later');
    expect(await leases.deadLetters()).toEqual([]);
    await worker.stop();
  }, 60_000);

  test('five times is not driven by a worker whatever it is told, and with care once somebody says so', async () => {
    const starter = workApp(cluster.runs(), () => Promise.reject(new Error('This process drives nothing.')));
    await starter.start('given-up', { run: 'given-up' });
    await died('given-up', 5);
    const { runs, app, worker, begun } = await aWorker([]);
    const job = `SELECT 1 FROM devs_boss.job WHERE data ->> 'runId' = 'given-up'`;
    const noJob = async (): Promise<void> => {
      while ((await cluster.sql(job)).length > 0) await sleep(10);
    };
    await noJob();
    await app.signal('given-up', 'news', null, { by: { kind: 'human', id: 'ada' }, signalId: 's' });
    await noJob();
    expect(begun).toEqual([]);
    await died('given-up', 2);
    const { leases } = await runs.driving();
    expect(await leases.restoreJobs()).toBe(1);
    await ended('given-up');
    expect(await deathsOf('given-up')).toBe(0);
    await worker.stop();
  }, 60_000);

  test('five times is ended by who drives it by hand, and by nobody else, and goes on once it is revived', async () => {
    const begun: string[] = [];
    const app = workApp(cluster.runs(), async (run, node) => void begun.push(`${run} ${node}`));
    await app.start('by-hand', { run: 'by-hand' });
    await died('by-hand', 5);
    expect(await app.run('by-hand', undefined, { throwOnFailure: false })).toMatchObject({
      status: 'dead_letter',
      reason: '5 processes died while executing it, without progress',
    });
    expect(begun).toEqual([]);
    expect(await deathsOf('by-hand')).toBe(5);
    expect(await app.revive('by-hand', { by: { kind: 'human', id: 'ada' } })).toBe(true);
    expect(await deathsOf('by-hand')).toBe(0);
    expect(await app.run('by-hand')).toMatchObject({ status: 'completed' });
  });
});
