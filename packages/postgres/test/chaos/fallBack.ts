import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { postgres } from '../../src/postgres.ts';
import type { PostgresServer } from '../support/startPostgres.ts';
import { stepsRun } from '../support/stepsDriver.ts';
import { damagesOf } from './damagesOf.ts';
import { type Entry, entriesOf } from './ledger.ts';
import { CALLS } from './life.ts';
import { answerAll, lifeWorker } from './lifeWorker.ts';

export interface FaultPlace {
  readonly server: PostgresServer;
  /** For working copies and ledgers. */
  readonly dir: string;
}

const RUNS = 3;

/** Puts an older copy of the server back under two workers that drive, and looks what has become of their runs. */
export async function fallBack({ server, dir }: FaultPlace, round: number): Promise<void> {
  const ledger = join(dir, `ledger-${round}`);
  writeFileSync(ledger, '');
  const entries = (): readonly Entry[] => entriesOf(ledger);
  /** So many calls may end. */
  let permits = 5;
  const used = async (): Promise<void> => {
    while (permits > 0) await sleep(5);
  };
  const mayEnd = async (): Promise<void> => {
    while (permits <= 0) await sleep(10);
    permits -= 1;
  };
  const machines = [0, 1].map(() => postgres({ url: server.url, dir }));
  const [first, second] = await Promise.all(
    machines.map((runs) => lifeWorker(runs, { ledger, slots: 2, callMs: 10, mayEnd })),
  );
  if (first === undefined || second === undefined) throw new Error('nobody drives');
  const other = postgres({ url: server.url, dir });
  const ids = Array.from({ length: RUNS }, (_, nth) => `life-${round}-${nth}`);
  for (const id of ids) await first.app.start(id, { run: id });
  const over = new AbortController();
  const answered = answerAll(first.app, over.signal);
  // Nobody drives it; the copy has its lease, and not its last change.
  await other.create(stepsRun({ id: `held-${round}`, steps: 1 }));
  const held = await other.hold(`held-${round}`);
  const write = (table: string): Promise<void> | null => {
    held.db.exec(`CREATE TABLE ${table} (n INTEGER)`);
    return held.outlet.pending();
  };
  await write('kept');
  await used();
  await server.keep();
  const keptAt = entries().length;
  permits = 6;
  await used();
  await write('lost');
  await other.create(stepsRun({ id: `late-${round}`, steps: 1 }));
  const lostAt = entries().length;
  await server.putBack();
  permits = Number.POSITIVE_INFINITY;
  await expect(write('later')).rejects.toMatchObject({
    code: 'LEASE_LOST',
    message: expect.stringContaining('the run or its base'),
  });
  await expect(other.open(`late-${round}`)).rejects.toMatchObject({ code: 'THREAD_NOT_FOUND' });
  const open = async (): Promise<number> =>
    (await first.app.list({ status: ['created', 'running', 'waiting', 'paused'] })).runs.filter(({ id }) =>
      ids.includes(id),
    ).length;
  while ((await open()) > 0) await sleep(100);
  over.abort();
  await answered;
  const { ended, violations } = await damagesOf(other, first.app, ids);
  expect(violations).toEqual([]);
  const names = (calls: readonly string[]): readonly string[] =>
    calls.map((call) => call.slice(0, call.indexOf('='))).sort();
  for (const { status, calls } of ended)
    expect([status, names(calls)]).toEqual(['completed', [...CALLS].sort()]);
  const recorded = new Set(
    ended.flatMap(({ calls }) => calls.map((call) => call.slice(call.indexOf('=') + 1))),
  );
  const lost = entries()
    .slice(keptAt, lostAt)
    .filter((entry) => entry.is === 'begun');
  expect(lost.length).toBeGreaterThan(0);
  expect(lost.filter(({ nonce }) => recorded.has(nonce))).toEqual([]);
  expect(entries().filter(({ is }) => is === 'lost').length).toBeGreaterThan(0);
  await held.close();
  for (const { worker } of [first, second]) await worker.stop();
  for (const runs of [...machines, other]) await runs.close();
}
