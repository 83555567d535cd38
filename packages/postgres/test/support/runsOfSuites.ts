import type { Runs } from '@devs/core';
import { postgres } from '../../src/postgres.ts';
import { query } from './query.ts';
import { type PostgresServer, startPostgres } from './startPostgres.ts';

let server: Promise<PostgresServer> | null = null;

/** Schemas with tables and no rows. */
const free: string[] = [];
let made = 0;

/** A cluster without runs, on the one server of this process: it ends with the process. */
export async function runsOfSuites(): Promise<Runs> {
  server ??= startPostgres();
  const { url } = await server;
  const schema = free.pop() ?? `suite_${process.pid}_${++made}`;
  const runs = postgres({ url, schema });
  const close = runs.close.bind(runs);
  runs.close = async () => {
    await close();
    await query(url, `TRUNCATE ${schema}.runs CASCADE; DELETE FROM ${schema}_boss.job`);
    free.push(schema);
  };
  return runs;
}
