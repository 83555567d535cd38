import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { postgres } from '../../src/postgres.ts';
import { startPostgres } from '../support/startPostgres.ts';
import { STILL_MS } from './betweenClaims.ts';
import { damagesOf } from './damagesOf.ts';
import type { FaultPlace } from './fallBack.ts';
import { entriesOf } from './ledger.ts';
import { CALLS } from './life.ts';
import { answerAll, lifeWorker } from './lifeWorker.ts';

export interface Promotion {
  /** Runs that the new server knows. */
  readonly runs: number;
  /** Calls that were made while what came of them was lost. */
  readonly lostCalls: number;
  /** From the promotion to the end of the last run, ms. */
  readonly longestMs: number;
  readonly violations: readonly string[];
}

/** Runs that have not ended, at the same time. */
const OPEN = 6;
const UNENDED = { status: ['created', 'running', 'waiting', 'paused'] as const };

/** A standby takes over that lacks what was committed in so many ms, under two workers in the middle of runs. */
export async function promote(
  { server, dir }: FaultPlace,
  round: number,
  lostMs: number,
): Promise<Promotion> {
  const ledger = join(dir, `promotion-${round}`);
  writeFileSync(ledger, '');
  const machines = [0, 1].map(() => postgres({ url: server.url, dir }));
  const workers = await Promise.all(
    machines.map((runs) => lifeWorker(runs, { ledger, slots: OPEN / 2, callMs: 100 })),
  );
  const other = postgres({ url: server.url, dir });
  const [{ app }] = workers as [Awaited<ReturnType<typeof lifeWorker>>];
  const own = `promoted-${round}-`;
  const open = async (): Promise<readonly string[]> =>
    (await app.list({ ...UNENDED, idPrefix: own, limit: 100 })).runs.map(({ id }) => id);
  const ids: string[] = [];
  const fill = async (): Promise<void> => {
    for (let missing = OPEN - (await open()).length; missing > 0; missing -= 1) {
      ids.push(`${own}${ids.length}`);
      await app.start(ids.at(-1) as string, { run: ids.at(-1) as string });
    }
  };
  const liveFor = async (ms: number): Promise<void> => {
    for (const until = performance.now() + ms; performance.now() < until; await sleep(50)) await fill();
  };
  const over = new AbortController();
  const answered = answerAll(app, over.signal);
  await liveFor(500);
  await server.keep();
  const keptAt = entriesOf(ledger).length;
  do await liveFor(lostMs);
  while (!entriesOf(ledger).some(({ is }, nth) => is === 'begun' && nth >= keptAt));
  const lostAt = entriesOf(ledger).length;
  await server.putBack();
  const from = performance.now();
  const since = (): number => Math.round(performance.now() - from);
  while ((await open()).length > 0 && since() < STILL_MS) await sleep(50);
  const [longestMs, still] = [since(), await open()];
  over.abort();
  await answered;
  const known = (await app.list({ idPrefix: own, limit: 1000 })).runs.map(({ id }) => id);
  const { ended, violations } = await damagesOf(other, app, known);
  const recorded = new Set(
    ended.flatMap(({ calls }) => calls.map((call) => call.slice(call.indexOf('=') + 1))),
  );
  const lost = entriesOf(ledger)
    .slice(keptAt, lostAt)
    .filter((entry) => entry.is === 'begun');
  for (const { worker } of workers) await worker.stop({ drainMs: 0 });
  for (const runs of [...machines, other]) await runs.close();
  return {
    ...{ runs: known.length, lostCalls: lost.length, longestMs },
    violations: [
      ...violations,
      ...still.map((id) => `${id} stands still for more than ${STILL_MS} ms`),
      ...lost.flatMap(({ run, name, nonce }) =>
        recorded.has(nonce) ? [`${run}: "${name}" was lost, and is continued`] : [],
      ),
      ...ended.flatMap(({ run, status, calls }) =>
        status === 'completed' && calls.length === CALLS.length
          ? []
          : [`${run} is ${status}: ${calls.join(', ')}`],
      ),
    ],
  };
}

/** So many promotions of a server of its own. */
export async function runPromotions(times: number, lostMs: number) {
  const dir = mkdtempSync(join(tmpdir(), 'devs-promotions-'));
  const server = await startPostgres({ isPutBack: true });
  const all: Promotion[] = [];
  try {
    for (let round = 0; round < times; round += 1) all.push(await promote({ server, dir }, round, lostMs));
  } finally {
    await server.stop();
    rmSync(dir, { recursive: true, force: true });
  }
  return {
    promotions: times,
    lostMs,
    runs: all.reduce((sum, { runs }) => sum + runs, 0),
    lostCalls: all.reduce((sum, { lostCalls }) => sum + lostCalls, 0),
    longestMs: Math.max(...all.map(({ longestMs }) => longestMs)),
    violations: all.flatMap(({ violations }) => violations),
  };
}
