import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { howMany } from '../../core/test/support/howMany.ts';
import { longer } from '../../core/test/support/longer.ts';
import { postgres } from '../src/postgres.ts';
import { Worker } from '../src/worker/Worker.ts';
import { query } from './support/query.ts';
import { type PostgresServer, startPostgres } from './support/startPostgres.ts';
import { stepsDriver, stepsRun } from './support/stepsDriver.ts';

const RUNS = howMany('DEVS_TENANT_RUNS', 6);
const IS_LONG = RUNS > 6;
/** Of a call, ms. */
const CALL_MS = IS_LONG ? 1000 : 10;
const CAPS = { a: 2, b: 4 } as const;
type Tenant = keyof typeof CAPS;
const TENANTS = Object.keys(CAPS) as readonly Tenant[];

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

test(
  'tenants have no more runs driven than they may, from a cold start, by workers together',
  async () => {
    const runs = postgres(server.url);
    const { leases } = await runs.driving();
    for (const tenant of TENANTS) await leases.setCap(tenant, CAPS[tenant]);
    for (const tenant of TENANTS)
      for (let nth = 0; nth < RUNS * (CAPS[tenant] / 2); nth += 1)
        await runs.create(stepsRun({ id: `${tenant}-${nth}`, steps: 1, tenant }));
    const now = { a: 0, b: 0 };
    const most = { a: 0, b: 0 };
    const call = async (id: string): Promise<void> => {
      const tenant = id.slice(0, 1) as Tenant;
      now[tenant] += 1;
      most[tenant] = Math.max(most[tenant], now[tenant]);
      await sleep(CALL_MS);
      now[tenant] -= 1;
    };
    const machines = Array.from({ length: IS_LONG ? 4 : 2 }, () => postgres(server.url));
    const from = performance.now();
    const workers = await Promise.all(
      machines.map((machine) => Worker.start(machine, { drivers: [stepsDriver({ call })], slots: 8 })),
    );
    const open = (): Promise<readonly unknown[]> =>
      query(server.url, 'SELECT 1 FROM devs.runs WHERE ended_at IS NULL LIMIT 1');
    while ((await open()).length > 0) await sleep(20);
    const ideals = (performance.now() - from) / ((RUNS / 2) * CALL_MS);
    expect(most.a).toBeLessThanOrEqual(CAPS.a);
    expect(most.b).toBeLessThanOrEqual(CAPS.b);
    const counted = await query(server.url, 'SELECT tenant, running FROM devs.tenants ORDER BY tenant');
    expect(counted).toEqual(TENANTS.map((tenant) => ({ tenant, running: 0 })));
    if (IS_LONG) expect(ideals).toBeLessThanOrEqual(1.3);
    await expect(leases.setCap('a', -1)).rejects.toThrow(RangeError);
    await Promise.all(workers.map((worker) => worker.stop()));
    await Promise.all([runs, ...machines].map((each) => each.close()));
  },
  longer(60_000, RUNS / 20),
);
