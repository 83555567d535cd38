import { runFilesCases, runsCases } from '@devs/core/testing';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { type Cluster, startCluster } from './support/startCluster.ts';

let cluster: Cluster;
let cases = 0;

beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(() => cluster.stop());

describe('runs in PostgreSQL', () => {
  test.each([...runsCases, ...runFilesCases])('$name', async ({ check }) => {
    cases += 1;
    const schema = `case_${cases}`;
    const [runs, elsewhere] = [cluster.runs({ schema }), cluster.runs({ schema })];
    const free = async (id: string): Promise<void> => {
      await cluster.sql(`UPDATE ${schema}.runs SET owner = NULL WHERE run_id = $1`, [id]);
    };
    await check({ runs, elsewhere, free });
    await Promise.all([runs.close(), elsewhere.close()]);
  });
});
