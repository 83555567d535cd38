import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { PostgresRuns } from '../../src/PostgresRuns.ts';
import { Worker } from '../../src/worker/Worker.ts';
import { type Cluster, startCluster } from '../support/startCluster.ts';
import { stepsDriver, stepsRun } from '../support/stepsDriver.ts';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(() => cluster.stop());

const counted = async (runs: PostgresRuns, what: 'unknownLeases' | 'restoredJobs'): Promise<number> =>
  (await runs.driving()).meters.of(what);

const rowOf = async (id: string) => (await cluster.sql('SELECT * FROM devs.runs WHERE run_id = $1', [id]))[0];

/** What a server has that has lost what came after the first claim of a run. */
async function goBackToFirstClaim(id: string, owner: string, lease = randomUUID()): Promise<void> {
  const row = 'UPDATE devs.runs SET owner = $2, lease = $3 WHERE run_id = $1';
  await cluster.sql(row, [id, owner, lease]);
}

describe('leases that rows and a process know otherwise', () => {
  test('are found with the next beat: the run is driven again, though its process holds it under a later claim', async () => {
    const runs = cluster.runs();
    const drivenUnder: string[] = [];
    let isBack = false;
    const driver = stepsDriver({
      call: async (id, _step, abort) => {
        drivenUnder.push(String((await rowOf(id))?.['lease']));
        if (isBack) return;
        isBack = true;
        await goBackToFirstClaim(id, runs.owner.id);
        await new Promise((resolve) => abort.addEventListener('abort', resolve));
        throw abort.reason;
      },
    });
    const events: string[] = [];
    const worker = await Worker.start(runs, { drivers: [driver], onEvent: ({ is }) => events.push(is) });
    onTestFinished(async () => void (await worker.stop()));
    await runs.create(stepsRun({ id: 'second-claim', steps: 1 }));
    while (!events.includes('settled')) await sleep(20); // after the row
    expect(await rowOf('second-claim')).toMatchObject({ status: 'completed' });
    expect(new Set(drivenUnder).size).toBe(2);
    expect(events).toEqual(['driving', 'lost', 'driving', 'settled']);
    expect(await counted(runs, 'unknownLeases')).toBe(1);
  }, 60_000);

  test('and of which its process says nothing are freed by the leader', async () => {
    const runs = cluster.runs();
    const worker = await Worker.start(runs, { drivers: [stepsDriver()] });
    await runs.create(
      stepsRun({ id: 'unconfirmed', steps: 1 }, { graph: 'other', fingerprint: 'f'.repeat(64) }),
    );
    const mute = cluster.runs();
    await mute.owner.ready();
    const known = randomUUID();
    // It lives, and compares nothing.
    await cluster.sql(
      `UPDATE devs.runs SET owner = 'mute', lease = $1, claimed_at = now() - interval '1 hour',
         queue = (SELECT queue FROM devs.runs WHERE run_id = 'second-claim') WHERE run_id = 'unconfirmed'`,
      [known],
    );
    const say = (leases: readonly string[]): Promise<unknown> =>
      cluster.sql(
        `INSERT INTO devs.workers (worker_id, lock_key, host, pid, slots, graphs, leases, leases_at)
         SELECT 'mute', lock_key, 'h', 1, 1, '[]', $2::uuid[], now() FROM devs.workers WHERE worker_id = $1
         ON CONFLICT (worker_id) DO UPDATE SET leases = $2::uuid[], leases_at = now(), seen_at = now()`,
        [mute.owner.id, leases],
      );
    const { leases } = await runs.driving();
    await say([known]);
    expect(await leases.freeUnconfirmed()).toBe(0);
    await say([]);
    // The leader does so, too, every few seconds.
    expect((await leases.freeUnconfirmed()) + (await counted(runs, 'unknownLeases'))).toBe(1);
    while ((await rowOf('unconfirmed'))?.['status'] !== 'completed') await sleep(20);
    await cluster.sql(`DELETE FROM devs.workers WHERE worker_id = 'mute'`);
    await worker.stop();
  }, 60_000);
});

describe('a run whose job is gone', () => {
  test('has one again, as its row says', async () => {
    const runs = cluster.runs();
    for (const id of ['without-job', 'with-job', 'at-rest']) await runs.create(stepsRun({ id, steps: 1 }));
    await cluster.sql(`UPDATE devs.runs SET status = 'waiting' WHERE run_id = 'at-rest'`);
    await cluster.sql(`DELETE FROM devs_boss.job WHERE data ->> 'runId' <> 'with-job'`);
    const { leases } = await runs.driving();
    expect([await leases.restoreJobs(), await leases.restoreJobs()]).toEqual([1, 0]);
    const jobs = await cluster.sql(`SELECT data ->> 'runId' AS run FROM devs_boss.job ORDER BY 1`);
    expect(jobs).toEqual([{ run: 'with-job' }, { run: 'without-job' }]);
    const worker = await Worker.start(runs, { drivers: [stepsDriver()] });
    while ((await rowOf('without-job'))?.['status'] !== 'completed') await sleep(20);
    await worker.stop();
  });

  test('has one at once where it was nobody’s while its worker thought that it had it', async () => {
    const runs = cluster.runs();
    let calls = 0;
    const call = async (id: string, _step: number, abort: AbortSignal): Promise<void> => {
      calls += 1;
      if (calls > 1) return;
      await cluster.sql('UPDATE devs.runs SET owner = NULL, lease = NULL, job_id = NULL WHERE run_id = $1', [
        id,
      ]);
      await new Promise((resolve) => abort.addEventListener('abort', resolve));
      throw abort.reason;
    };
    const worker = await Worker.start(runs, { drivers: [stepsDriver({ call })] });
    await runs.create(stepsRun({ id: 'nobodys', steps: 1 }));
    const from = performance.now();
    while ((await rowOf('nobodys'))?.['status'] !== 'completed') await sleep(20);
    expect(performance.now() - from).toBeLessThan(15_000); // a job that nobody touches is given back after 30 s
    await worker.stop();
  }, 60_000);
});
