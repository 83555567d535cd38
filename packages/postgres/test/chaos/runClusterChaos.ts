import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { postgres } from '../../src/postgres.ts';
import { startPooler } from '../support/startPooler.ts';
import { startPostgres } from '../support/startPostgres.ts';
import { Chaos, type ChaosOptions } from './Chaos.ts';
import { damagesOf } from './damagesOf.ts';
import { Fleet } from './Fleet.ts';
import { judge, type Verdict } from './judge.ts';
import { entriesOf } from './ledger.ts';
import { branchOf, CALLS, lifeApp } from './life.ts';

export interface ClusterChaosOptions extends ChaosOptions {
  /** Of a worker: runs at the same time. @defaultValue 4 */
  readonly slots?: number;
  /** Runs that wait for a slot. @defaultValue 2 */
  readonly waiting?: number;
  /** Workers that are loaded ahead. @defaultValue 2 */
  readonly spares?: number;
}

/** By which the clocks of workers are wrong, ms. */
const SKEW_MS = 20 * 60_000;

export interface ClusterChaosReport extends Verdict {
  readonly kills: number;
  readonly freezes: number;
  readonly restarts: number;
  readonly readOnly: number;
  /** Transactions that went through a pooler. */
  readonly pooled: number;
  readonly runs: number;
  /** What drives have failed with, each tried again. */
  readonly failures: string;
  /** What happened, a line each: kept where something is wrong. */
  readonly ledger: string | null;
}

/** How long a call takes whose worker is to be killed in it, ms. */
const AIMED_MS = 300;

/** Kills workers while they drive runs, and judges what has become of these. */
export async function runClusterChaos(options: ClusterChaosOptions): Promise<ClusterChaosReport> {
  const { workers = 3, slots = 4, waiting = 2, spares = 2 } = options;
  const dir = mkdtempSync(join(tmpdir(), 'devs-cluster-'));
  const ledger = join(dir, 'ledger');
  writeFileSync(ledger, '');
  const server = await startPostgres({ isOwn: true }); // whose power goes out now and then, and that takes no changes
  const runs = postgres({ url: server.url, dir });
  const pooler = await startPooler(server.url);
  const fleet = new Fleet({
    url: server.url,
    ways: [{ pooler: pooler.url, skewMs: SKEW_MS }, { skewMs: -SKEW_MS }, { pooler: pooler.url }],
    dir,
    ledger,
    slots,
    callMs: options.aims === true ? AIMED_MS : 10,
    spares,
  });
  const app = lifeApp(runs, () => Promise.reject(new Error('This process makes no calls.')));
  const chaos = new Chaos({ ...options, open: workers * slots + waiting }, { ledger, server, app, fleet });
  try {
    const stuck = await chaos.run();
    const { ended, violations } = await damagesOf(runs, app, chaos.ids);
    const verdict = judge(entriesOf(ledger), ended, { names: CALLS, branchOf });
    const all = [...stuck, ...chaos.impossible, ...verdict.violations, ...violations];
    const { freezes, restarts, readOnly } = chaos;
    return {
      ...{ ...verdict, kills: chaos.kills, freezes, restarts, readOnly, pooled: pooler.transactions },
      ...{ violations: all, runs: chaos.ids.length, failures: fleet.errors },
      ledger: all.length === 0 ? null : kept(ledger),
    };
  } finally {
    await fleet.end();
    await runs.close();
    pooler.close();
    await server.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

function kept(ledger: string): string {
  const copy = join(mkdtempSync(join(tmpdir(), 'devs-ledger-')), 'ledger');
  copyFileSync(ledger, copy);
  return copy;
}
