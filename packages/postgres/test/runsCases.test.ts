import { runFilesCases, runsCases } from '@devs/conformance';
import { afterAll, beforeAll, beforeEach, describe, test } from 'vitest';
import type { PostgresRuns } from '../src/PostgresRuns.ts';
import { type Cluster, startCluster } from './support/startCluster.ts';

let cluster: Cluster;
let runs: PostgresRuns;
let elsewhere: PostgresRuns;

beforeAll(async () => {
  cluster = await startCluster();
  [runs, elsewhere] = [cluster.runs(), cluster.runs()];
  await runs.list();
});
afterAll(() => cluster.stop());

beforeEach(async () => {
  await cluster.sql(
    'TRUNCATE devs.runs, devs.webhook_targets, devs.schedules CASCADE; DELETE FROM devs_boss.job',
  );
});

describe('runs in PostgreSQL', () => {
  test.each([...runsCases, ...runFilesCases])('$name', async ({ check }) => {
    const free = async (id: string): Promise<void> => {
      await cluster.sql('UPDATE devs.runs SET owner = NULL WHERE run_id = $1', [id]);
    };
    await check({ runs, elsewhere, free });
  });
});
