import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { howMany } from '../../../core/test/support/howMany.ts';
import { longer } from '../../../core/test/support/longer.ts';
import type { PostgresRuns } from '../../src/PostgresRuns.ts';
import { postgres } from '../../src/postgres.ts';
import { query } from '../support/query.ts';
import { type PostgresServer, startPostgres } from '../support/startPostgres.ts';
import { stepsRun } from '../support/stepsDriver.ts';
import { Fleet } from './Fleet.ts';

const WAKES = howMany('DEVS_CLUSTER_WAKES', 12);
const TELLS = Math.min(WAKES / 3, 20);
const KILLS = Math.ceil(WAKES / 60);

let server: PostgresServer;
let runs: PostgresRuns;
let fleet: Fleet;
let dir: string;
beforeAll(async () => {
  server = await startPostgres();
  dir = mkdtempSync(join(tmpdir(), 'devs-wakes-'));
  const ledger = join(dir, 'ledger');
  writeFileSync(ledger, '');
  runs = postgres({ url: server.url, dir });
  const program = new URL('steps.child.ts', import.meta.url);
  fleet = new Fleet({ url: server.url, dir, ledger, slots: 4, callMs: 0, program });
});
afterAll(async () => {
  await fleet.end();
  await runs.close();
  await server.stop();
  rmSync(dir, { recursive: true });
});

const BY = { kind: 'human', id: 'ada' } as const;

async function tell(id: string, signalId: string): Promise<void> {
  const signal = { kind: 'message', name: 'm', payload: null, by: BY } as const;
  for (;;) {
    const looked = await runs.open(id);
    looked.close();
    if (await looked.tell({ ...signal, id: signalId, signalId })) return;
  }
}

const rowOf = async (id: string) => {
  const [row] = await query(server.url, 'SELECT status, view, owner FROM devs.runs WHERE run_id = $1', [id]);
  return row ?? {};
};

test(
  'what runs are told is taken once and in order, while workers are killed',
  async () => {
    const ids = Array.from({ length: Math.round(WAKES / TELLS) }, (_, nth) => `told-${nth}`);
    const said = Array.from({ length: TELLS }, (_, nth) => `signal ${nth}`);
    for (const id of ids) await runs.create(stepsRun({ id, steps: 1, tells: TELLS }));
    await Promise.all([fleet.add(), fleet.add()]);
    const killed: number[] = [];
    let told = 0;
    const kill = async (): Promise<void> => {
      const owner = String((await rowOf(ids[0] as string))['owner'] ?? '');
      const victim = fleet.workers.find(({ pid }) => owner.includes(`:${pid}:`)) ?? fleet.workers[0];
      if (victim === undefined) throw new Error(fleet.errors);
      killed.push(victim.pid ?? 0);
      await fleet.kill(victim);
      await fleet.add();
    };
    const tellAll = async (id: string, nth: number): Promise<void> => {
      for (const signal of said) {
        // Half of them are told while they wait, the others whenever that is.
        while (nth % 2 === 0 && (await rowOf(id))['status'] !== 'waiting') await sleep(50);
        await tell(id, signal);
        told += 1;
        if (told % Math.ceil(WAKES / (KILLS + 1)) === 0 && killed.length < KILLS) await kill();
      }
    };
    await Promise.all(ids.map(tellAll));
    for (const id of ids) while ((await rowOf(id))['status'] !== 'completed') await sleep(50);
    for (const id of ids)
      expect(await rowOf(id)).toMatchObject({ view: JSON.stringify({ told: said }), owner: null });
    expect([told, killed.length]).toEqual([ids.length * TELLS, KILLS]);
  },
  longer(120_000, WAKES / 100),
);
