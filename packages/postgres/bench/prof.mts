import { startPostgres } from '/work/wt/proof/packages/postgres/test/support/startPostgres.ts';
import { openKeeper } from '/work/wt/proof/packages/postgres/bench/cluster/keepers.ts';
import { serverCpuMs } from '/work/wt/proof/packages/postgres/bench/cluster/serverCpu.ts';
import { query } from '/work/wt/proof/packages/postgres/test/support/query.ts';
import { mkdtempSync } from 'node:fs';
const dir = mkdtempSync('/work/wt/tmp-proof/prof-');
const server = await startPostgres({ settings: { fsync: 'on', shared_buffers: '256MB' } });
const which = process.argv[2] as 'devs cluster';
const k = await openKeeper(which, { steps: Number(process.argv[5] ?? 60), calls: process.argv[3] === 'calls' }, { url: server.url, dir });
for (let r = 0; r < 3; r += 1) {
  const ids = Array.from({ length: Number(process.argv[4] ?? 20) }, (_, n) => `r${r}-${n}`);
  for (const id of ids) await k.prepare(id);
  const c = process.cpuUsage(), s = serverCpuMs(Number(new URL(server.url).port)), t = performance.now();
  const x = await query(server.url, 'select xact_commit::int c from pg_stat_database where datname=current_database()');
  await Promise.all(ids.map((id) => k.run(id)));
  const d = process.cpuUsage(c);
  const y = await query(server.url, 'select xact_commit::int c from pg_stat_database where datname=current_database()');
  console.log(which, 'cpu/step', (d.user + d.system) / 1000 / (Number(process.argv[4] ?? 20) * Number(process.argv[5] ?? 60)), 'pg/step', (serverCpuMs(Number(new URL(server.url).port)) - s) / (Number(process.argv[4] ?? 20) * Number(process.argv[5] ?? 60)), 'ms/step', (performance.now() - t) / (Number(process.argv[4] ?? 20) * Number(process.argv[5] ?? 60)), 'tx/step', (Number(y[0]!.c) - Number(x[0]!.c)) / (Number(process.argv[4] ?? 20) * Number(process.argv[5] ?? 60)));
}
await k.close(); await server.stop(); process.exit(0);
