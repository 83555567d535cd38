import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { howMany } from '../../../core/test/support/howMany.ts';
import { longer } from '../../../core/test/support/longer.ts';
import { postgres } from '../../src/postgres.ts';
import { type PostgresServer, startPostgres } from '../support/startPostgres.ts';
import { startProxy } from '../support/startProxy.ts';
import { damagesOf } from './damagesOf.ts';
import { judge } from './judge.ts';
import { entriesOf } from './ledger.ts';
import { branchOf, CALLS } from './life.ts';
import { answerAll, lifeWorker } from './lifeWorker.ts';

const LOSSES = howMany('DEVS_LOST_ANSWERS', 8);

/** In what is asked: a change, a transaction, a claim, a decision, a settlement, a look, a new run. */
const WORDS = [
  '.run_changes (run_id, seq, bytes)',
  'COMMIT',
  'lease = $3::uuid',
  'wake_seq = wake_seq + 1',
  'settled = lease',
  'AS pieces',
  'COMMIT',
  '.run_bases (run_id',
];

let server: PostgresServer;
let dir: string;
beforeAll(async () => {
  server = await startPostgres();
  dir = mkdtempSync(join(tmpdir(), 'devs-lost-'));
});
afterAll(async () => {
  await server.stop();
  rmSync(dir, { recursive: true });
});

test(
  'answers of PostgreSQL that are lost cost no lease and no call',
  async () => {
    const ledger = join(dir, 'ledger');
    writeFileSync(ledger, '');
    const proxy = await startProxy(server.url);
    const runs = postgres({ url: proxy.url, directUrl: server.url, dir });
    const { app, worker } = await lifeWorker(runs, { ledger, slots: 4, callMs: 5 });
    const over = new AbortController();
    const answered = answerAll(app, over.signal);
    const ids: string[] = [];
    const open = async (): Promise<number> =>
      (await app.list({ status: ['created', 'running', 'waiting', 'paused'], limit: 10 })).runs.length;
    for (let tries = 0; proxy.lost < LOSSES; tries += 1) {
      while ((await open()) < 4) {
        const id = `life-${ids.length}`;
        ids.push(id);
        await app.start(id, { run: id });
      }
      const before = proxy.lost;
      proxy.loseAnswer(WORDS[tries % WORDS.length] as string);
      while (proxy.lost === before && (await open()) > 0) await sleep(10);
    }
    while ((await open()) > 0) await sleep(20);
    over.abort();
    await answered;
    const { ended, violations } = await damagesOf(runs, app, ids);
    const verdict = judge(entriesOf(ledger), ended, { names: CALLS, branchOf });
    expect({ ...verdict, violations: [...verdict.violations, ...violations] }).toEqual({
      begun: ids.length * CALLS.length,
      again: 0,
      violations: [],
    });
    expect(entriesOf(ledger).filter(({ is }) => is === 'lost')).toEqual([]);
    await worker.stop();
    await runs.close();
    proxy.close();
  },
  longer(60_000, LOSSES / 10),
);
