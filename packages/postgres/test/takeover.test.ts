import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { spawnProgram } from '../../core/test/support/spawnTs.ts';
import type { PostgresRuns } from '../src/PostgresRuns.ts';
import { postgres } from '../src/postgres.ts';
import { query } from './support/query.ts';
import { type PostgresServer, startPostgres } from './support/startPostgres.ts';
import { stepsRun } from './support/stepsDriver.ts';

let server: PostgresServer;
let runs: PostgresRuns;
/** Whoever has the lock keeps the calls of all workers waiting. */
let door: pg.Client;
const children = new Set<ChildProcess>();

beforeAll(async () => {
  server = await startPostgres();
  runs = postgres(server.url);
  door = new pg.Client({ connectionString: server.url });
  await door.connect();
  await query(server.url, 'CREATE TABLE calls (run_id text, step int, worker text)');
});
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await door.end();
  await runs.close();
  await server.stop();
});

interface StartedProcess {
  readonly child: ChildProcess;
  readonly finished: Promise<unknown>;
  readonly says: () => string;
}

async function aWorker(): Promise<StartedProcess> {
  const { child, finished } = spawnProgram('packages/postgres/test/support/worker.child.ts', [], {
    DEVS_DATABASE_URL: server.url,
  });
  children.add(child);
  let said = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  void finished.then(() => children.delete(child));
  while (!said.includes('"started"')) {
    if (child.exitCode !== null) throw new Error(JSON.stringify(await finished));
    await sleep(10);
  }
  return { child, finished, says: () => said };
}

const calls = (id: string) => query(server.url, 'SELECT step, worker FROM calls WHERE run_id = $1', [id]);
const rowOf = async (id: string) => {
  const [row] = await query(server.url, 'SELECT status, owner, epoch::int FROM devs.runs WHERE run_id = $1', [
    id,
  ]);
  return row ?? {};
};
const until = async (isSo: () => Promise<boolean>): Promise<void> => {
  while (!(await isSo())) await sleep(20);
};

/** Of two workers the one whose call is in flight, and the other one. */
async function holderOf(id: string, two: readonly [StartedProcess, StartedProcess]) {
  await until(async () => (await calls(id)).length === 1);
  const [first] = await calls(id);
  const [one, other] = two;
  return String(one.child.pid) === first?.['worker'] ? { holder: one, other } : { holder: other, other: one };
}

describe('a run whose worker is gone', () => {
  test('goes on elsewhere after kill -9, and is lost to one who stood still: no recorded call is made again', async () => {
    const two = await Promise.all([aWorker(), aWorker()]);
    await door.query('SELECT pg_advisory_lock(1)');
    await runs.create(stepsRun({ id: 'killed', steps: 2 }));
    const { holder, other } = await holderOf('killed', two);
    const third = aWorker();
    holder.child.kill('SIGKILL');
    await until(async () => (await calls('killed')).length === 2);
    await door.query('SELECT pg_advisory_unlock(1)');
    await until(async () => (await rowOf('killed'))['status'] === 'completed');
    expect((await calls('killed')).map(({ step }) => step)).toEqual([0, 0, 1]);

    await door.query('SELECT pg_advisory_lock(1)');
    const { holder: frozen, other: last } = await freezesWith('thaws', [other, await third]);
    // As if it had stood still for long: nobody else writes this.
    const past = `UPDATE devs.workers SET seen_at = now() - interval '1 hour' WHERE pid = $1`;
    await query(server.url, past, [frozen.child.pid]);
    await until(async () => (await calls('thaws')).length === 2);
    await door.query('SELECT pg_advisory_unlock(1)');
    await until(async () => (await rowOf('thaws'))['status'] === 'completed');
    const before = await rowOf('thaws');
    frozen.child.kill('SIGCONT');
    await until(async () => frozen.says().includes('"lost"'));
    const mine = (await calls('thaws')).map(({ step, worker }) => [
      step,
      worker === String(frozen.child.pid),
    ]);
    expect(mine).toEqual([
      [0, true],
      [0, false],
      [1, false],
    ]);
    expect(await rowOf('thaws')).toEqual(before);

    for (const { child, finished } of [frozen, last]) {
      child.kill('SIGTERM');
      await finished;
    }
    expect(await query(server.url, 'SELECT 1 FROM devs.workers')).toEqual([]);
  });
});

async function freezesWith(id: string, two: readonly [StartedProcess, StartedProcess]) {
  await runs.create(stepsRun({ id, steps: 2 }));
  const both = await holderOf(id, two);
  both.holder.child.kill('SIGSTOP');
  return both;
}
