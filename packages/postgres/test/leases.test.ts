import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Worker, type WorkerEvent } from '../src/worker/Worker.ts';
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
  await kept.outlet.pending();
});

test('a call of a run that was lost is ended, and no commit is waited for', async () => {
  const runs = cluster.runs();
  const events: string[] = [];
  const endedBy: unknown[] = [];
  let begin = (): void => undefined;
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const call = async (_run: string, _step: number, abort: AbortSignal): Promise<void> => {
    begin();
    if (!abort.aborted) await once(abort, 'abort');
    endedBy.push(abort.reason);
    throw new Error('ended');
  };
  const driver = stepsDriver({ call });
  const onEvent = (event: WorkerEvent): void => {
    if ('threadId' in event) events.push(event.is);
  };
  const worker = await Worker.start(runs, { drivers: [driver], onEvent });
  await runs.create(stepsRun({ id: 'called', steps: 1 }));
  await begun;
  const sessions = await cluster.sql(`SELECT pid FROM pg_locks WHERE locktype = 'advisory'`);
  // Somebody alive has it from then on: a run that nobody has would be taken again by the worker, sooner or later.
  await runs.create(cluster.newRun('another'));
  const another = await cluster.runs().hold('another');
  await cluster.sql(`UPDATE devs.runs SET lease = gen_random_uuid(), claimed_at = now(),
    owner = (SELECT owner FROM devs.runs WHERE run_id = 'another') WHERE run_id = 'called'`);
  for (const { pid } of sessions) await cluster.sql(`SELECT pg_terminate_backend(${pid})`);
  await expect.poll(() => events).toEqual(['driving', 'lost']);
  expect(endedBy).toMatchObject([{ code: 'LEASE_LOST' }]);
  await worker.stop();
  expect(events).toEqual(['driving', 'lost']);
  const row = `SELECT status, owner = (SELECT owner FROM devs.runs WHERE run_id = 'another') AS theirs, ended_at
    FROM devs.runs WHERE run_id = 'called'`;
  expect(await cluster.sql(row)).toEqual([{ status: 'created', theirs: true, ended_at: null }]);
  await another.close();
});

test('a run that is somebody’s by its row alone, as a server that has lost commits says, is driven', async () => {
  const runs = cluster.runs();
  const made: string[] = [];
  const call = async (run: string, step: number): Promise<void> => void made.push(`${run} ${step}`);
  const worker = await Worker.start(runs, { drivers: [stepsDriver({ call })] });
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
  // The run of the test before has its job again, too.
  expect(made.filter((each) => !each.startsWith('called'))).toEqual(['first 0', 'second 0']);
  const ended = `SELECT run_id, status, owner FROM devs.runs WHERE run_id IN ('first', 'second') ORDER BY run_id`;
  expect(await cluster.sql(ended)).toEqual(
    ['first', 'second'].map((id) => ({ run_id: id, status: 'completed', owner: null })),
  );
});
