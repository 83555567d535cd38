// `pnpm bench:looking [--ended 1000000] [--waiting 10000]`: the time of lists and metrics in a cluster with many ended runs. See
// docs/internals/benchmarks.md.
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import type { Runs } from '@devs/core';
import { median, percentile, table } from '../../core/bench/state/figures.ts';
import { ClusterView } from '../src/cluster/ClusterView.ts';
import { BossJobs } from '../src/jobs/BossJobs.ts';
import { postgres } from '../src/postgres.ts';
import { EndedRuns } from '../src/rows/EndedRuns.ts';
import { Leases } from '../src/rows/Leases.ts';
import { RunLists } from '../src/rows/RunLists.ts';
import { Watches } from '../src/rows/Watches.ts';
import { poolOf } from '../src/server/pool.ts';
import { Tables } from '../src/server/Tables.ts';
import { fillRuns, TAGS } from '../test/support/fillRuns.ts';
import { startPostgres } from '../test/support/startPostgres.ts';

const { values } = parseArgs({
  options: {
    ended: { type: 'string', default: '1000000' },
    waiting: { type: 'string', default: '10000' },
    calls: { type: 'string', default: '50' },
  },
});
const [ended, waiting, calls] = [values.ended, values.waiting, values.calls].map(Number) as [
  number,
  number,
  number,
];
/** Size of a run's list data, bytes, as in a large cluster. */
const VIEW_BYTES = 1000;

const server = await startPostgres({ settings: { shared_buffers: '256MB' } });
const made = postgres(server.url);
await made.list();
console.log(`makes ${ended} runs that have ended, and ${waiting} that wait`);
const from = performance.now();
await fillRuns(server.url, { ended, waiting, viewBytes: VIEW_BYTES });
console.log(`made in ${Math.round((performance.now() - from) / 1000)} s`);

const pool = poolOf({ connectionString: server.url, max: 2 });
const boss = poolOf({ connectionString: server.url, max: 1 });
const tables = new Tables(pool, {
  schema: 'devs',
  patience: { awayMs: 0, onAway: () => undefined },
  isPooled: false,
});
const [lists, view, jobs] = [
  new RunLists(tables),
  new ClusterView(tables),
  new BossJobs(boss, { schema: 'devs' }),
];
const [leases, kept] = [new Leases(tables, jobs), new EndedRuns(tables, jobs)];
const watches = new Watches(tables, { listen: () => () => undefined }, 1e9);

const list = (filter: NonNullable<Parameters<Runs['list']>[0]>) => () => lists.list(filter);
const looks: Readonly<Record<string, () => Promise<unknown>>> = {
  'list: all': list({}),
  'list: waiting': list({ status: 'waiting' }),
  'list: failed': list({ status: 'failed' }),
  'list: failed, paused, running': list({ status: ['failed', 'paused', 'running'] }),
  'list: a tenant': list({ tenant: 'tenant-7' }),
  'list: a tenant, waiting': list({ tenant: 'tenant-7', status: 'waiting' }),
  'list: a tenant, failed': list({ tenant: 'tenant-7', status: 'failed' }),
  'list: a tag that half have': list({ tags: [TAGS.often] }),
  'list: a tag that few have': list({ tags: [TAGS.rare] }),
  'list: a prefix': list({ idPrefix: 'run-99999' }),
  'list: another graph': list({ graph: 'f'.repeat(64) }),
  'list: due': list({ due: true }),
  'gates: all': () => lists.gates({}),
  'gates: a tenant': () => lists.gates({ tenant: 'tenant-7' }),
  'gates: a tag that half have': () => lists.gates({ tags: [TAGS.often] }),
  'gates: how many': () => lists.countGates(),
  'metrics: numbers': () => view.numbers(),
  'metrics: queues': () => view.queues(),
  'devs queue: tenants': () => view.tenants(),
  'page: news of all runs': async () => (await watches.watch(null, () => undefined))(),
  'reaper: dead workers': () => leases.reap(),
  'reaper: timers': () => leases.wakeDue(),
  'reaper: unconfirmed leases': () => leases.freeUnconfirmed(),
  'reaper: restored jobs': () => leases.restoreJobs(),
  'sweep: counts': () => kept.addUp(),
};

const rows: string[][] = [];
try {
  await leases.tidy();
  await kept.addUp();
  await pool.query('VACUUM ANALYZE devs.run_counts');
  for (const [name, look] of Object.entries(looks)) {
    const ms: number[] = [];
    for (let nth = 0; nth < calls; nth += 1) {
      const at = performance.now();
      await look();
      ms.push(performance.now() - at);
    }
    const row = [name, ...[median(ms), percentile(ms, 0.95)].map((each) => each.toFixed(2))];
    console.log(row.join('  '));
    rows.push(row);
  }
} finally {
  await jobs.close();
  await Promise.all([made.close(), pool.end(), boss.end()]);
  await server.stop();
}
console.log(
  `\n${ended} runs have ended, ${waiting} wait; ms, ${calls} calls each, load ${loadavg()[0]?.toFixed(1)}`,
);
console.log(table(['what', 'p50', 'p95'], rows));
process.exit(0);
