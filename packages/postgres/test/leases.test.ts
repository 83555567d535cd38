import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Worker } from '../src/Worker.ts';
import { type Cluster, startCluster, WAITING } from './support/startCluster.ts';
import { stepsDriver, stepsRun } from './support/stepsDriver.ts';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(() => cluster.stop());

const endSessions = (): Promise<unknown> =>
  cluster.sql(`SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'`);

test('who has lost a run is told as soon as he has a connection again, and those that he has stay his', async () => {
  const runs = cluster.runs();
  for (const id of ['lost', 'kept', 'settled']) await runs.create(cluster.newRun(id));
  const [lost, kept, settled] = [
    await runs.hold('lost'),
    await runs.hold('kept'),
    await runs.hold('settled'),
  ];
  expect(await settled.settle(WAITING)).toBe('settled');
  await cluster.sql(`UPDATE devs.runs SET lease = gen_random_uuid() WHERE run_id = 'lost'`);
  const told = once(lost.lost, 'abort');
  await endSessions();
  await told;
  expect(lost.lost.reason).toMatchObject({ code: 'LEASE_LOST' });
  expect([kept.lost.aborted, settled.lost.aborted]).toEqual([false, false]);
  kept.db.exec('CREATE TABLE made (n INTEGER)');
  await kept.outlet.arrived();
});

test('a call of a run that was lost is ended, and no commit is waited for', async () => {
  const runs = cluster.runs();
  const events: string[] = [];
  let begin = (): void => undefined;
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const call = async (_run: string, _step: number, abort: AbortSignal): Promise<void> => {
    begin();
    if (!abort.aborted) await once(abort, 'abort');
    throw new Error('ended');
  };
  const driver = stepsDriver({ call });
  const worker = await Worker.start(runs, { drivers: [driver], onEvent: ({ is }) => events.push(is) });
  await runs.create(stepsRun({ id: 'called', steps: 1 }));
  await begun;
  await cluster.sql(`UPDATE devs.runs SET owner = NULL, lease = NULL WHERE run_id = 'called'`);
  await endSessions();
  while (!events.includes('lost')) await sleep(10);
  await worker.stop();
});

test('a run that is somebody’s by its row alone, as a server that has lost commits says, is driven', async () => {
  const runs = cluster.runs();
  const worker = await Worker.start(runs, { drivers: [stepsDriver()] });
  await runs.create(stepsRun({ id: 'first', steps: 1 }));
  const open = (): Promise<readonly unknown[]> =>
    cluster.sql(`SELECT 1 FROM devs.runs WHERE run_id IN ('first', 'second') AND ended_at IS NULL`);
  while ((await open()).length > 0) await sleep(10);
  await cluster.sql('DELETE FROM devs_boss.job');
  await runs.create(stepsRun({ id: 'second', steps: 1 }, { graph: 'other', fingerprint: 'f'.repeat(64) }));
  const row = `UPDATE devs.runs SET owner = $1, lease = $2, queue = (SELECT queue FROM devs.runs WHERE run_id = 'first')
    WHERE run_id = 'second'`;
  await cluster.sql(row, [runs.owner.id, randomUUID()]);
  await endSessions();
  while ((await open()).length > 0) await sleep(10);
  await worker.stop();
});
