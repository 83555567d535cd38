import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { postgres } from '../../src/postgres.ts';
import { Worker } from '../../src/worker/Worker.ts';
import { query } from '../support/query.ts';
import { startPostgres } from '../support/startPostgres.ts';
import { stepsDriver, stepsRun } from '../support/stepsDriver.ts';
import type { FaultPlace } from './fallBack.ts';

export interface BetweenClaims {
  /** Of runs whose row named, after the failover, an earlier claim of the process that held them under a later one. */
  readonly sameProcess: number;
  /** From the failover to the end of the last run, ms. */
  readonly longestMs: number;
  /** Runs that have not ended. */
  readonly stuck: readonly string[];
}

const RUNS = 6;
const TELLS = 2;
const BY = { kind: 'human', id: 'ada' } as const;
/** No run may stand still for longer, ms. */
export const STILL_MS = 60_000;

/** A promise, and what keeps it. */
function waiting(): [promise: Promise<void>, keep: () => void] {
  let keep = (): void => undefined;
  const promise = new Promise<void>((resolve) => {
    keep = resolve;
  });
  return [promise, keep];
}

/** Puts a copy of the server back that has the first claim of each run, while its second one is held. */
export async function betweenClaims({ server, dir }: FaultPlace, round: number): Promise<BetweenClaims> {
  const ids = Array.from({ length: RUNS }, (_, nth) => `claimed-${round}-${nth}`);
  /** By run: who has driven it, claim after claim. */
  const claims = new Map<string, number[]>();
  let [mayLeave, goOn] = waiting();
  const machines = [0, 1].map(() => postgres({ url: server.url, dir }));
  const workers = await Promise.all(
    machines.map((runs, nth) => {
      const ending = async ({ id }: { readonly id: string }): Promise<void> => {
        if (!ids.includes(id)) return; // what another test has left
        claims.set(id, [...(claims.get(id) ?? []), nth]);
        await mayLeave;
      };
      return Worker.start(runs, { drivers: [stepsDriver({ ending })], slots: RUNS / 2 });
    }),
  );
  const other = postgres({ url: server.url, dir });
  for (const id of ids) await other.create(stepsRun({ id, steps: 0, tells: TELLS }));
  const claimed = async (times: number): Promise<void> => {
    while (ids.some((id) => (claims.get(id)?.length ?? 0) < times)) await sleep(20);
  };
  let said = 0;
  const tell = async (id: string): Promise<void> => {
    said += 1;
    const signalId = `said-${round}-${said}`;
    const looked = await other.open(id);
    looked.close();
    await looked.tell({ kind: 'message', name: 'm', payload: null, by: BY, id: signalId, signalId });
  };
  const standing = async (status: string): Promise<readonly string[]> => {
    const sql = 'SELECT run_id FROM devs.runs WHERE run_id = ANY ($1) AND status = $2 AND owner IS NULL';
    return (await query(server.url, sql, [ids, status])).map((row) => String(row['run_id']));
  };

  await claimed(1);
  await server.keep();
  const leaveFirst = goOn;
  [mayLeave, goOn] = waiting();
  leaveFirst();
  while ((await standing('waiting')).length < RUNS) await sleep(20);
  for (const id of ids) await tell(id);
  await claimed(2);
  const sameProcess = [...claims.values()].filter(([first, second]) => first === second).length;
  await server.putBack();
  const from = performance.now();
  goOn(); // and whatever comes after
  const since = (): number => Math.round(performance.now() - from);
  while ((await standing('completed')).length < RUNS && since() < STILL_MS) {
    for (const id of await standing('waiting')) await tell(id);
    await sleep(50);
  }
  const [longestMs, done] = [since(), await standing('completed')];
  await Promise.all(workers.map((worker) => worker.stop({ drainMs: 0 })));
  await Promise.all([...machines, other].map((runs) => runs.close()));
  return { sameProcess, longestMs, stuck: ids.filter((id) => !done.includes(id)) };
}

export interface FailoversReport {
  readonly failovers: number;
  readonly runs: number;
  readonly sameProcess: number;
  /** From a failover to the end of its last run, ms, the longest. */
  readonly longestMs: number;
  readonly violations: readonly string[];
}

/** So many failovers of a server of its own. */
export async function runFailovers(failovers: number): Promise<FailoversReport> {
  const dir = mkdtempSync(join(tmpdir(), 'devs-failovers-'));
  const server = await startPostgres({ isPutBack: true });
  const all: BetweenClaims[] = [];
  try {
    for (let round = 0; round < failovers; round += 1) all.push(await betweenClaims({ server, dir }, round));
  } finally {
    await server.stop();
    rmSync(dir, { recursive: true, force: true });
  }
  return {
    ...{ failovers, runs: failovers * RUNS },
    sameProcess: all.reduce((sum, each) => sum + each.sameProcess, 0),
    longestMs: Math.max(...all.map(({ longestMs }) => longestMs)),
    violations: all.flatMap(({ stuck }) => stuck.map((id) => `${id} has not ended`)),
  };
}
