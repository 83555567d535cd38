import type { Gate } from '@devs/core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { PostgresRuns } from '../src/PostgresRuns.ts';
import type { RunRows } from '../src/rows/RunRows.ts';
import { type Cluster, startCluster, WAITING } from './support/startCluster.ts';
import { startProxy } from './support/startProxy.ts';

type RunSignal = Parameters<RunRows['tell']>[1];

let cluster: Cluster;
let one: PostgresRuns;
let two: PostgresRuns;

beforeAll(async () => {
  cluster = await startCluster();
  [one, two] = [cluster.runs(), cluster.runs()];
});
afterAll(() => cluster.stop());

const aGate = (runId: string, name = 'q'): Gate => ({
  ...{ sessionId: `${runId}-${name}`, threadId: runId, kind: 'review', taskId: 't', artifactHash: 'hash' },
  ...{ message: 'Well?', artifact: { text: 'a\0b' }, openedAt: '2026-01-02T03:04:05.678Z' },
});

let runs = 0;
async function aRun(gates: readonly string[] = []): Promise<string> {
  runs += 1;
  const id = `run-${runs}`;
  const run = cluster.newRun(id);
  await one.create({ ...run, index: { ...run.index, gates: gates.map((name) => aGate(id, name)) } });
  return id;
}

const decision = (runId: string, id: string, name = 'q'): RunSignal => ({
  ...{ id, kind: 'decision', sessionId: `${runId}-${name}`, artifactHash: 'hash', closes: true },
  answer: { approved: true, by: { kind: 'human', id } },
});
const pause = (id: string): RunSignal => ({ id, kind: 'pause' });

const jobsOf = async (runId: string): Promise<readonly unknown[]> => {
  const sql = `SELECT state FROM devs_boss.job WHERE data->>'runId' = $1 AND state < 'completed'`;
  return (await cluster.sql(sql, [runId])).map(({ state }) => state);
};
const clearJobs = (runId: string) =>
  cluster.sql(`DELETE FROM devs_boss.job WHERE data->>'runId' = $1`, [runId]);

async function tell(runs: PostgresRuns, id: string, signal: RunSignal): Promise<boolean> {
  const looked = await runs.open(id);
  looked.close();
  return looked.tell(signal);
}

/** Where a run stands, for `settle`. */
const waiting = (runId: string, gates: readonly string[] = []) => ({
  ...WAITING,
  gates: gates.map((name) => aGate(runId, name)),
});

describe('a run in PostgreSQL', () => {
  test('is created once, with its job', async () => {
    const run = cluster.newRun('created');
    const all = await Promise.all([one.create(run), two.create(run), one.create(run)]);
    expect(all.filter((isFirst) => isFirst)).toHaveLength(1);
    expect(await jobsOf('created')).toEqual(['created']);
  });

  test('is looked at as a copy in which nothing is kept', async () => {
    const id = await aRun();
    const looked = await two.open(id);
    expect([looked.isCopy, looked.signals]).toEqual([true, []]);
    looked.db.exec('CREATE TABLE scratch (n INTEGER)');
    looked.close();
    expect(() => looked.db.prepare('SELECT 1')).toThrow(TypeError);
    const again = await two.open(id);
    expect(() => again.db.prepare('SELECT * FROM scratch')).toThrow(/no such table/);
    again.close();
    await expect(two.open('nobody')).rejects.toMatchObject({ code: 'THREAD_NOT_FOUND' });
  });

  test('is told a decision by one of many, with a wake in the same commit', async () => {
    const id = await aRun(['q']);
    await clearJobs(id);
    const looks = await Promise.all(Array.from({ length: 8 }, (_, n) => (n % 2 === 0 ? one : two).open(id)));
    const told = await Promise.all(looks.map((looked, n) => looked.tell(decision(id, `ada-${n}`))));
    for (const looked of looks) looked.close();
    expect(told.filter((isTold) => isTold)).toHaveLength(1);
    expect(await jobsOf(id)).toEqual(['created']);
    const after = await one.open(id);
    expect(after.signals).toEqual([decision(id, `ada-${told.indexOf(true)}`)]);
    after.close();
    expect(await tell(two, id, decision(id, 'bob'))).toBe(false); // it is not open any more
    expect((await one.gates()).gates.map(({ threadId }) => threadId)).not.toContain(id);
    expect(await one.runOfGate(`${id}-q`)).toBe(id);
    expect(await one.runOfGate('none')).toBeNull();
  });

  test('is told nothing by who has not seen what it was told since; the same signal is told once', async () => {
    const id = await aRun();
    const looked = await one.open(id);
    expect(await tell(two, id, pause('p1'))).toBe(true);
    expect(await looked.tell(pause('p2'))).toBe(false);
    expect(await looked.tell(pause('p1'))).toBe(true);
    looked.close();
    const { signals } = await one.open(id);
    expect(signals).toEqual([pause('p1')]);
  });

  test('is held by one process, that hears of what it is told and settles when it has taken it', async () => {
    const id = await aRun(['q']);
    const held = await one.hold(id);
    await expect(two.hold(id)).rejects.toMatchObject({ code: 'THREAD_BUSY' });
    await expect(one.hold(id)).rejects.toMatchObject({ code: 'THREAD_BUSY' });
    await expect(two.hold('nobody')).rejects.toMatchObject({ code: 'THREAD_NOT_FOUND' });
    const heard = new Promise<void>((resolve) => held.onSignal(resolve));
    expect(await held.signals()).toEqual([]);
    expect(await tell(two, id, decision(id, 'ada'))).toBe(true);
    await heard;
    expect(await held.settle(waiting(id))).toBe('again');
    expect(await held.signals()).toEqual([decision(id, 'ada')]);
    await clearJobs(id);
    expect(await held.settle(waiting(id, ['r']))).toBe('settled');
    await held.close();
    const [gate] = (await two.gates()).gates.filter(({ threadId }) => threadId === id);
    expect(gate).toEqual(aGate(id, 'r'));
    const { signals } = await two.open(id);
    expect([signals, await jobsOf(id)]).toEqual([[], []]);
  });

  test('asks again what was decided, where its file has not taken the decision', async () => {
    const id = await aRun(['q']);
    const held = await one.hold(id);
    await tell(two, id, decision(id, 'ada'));
    await held.signals();
    expect(await held.settle(waiting(id, ['q']))).toBe('settled');
    await held.close();
    expect(await tell(two, id, decision(id, 'bob'))).toBe(true);
  });

  test('is driven again where it was let go of without an end, and told again what it was', async () => {
    const id = await aRun();
    await tell(two, id, pause('p'));
    const held = await one.hold(id);
    expect(await held.signals()).toEqual([pause('p')]);
    await clearJobs(id);
    await held.close();
    expect(await jobsOf(id)).toEqual(['created']);
    const next = await two.hold(id);
    expect([next.epoch, await next.signals()]).toEqual([held.epoch + 1, [pause('p')]]);
    await next.close();
  });

  test('is driven on where it was settled while it runs', async () => {
    const id = await aRun();
    await clearJobs(id);
    const held = await one.hold(id);
    await held.settle({ ...WAITING, status: 'running' });
    await held.close();
    expect(await jobsOf(id)).toEqual(['created']);
  });

  test('is taken from a process that is gone, at once', async () => {
    const id = await aRun();
    const held = await one.hold(id);
    await expect(two.hold(id)).rejects.toMatchObject({ code: 'THREAD_BUSY' });
    await cluster.sql(
      `INSERT INTO devs.workers (worker_id, lock_key, host, pid, slots, graphs) VALUES ('ghost', 1, 'h', 1, 0, '[]')`,
    );
    await cluster.sql(`UPDATE devs.runs SET owner = 'ghost' WHERE run_id = $1`, [id]);
    await hasRunForLong();
    const next = await two.hold(id);
    expect(next.epoch).toBe(held.epoch + 1);
    await expect(held.settle(WAITING)).rejects.toMatchObject({ code: 'LEASE_LOST' });
    expect(await next.settle(WAITING)).toBe('settled');
    await Promise.all([held.close(), next.close()]);
  });

  test('counts for its tenant while it is held', async () => {
    await cluster.sql(`INSERT INTO devs.tenants (tenant, cap) VALUES ('small', 1)`);
    const ids = ['small-1', 'small-2'];
    for (const id of ids) await one.create({ ...cluster.newRun(id), tenant: 'small' });
    const first = await one.take('small-1', { isCapped: true });
    expect(await two.take('small-2', { isCapped: true })).toBe('full');
    const beyond = await two.hold('small-2');
    await beyond.close();
    if (typeof first === 'object') {
      await first.settle(WAITING);
      await first.close();
    }
    const second = await two.take('small-2', { isCapped: true });
    expect(second).toBeTypeOf('object');
    if (typeof second === 'object') await second.close();
    expect(await cluster.sql(`SELECT running FROM devs.tenants`)).toEqual([{ running: 0 }]);
  });
});

/** Nobody is taken for dead just after a start of the server. */
async function hasRunForLong(): Promise<void> {
  await expect
    .poll(
      async () =>
        (await cluster.sql(`SELECT pg_postmaster_start_time() < now() - interval '5 s' AS is_old`))[0],
    )
    .toEqual({ is_old: true });
}

describe('an answer that is lost', () => {
  test('changes nothing of what was done: created, told and settled once', async () => {
    const proxy = await startProxy(cluster.server.url);
    const lossy = cluster.runs({ url: proxy.url, directUrl: cluster.server.url });
    await lossy.list();
    const commit = 'COMMIT';
    const id = 'lossy';
    const run = cluster.newRun(id);
    proxy.loseAnswer('placed AS');
    expect(await lossy.create({ ...run, index: { ...run.index, gates: [aGate(id)] } })).toBe(true);
    const looked = await lossy.open(id);
    proxy.loseAnswer(commit);
    expect(await looked.tell(decision(id, 'ada'))).toBe(true);
    looked.close();
    proxy.loseAnswer('room AS');
    const held = await lossy.hold(id);
    expect(await held.signals()).toEqual([decision(id, 'ada')]);
    proxy.loseAnswer('swept AS');
    expect(await held.settle(waiting(id))).toBe('settled');
    await held.close();
    expect(proxy.lost).toBe(4);
    const sql = 'SELECT wake_seq, handled_seq, owner, status FROM devs.runs WHERE run_id = $1';
    expect(await cluster.sql(sql, [id])).toEqual([
      { wake_seq: '1', handled_seq: '1', owner: null, status: 'waiting' },
    ]);
    await lossy.close();
    proxy.close();
  });

  test('of a settlement counts, also where the next one has the run by then', async () => {
    const id = await aRun();
    const held = await one.hold(id);
    expect(await held.settle(WAITING)).toBe('settled');
    expect(await held.settle(WAITING)).toBe('settled');
    const next = await two.hold(id);
    expect(await held.settle(WAITING)).toBe('settled');
    await Promise.all([held.close(), next.close()]);
  });
});

describe('a server that has lost commits', () => {
  test('is found by who made them, and never gone on with', async () => {
    const id = await aRun();
    const held = await one.hold(id);
    held.db.exec('CREATE TABLE made (n INTEGER)');
    await held.outlet.pending();
    await cluster.sql('DELETE FROM devs.run_changes WHERE run_id = $1', [id]);
    await cluster.sql('UPDATE devs.runs SET head_seq = 0 WHERE run_id = $1', [id]);
    await expect(held.settle(WAITING)).rejects.toMatchObject({ code: 'LEASE_LOST' });
    held.db.exec('CREATE TABLE more (n INTEGER)');
    await expect(held.outlet.pending()).rejects.toMatchObject({ code: 'LEASE_LOST' });
    await held.close();
  });

  test('gives the next one the same epoch, and knows the two apart', async () => {
    const id = await aRun();
    const held = await one.hold(id);
    await cluster.sql(
      'UPDATE devs.runs SET epoch = epoch - 1, owner = NULL, lease = NULL WHERE run_id = $1',
      [id],
    );
    const next = await two.hold(id);
    expect(next.epoch).toBe(held.epoch);
    held.db.exec('CREATE TABLE made (n INTEGER)');
    await expect(held.outlet.pending()).rejects.toMatchObject({ code: 'LEASE_LOST' });
    await Promise.all([held.close(), next.close()]);
  });
});

describe('lists', () => {
  test('of runs are newest first, page by page, and say who is driven', async () => {
    const listed = cluster.runs({ schema: 'listed' });
    const ids = ['a', 'b', 'c', 'd', 'e'];
    for (const id of ids) await listed.create(cluster.newRun(id));
    const held = await listed.hold('c');
    const found: unknown[] = [];
    let after: string | undefined;
    do {
      const page = await listed.list({ limit: 2, ...(after !== undefined && { after }) });
      found.push(...page.runs.map(({ id, status, isDriven }) => [id, status, isDriven]));
      after = page.next ?? undefined;
    } while (after !== undefined);
    expect(found).toEqual([
      ['e', 'created', false],
      ['d', 'created', false],
      ['c', 'running', true],
      ['b', 'created', false],
      ['a', 'created', false],
    ]);
    await held.settle({ ...WAITING, status: 'completed', reason: 'a\0b \ud800', title: 't' });
    await held.close();
    const { runs } = await listed.list({ status: 'completed' });
    expect(runs).toMatchObject([{ id: 'c', reason: 'a\ufffdb \ufffd', graph: 'f'.repeat(64) }]);
    expect(runs[0]?.endedAt).toBe(runs[0]?.updatedAt);
    expect((await listed.list({ due: true })).runs).toHaveLength(4);
    expect((await listed.list({ graph: 'other' })).runs).toEqual([]);
    await expect(listed.list({ limit: 0 })).rejects.toThrow(RangeError);
  });

  test('of questions are oldest first, page by page', async () => {
    const asking = cluster.runs({ schema: 'asking' });
    const gates = ['a', 'b', 'c'].map((name) => aGate('asks', name));
    const run = cluster.newRun('asks');
    await asking.create({ ...run, index: { ...run.index, status: 'waiting', gates } });
    const first = await asking.gates({ limit: 2 });
    const rest = await asking.gates({ limit: 2, ...(first.next !== null && { after: first.next }) });
    expect([...first.gates, ...rest.gates]).toEqual(gates);
    expect(rest.next).toBeNull();
  });
});

test('a working copy is gone when it is closed', async () => {
  const held = await one.hold(await aRun());
  const copies = (): readonly string[] => cluster.copies().filter((name) => name.includes('.sqlite'));
  expect(copies().filter((name) => name.endsWith('.sqlite'))).toHaveLength(1);
  await held.close();
  expect(copies()).toEqual([]);
});

describe('what a run was told and has taken', () => {
  const taken = async (id: string): Promise<readonly unknown[]> =>
    (await cluster.sql('SELECT id FROM devs.signals WHERE run_id = $1 ORDER BY seq', [id])).map(
      ({ id: name }) => name,
    );

  test('is known for an hour, and goes with the next run that is let go of', async () => {
    const [id, next] = [await aRun(), await aRun()];
    for (const name of ['a', 'b']) expect(await tell(one, id, pause(name))).toBe(true);
    const held = await one.hold(id);
    await held.signals();
    expect(await tell(two, id, pause('c'))).toBe(true);
    await held.signals();
    expect(await held.settle(WAITING)).toBe('settled');
    await held.close();
    expect(await tell(two, id, pause('a'))).toBe(true);
    expect(await taken(id)).toEqual(['a', 'b', 'c']);
    expect(await tell(two, id, pause('d'))).toBe(true);
    await cluster.sql(`UPDATE devs.signals SET taken_at = taken_at - interval '2 hours' WHERE id <> 'c'`);
    const other = await two.hold(next);
    expect(await other.settle(WAITING)).toBe('settled');
    await other.close();
    expect(await taken(id)).toEqual(['c', 'd']);
    const { signals } = await one.open(id);
    expect(signals).toEqual([pause('d')]);
  });
});
