import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { postgres } from '../../src/postgres.ts';
import { startProxy } from '../support/startProxy.ts';
import { damagesOf } from './damagesOf.ts';
import type { FaultPlace } from './fallBack.ts';
import { judge } from './judge.ts';
import { entriesOf } from './ledger.ts';
import { branchOf, CALLS } from './life.ts';
import { answerAll, lifeWorker } from './lifeWorker.ts';

/** In what is asked: a change, a transaction, a claim, a decision, a settlement, a look, a new run. */
const WORDS = [
  'devs_append',
  'COMMIT',
  'lease = $3::uuid',
  'wake_seq = wake_seq + 1',
  'settled = lease',
  'AS pieces',
  'COMMIT',
  '.run_bases (run_id',
];

/** Loses so many answers to a worker that drives and to who answers its questions, and looks what has become of the runs. */
export async function loseAnswers({ server, dir }: FaultPlace, losses: number): Promise<void> {
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
  for (let tries = 0; proxy.lost < losses; tries += 1) {
    while ((await open()) < 2) {
      const id = `life-${ids.length}`;
      ids.push(id);
      await app.start(id, { run: id });
    }
    const before = proxy.lost;
    proxy.loseAnswer(WORDS[tries % WORDS.length] as string);
    while (proxy.lost === before && (await open()) > 0) await sleep(50);
  }
  while ((await open()) > 0) await sleep(50);
  over.abort();
  await answered;
  const { ended, violations } = await damagesOf(runs, app, ids);
  const verdict = judge(entriesOf(ledger), ended, { names: CALLS, branchOf });
  expect({ ...verdict, violations: [...verdict.violations, ...violations] }).toEqual({
    begun: ids.length * CALLS.length,
    again: 0,
    takenOver: 0,
    violations: [],
  });
  expect(entriesOf(ledger).filter(({ is }) => is === 'lost')).toEqual([]);
  await worker.stop();
  await runs.close();
  proxy.close();
}
