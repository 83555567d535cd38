import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SLOT_BYTES, slotsOf } from '../src/jobs/Jobs.ts';
import { Worker } from '../src/worker/Worker.ts';
import { type Cluster, startCluster } from './support/startCluster.ts';
import { stepsDriver, stepsRun } from './support/stepsDriver.ts';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster();
  await cluster.runs().list();
});
afterAll(() => cluster.stop());

const until = async (isSo: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await isSo())) await sleep(10);
};

test('a file takes a slot for every 32 MiB that it has', () => {
  expect([0, SLOT_BYTES, SLOT_BYTES + 1, 100_000_000].map(slotsOf)).toEqual([1, 1, 2, 3]);
});

test('a run with a large file is taken by who has nothing in hand, and leaves the slots that it does not take', async () => {
  const runs = cluster.runs();
  const begun: string[] = [];
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let times = 0;
  const driver = stepsDriver({
    call: async (id) => {
      if (id === 'big') return;
      begun.push(id);
      await released;
    },
    ending: async ({ id }) => {
      if (id !== 'big' || ++times < 2) return;
      begun.push(id);
      await released;
    },
  });
  const row = async () =>
    (await cluster.sql(`SELECT status, owner, slots FROM devs.runs WHERE run_id = 'big'`))[0];
  const worker = await Worker.start(runs, { drivers: [driver], slots: 4 });
  await runs.create(stepsRun({ id: 'big', steps: 1, tells: 1 }));
  await until(async () => (await row())?.['status'] === 'waiting');
  await cluster.sql(`UPDATE devs.runs SET slots = 3 WHERE run_id = 'big'`);
  const by = { kind: 'human', id: 'ada' } as const;
  const looked = await runs.open('big');
  looked.close();
  expect(await looked.tell({ id: 's', kind: 'message', name: 'm', payload: null, by, signalId: 's' })).toBe(
    true,
  );
  await until(() => begun.includes('big'));
  for (const id of ['a', 'b', 'c']) await runs.create(stepsRun({ id, steps: 1 }));
  await until(() => begun.length > 1);
  await sleep(300);
  expect([begun.length, worker.busy]).toEqual([2, 2]);
  release();
  await until(() => begun.length === 4);
  await until(async () => (await row())?.['status'] === 'completed');
  expect(await row()).toMatchObject({ owner: null, slots: 1 });
  await worker.stop();
});
