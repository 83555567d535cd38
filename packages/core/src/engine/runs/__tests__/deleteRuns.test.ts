import type { Database, Statement } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { only } from '../../../../test/support/only.ts';
import { doctor } from '../../../state/doctor/doctor.ts';
import { ada, bob, twoSteps } from '../../__tests__/ownGraph.ts';
import { durable } from '../../app/durable.ts';
import { internalsOf } from '../../file/appInternals.ts';
import { step } from '../../node/step.ts';

function open(db: Database, now = { ms: 0 }) {
  db.pragma('synchronous = OFF');
  const first = async () => ({ log: [await step('call', () => 'x'.repeat(10_000))] });
  return durable(twoSteps(first), { db, gates: { second: ({ log }) => log.length }, now: () => now.ms });
}

type App = ReturnType<typeof open>;

/** A run that has ended, and what a human said in it. */
async function ended(app: App, id: string, words: string): Promise<void> {
  const { gates } = await app.run(id, { log: [`of ${id}`] });
  await app.decide(only(gates), { approved: true, feedback: words, by: ada });
  await app.run(id);
}

/** How many rows each table has. */
function rowsIn(db: Database): Readonly<Record<string, number>> {
  const names = db
    .prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .pluck()
    .all();
  return Object.fromEntries(
    names.map((name) => [name, db.prepare(`SELECT count(*) FROM ${name}`).pluck().get() as number]),
  );
}

const KEPT = ['hitl_decisions', 'decision_log_end', 'events', 'graph_order'];

const withoutKept = (rows: Readonly<Record<string, number>>): object =>
  Object.fromEntries(Object.entries(rows).filter(([name]) => !KEPT.includes(name)));

describe('deleting a run', () => {
  test('leaves the lines of the decision log and nothing else, and says who did it', async ({ db }) => {
    const app = open(db);
    const before = rowsIn(db);
    await ended(app, 'run', 'as it should be');
    expect(await app.delete('run', { by: bob })).toEqual({ runs: 1, bytes: expect.any(Number) });
    expect(withoutKept(rowsIn(db))).toEqual(withoutKept(before));
    expect(db.prepare('SELECT count(*) FROM hitl_decisions').pluck().get()).toBe(1);
    expect(db.prepare('SELECT thread_id, name, payload_json FROM events').all()).toEqual([
      { thread_id: null, name: 'RUN_REMOVED', payload_json: '{"id":"run","principal":"human:bob"}' },
    ]);
    expect(doctor(db)).toMatchObject({ ok: true, findings: [] });
    expect(await app.delete('run', { by: bob })).toEqual({ runs: 0, bytes: 0 });
    // The id may be used again.
    expect(await app.run('run', { log: [] })).toMatchObject({ status: 'waiting' });
  });

  test('leaves what other runs share with it: values and words', async ({ db }) => {
    const app = open(db);
    await ended(app, 'one', 'the same words');
    const alone = rowsIn(db);
    await ended(app, 'two', 'the same words');
    await app.delete('two', { by: ada });
    expect(withoutKept(rowsIn(db))).toEqual(withoutKept(alone));
    expect((await app.getState('one')).values.log).toEqual(['of one', 'x'.repeat(10_000), 'second']);
    expect(doctor(db)).toMatchObject({ ok: true, findings: [] });
  });

  test('leaves runs whose ids begin with its own and a slash', async ({ db }) => {
    const app = open(db);
    await ended(app, 'shop', 'yes');
    await ended(app, 'shop/42', 'yes');
    await app.delete('shop', { by: ada });
    expect((await app.list()).runs.map(({ id }) => id)).toEqual(['shop/42']);
    expect((await app.getState('shop/42')).values.log).toHaveLength(3);
    expect(internalsOf(app).store.sessions.listClosed('shop/42')).toHaveLength(1);
    expect(doctor(db)).toMatchObject({ ok: true, findings: [] });
  });

  test('takes rows from every table that names runs or their sessions, but the decision log', async ({
    db,
  }) => {
    const deleted = new Set<string>();
    const prepare = db.prepare.bind(db) as (sql: string) => Statement<unknown[]>;
    const noted = (sql: string): Statement<unknown[]> => {
      const [, table] = /^\s*DELETE FROM (\w+)/.exec(sql) ?? [];
      if (table !== undefined) deleted.add(table);
      return prepare(sql);
    };
    const app = open(db);
    await ended(app, 'run', 'yes');
    db.prepare = noted as typeof db.prepare;
    await app.delete('run', { by: ada });
    const naming = prepare(
      `SELECT DISTINCT t.name FROM sqlite_schema AS t JOIN pragma_table_info(t.name) AS c
       WHERE t.type = 'table' AND c.name IN ('thread_id', 'graph_id', 'session_id', 'child_id') AND t.name <> 'hitl_decisions'`,
    )
      .pluck()
      .all() as readonly string[];
    expect(naming.filter((table) => !deleted.has(table))).toEqual([]);
    expect(deleted.has('hitl_decisions')).toBe(false);
  });

  test('is refused before anything is deleted', async ({ db }) => {
    const app = open(db);
    await app.run('waits', { log: [] });
    await ended(app, 'ended', 'yes');
    await internalsOf(app).recordRun({ threadId: 'folder', workspace: '/somewhere', input: {} });
    await app.cancel('folder');
    const before = rowsIn(db);
    const refusals = [
      ['waits', { by: ada }, { code: 'REMOVE_REFUSED', context: { threadId: 'waits', reason: 'not_ended' } }],
      [
        'folder',
        { by: ada },
        { code: 'REMOVE_REFUSED', context: { threadId: 'folder', reason: 'has_folder' } },
      ],
      ['none', { by: ada }, { code: 'THREAD_NOT_FOUND' }],
      ['ended', { by: { kind: 'agent', id: 'a' } }, { code: 'AGENT_MAY_NOT_DECIDE' }],
      ['ended', { by: { kind: 'policy', id: 'p' } }, { code: 'POLICY_NOT_DECLARED' }],
    ] as const;
    for (const [id, by, error] of refusals) await expect(app.delete(id, by)).rejects.toMatchObject(error);
    await internalsOf(app).withLease('ended', async () => {
      await expect(app.delete('ended', { by: ada })).rejects.toMatchObject({ code: 'THREAD_BUSY' });
    });
    expect(rowsIn(db)).toEqual(before);
  });
});

describe('deleting runs by their age', () => {
  test('takes those that ended before, longest ago first, as many as are wanted', async ({ db }) => {
    const now = { ms: 1000 };
    const app = open(db, now);
    for (const id of ['a', 'b', 'c', 'd']) {
      await ended(app, id, 'yes');
      now.ms += 1000;
    }
    await app.run('waits', { log: [] });
    now.ms = 10_000;
    const idsLeft = async () => (await app.list()).runs.map(({ id }) => id);
    const expiry = { endedBefore: new Date(3001), by: ada };
    expect(await app.deleteOlderThan({ ...expiry, limit: 0 })).toEqual({ runs: 0, bytes: 0 });
    expect((await app.deleteOlderThan({ ...expiry, limit: 2 })).runs).toBe(2);
    expect(await idsLeft()).toEqual(['waits', 'd', 'c']);
    expect((await app.deleteOlderThan(expiry)).runs).toBe(1);
    expect(await idsLeft()).toEqual(['waits', 'd']);
    expect((await app.deleteOlderThan(expiry)).runs).toBe(0);
  });

  test('leaves a run that somebody holds, one with a folder, and one that goes on', async ({ db }) => {
    const now = { ms: 1000 };
    const app = open(db, now);
    for (const id of ['held', 'free', 'failed']) await ended(app, id, 'yes');
    await internalsOf(app).recordRun({ threadId: 'folder', workspace: '/somewhere', input: {} });
    await app.cancel('folder');
    // Driven again: it has not ended.
    db.prepare("UPDATE threads SET status = 'failed' WHERE thread_id = 'failed'").run();
    now.ms = 2000;
    const again = durable(twoSteps(), { db });
    internalsOf(app).store.threads.setFingerprint('failed', again.fingerprint);
    const expiry = { endedBefore: new Date(5000), by: ada };
    await internalsOf(app).withLease('held', async () => {
      internalsOf(app).store.threads.begin(claimed(app, 'failed'));
      expect((await app.deleteOlderThan(expiry)).runs).toBe(1);
    });
    expect((await app.list()).runs.map(({ id }) => id).sort()).toEqual(['failed', 'folder', 'held']);
    expect((await app.deleteOlderThan(expiry)).runs).toBe(1);
  });

  test('deletes more than one transaction does', async ({ db }) => {
    const app = open(db);
    for (let i = 0; i < 45; i += 1) {
      await internalsOf(app).recordRun({ threadId: `r${i}`, input: {} });
      await app.cancel(`r${i}`);
    }
    expect((await app.deleteOlderThan({ endedBefore: new Date(1), by: ada })).runs).toBe(45);
    expect(await app.list()).toEqual({ runs: [], next: null });
  });

  test('is refused for a bad request, and to agents', async ({ db }) => {
    const app = open(db);
    await ended(app, 'run', 'yes');
    const endedBefore = new Date(5000);
    const bad: readonly object[] = [
      {},
      { endedBefore: 'x' },
      { endedBefore, limit: -1 },
      { endedBefore, limit: Number.NaN },
    ];
    for (const each of bad) {
      await expect(app.deleteOlderThan({ ...each, by: ada } as never)).rejects.toThrow(RangeError);
    }
    const refused = { code: 'AGENT_MAY_NOT_DECIDE', message: 'An agent cannot delete runs.' };
    await expect(app.deleteOlderThan({ endedBefore, by: { kind: 'agent', id: 'a' } })).rejects.toMatchObject(
      refused,
    );
    expect((await app.list()).runs).toHaveLength(1);
  });
});

function claimed(app: App, id: string) {
  const claim = internalsOf(app).store.threads.claim(id);
  if (claim.kind === 'busy') throw new Error('It is held.');
  return claim.lease;
}
