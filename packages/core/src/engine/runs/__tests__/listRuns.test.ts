import type { Database, Statement } from 'better-sqlite3';
import fc from 'fast-check';
import { describe, expect, expectTypeOf } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { howMany } from '../../../../test/support/howMany.ts';
import { createDatabase } from '../../../db/createDatabase.ts';
import { THREAD_STATUSES, type ThreadStatus } from '../../../state/threads/threadRecords.ts';
import { ada, twoSteps } from '../../__tests__/ownGraph.ts';
import { durable } from '../../app/durable.ts';
import type { RunInfo } from '../../drive/RunResult.ts';
import { internalsOf } from '../../file/appInternals.ts';
import type { RunFilter, RunPage } from '../Runs.ts';

const open = (db: Database, now = { ms: 0 }, version = '1') =>
  durable(twoSteps(), { db, version, gates: { second: ({ log }) => log }, now: () => now.ms });

type App = ReturnType<typeof open>;

/** Every page of a list, one after the other. */
async function pagesOf(app: App, filter: RunFilter): Promise<readonly (readonly string[])[]> {
  const pages: (readonly string[])[] = [];
  let after: string | null = null;
  do {
    const page: RunPage = await app.list({ ...filter, ...(after !== null && { after }) });
    pages.push(page.runs.map(({ id }) => id));
    after = page.next;
  } while (after !== null);
  return pages;
}

/** What statements are planned to do, as SQLite tells it. */
function plansOf(db: Database): readonly string[] {
  const plans: string[] = [];
  const prepare = db.prepare.bind(db) as (sql: string) => Statement<unknown[]>;
  const noted = (sql: string): Statement<unknown[]> => {
    if (/json_each\(@statuses\)|ORDER BY ended_at|ORDER BY suspended_at, id LIMIT/.test(sql)) {
      const rows = prepare(`EXPLAIN QUERY PLAN ${sql.replaceAll(/@\w+/g, "''")}`).all();
      plans.push(...rows.map((row) => (row as { readonly detail: string }).detail));
    }
    return prepare(sql);
  };
  db.prepare = noted as typeof db.prepare;
  return plans;
}

const BETWEEN = 'created_at>? AND (created_at,thread_id)<(?,?)';

describe('a list of runs', () => {
  test('tells where each run stands, newest first', async ({ db }) => {
    const now = { ms: 1000 };
    const app = open(db, now);
    await app.run('first', {});
    now.ms = 2000;
    const { gates } = await app.run('second', {});
    await app.decide(gates[0] as never, { approved: true, by: ada });
    now.ms = 3000;
    await app.run('second');
    await internalsOf(app).recordRun({ threadId: 'third', input: {} });

    const { runs, next } = await app.list();
    expect(next).toBeNull();
    const graph = app.fingerprint;
    expect(runs).toEqual([
      {
        ...{
          id: 'third',
          status: 'created',
          reason: null,
          graph,
          isDriven: false,
          isDue: true,
          metadata: {},
          tags: [],
        },
        ...{ createdAt: '1970-01-01T00:00:03.000Z', updatedAt: '1970-01-01T00:00:03.000Z', endedAt: null },
      },
      {
        ...{
          id: 'second',
          status: 'completed',
          reason: null,
          graph,
          isDriven: false,
          isDue: false,
          metadata: {},
          tags: [],
        },
        createdAt: '1970-01-01T00:00:02.000Z',
        updatedAt: '1970-01-01T00:00:03.000Z',
        endedAt: '1970-01-01T00:00:03.000Z',
      },
      {
        ...{
          id: 'first',
          status: 'waiting',
          reason: '1 open gate(s)',
          graph,
          isDriven: false,
          isDue: false,
          metadata: {},
          tags: [],
        },
        ...{ createdAt: '1970-01-01T00:00:01.000Z', updatedAt: '1970-01-01T00:00:01.000Z', endedAt: null },
      },
    ]);
    expectTypeOf<RunInfo['status']>().toEqualTypeOf<ThreadStatus>();
  });

  test('tells a run that is driven from one whose driver has died', async ({ db }) => {
    const app = open(db);
    await internalsOf(app).recordRun({ threadId: 'run', input: {} });
    await internalsOf(app).withLease('run', async () => {
      expect((await app.list()).runs).toMatchObject([{ isDriven: true }]);
    });
    db.prepare("UPDATE threads SET lease_owner = '999999:1', lease_boot_id = 'another'").run();
    expect((await app.list()).runs).toMatchObject([{ isDriven: true }]);
    const [bootId] = internalsOf(app).store.threads.holder.split(' ');
    db.prepare("UPDATE threads SET lease_owner = '999999:1', lease_boot_id = ?").run(bootId);
    expect((await app.list()).runs).toMatchObject([{ isDriven: false }]);
  });

  test('is of one graph, one status, one time, where that is asked', async ({ db }) => {
    const now = { ms: 10 };
    const app = open(db, now);
    const other = open(db, now, '2');
    await app.run('waits', {});
    now.ms = 20;
    await internalsOf(app).recordRun({ threadId: 'created', input: {} });
    now.ms = 30;
    await other.run('others', {});
    const idsOf = async (filter: RunFilter) => (await app.list(filter)).runs.map(({ id }) => id);
    expect(await idsOf({ graph: app.fingerprint })).toEqual(['created', 'waits']);
    expect(await idsOf({ graph: other.fingerprint, status: 'waiting' })).toEqual(['others']);
    expect(await idsOf({ status: 'waiting' })).toEqual(['others', 'waits']);
    expect(await idsOf({ status: ['created', 'paused', 'created'] })).toEqual(['created']);
    expect(await idsOf({ status: [] })).toEqual([]);
    expect(await idsOf({ createdSince: new Date(20) })).toEqual(['others', 'created']);
    expect(await idsOf({ createdBefore: new Date(20) })).toEqual(['waits']);
    const { next } = await app.list({ limit: 1 });
    expect(await idsOf({ createdBefore: new Date(20), after: next as string })).toEqual(['waits']);
  });

  test('of what is due has what would go on if somebody drove it', async ({ db, dbPath }) => {
    const app = open(db);
    const due = async (more: RunFilter = {}) => {
      const { runs } = await app.list({ due: true, ...more });
      const marked = (await app.list(more)).runs.filter(({ isDue }) => isDue);
      expect(marked).toEqual(runs);
      return runs.map(({ id, isDriven }) => (isDriven ? `${id}, driven` : id));
    };
    await internalsOf(app).recordRun({ threadId: 'run', input: {} });
    expect(await due()).toEqual(['run']);
    expect(await due({ status: 'waiting' })).toEqual([]);
    expect(await due({ graph: 'another' })).toEqual([]);

    const stop = new AbortController();
    stop.abort();
    expect(await app.run('run', undefined, { drain: stop.signal })).toMatchObject({ status: 'paused' });
    expect(await due({ graph: app.fingerprint })).toEqual(['run']);

    const { gates } = await app.run('run');
    expect(await due()).toEqual([]);
    await app.decide(gates[0] as never, { approved: true, by: ada });
    const other = open(createDatabase({ dbPath }));
    await internalsOf(other).withLease('run', async () => expect(await due()).toEqual(['run, driven']));
    internalsOf(other).store.db.close();
    expect(await due()).toEqual(['run']);

    await app.pause('run');
    expect(await due()).toEqual(['run']); // the decision is still to be taken up
    await app.run('run');
    expect(await due()).toEqual([]);
  });

  test('refuses what is no filter', async ({ db }) => {
    const app = open(db);
    const bad: readonly object[] = [
      { status: 'sleeping' },
      { status: ['waiting', null] },
      { limit: 0 },
      { limit: 1001 },
      { limit: Number.NaN },
      { limit: '3' },
      { after: '' },
      { after: 'bm90IGpzb24' },
      { after: Buffer.from('[1]').toString('base64url') },
      { after: Buffer.from('{"at":1,"id":"x"}').toString('base64url') },
      { createdSince: new Date(Number.NaN) },
      { createdBefore: 17 },
    ];
    for (const filter of bad) await expect(app.list(filter)).rejects.toThrow(RangeError);
  });

  test('has every run on exactly one page, while others come, go on and are deleted', async ({ dbPath }) => {
    const db = createDatabase({ dbPath });
    db.pragma('synchronous = OFF');
    const app = open(db);
    const set = db.prepare('UPDATE threads SET status = ?, created_at = ? WHERE thread_id = ?');
    const run = fc.record({
      id: fc.string({ minLength: 1, maxLength: 4, unit: 'grapheme' }),
      status: fc.constantFrom(...THREAD_STATUSES),
      at: fc.integer({ min: 0, max: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(run, { selector: ({ id }) => id, maxLength: 12 }),
        fc.subarray([...THREAD_STATUSES], { minLength: 1 }),
        fc.integer({ min: 1, max: 5 }),
        async (runs, status, limit) => {
          for (const { id, status: is, at } of runs) {
            await internalsOf(app).recordRun({ threadId: id, input: {} });
            set.run(is, at, id);
          }
          const expected = runs
            .filter((each) => status.includes(each.status))
            .sort((a, b) => b.at - a.at || Buffer.compare(Buffer.from(b.id), Buffer.from(a.id)))
            .map(({ id }) => id);
          const pages = await pagesOf(app, { status, limit });
          expect(pages.flat()).toEqual(expected);
          expect(pages.slice(0, -1).every((page) => page.length === limit)).toBe(true);
          db.exec('DELETE FROM thread_inputs; DELETE FROM threads');
        },
      ),
      { numRuns: howMany('DEVS_LISTS', 40) },
    );
    db.close();
  });

  test('goes along an index for each status: what is not shown is not looked at', async ({ db }) => {
    const plans = plansOf(db);
    const app = open(db);
    await app.list();
    await app.list({ graph: app.fingerprint });
    await app.list({ due: true });
    await app.openGates();
    await app.deleteOlderThan({ endedBefore: new Date(0), by: ada });
    const scans = plans.filter((plan) => plan.startsWith('SCAN') && !plan.includes('VIRTUAL TABLE'));
    expect(scans).toEqual([]);
    const seeks = plans.filter((plan) => /USING (?:COVERING )?INDEX/.test(plan));
    expect(seeks.map((plan) => plan.replace(/USING (?:COVERING )?INDEX /, ''))).toEqual([
      'SEARCH found sqlite_autoindex_threads_1 (thread_id=?)',
      `SEARCH run threads_by_status (status=? AND ${BETWEEN})`,
      'SEARCH found sqlite_autoindex_threads_1 (thread_id=?)',
      `SEARCH run threads_by_graph (graph_fingerprint=? AND status=? AND ${BETWEEN})`,
      `SEARCH run threads_due (${BETWEEN})`,
      'SEARCH hitl_sessions hitl_sessions_open (status=? AND suspended_at>?)',
      'SEARCH threads threads_ended ((ended_at,thread_id)>(?,?) AND ended_at<?)',
      'SEARCH child_runs sqlite_autoindex_child_runs_1 (child_id=?)',
    ]);
    // Sorted is what was found: a page of each status, and questions that were asked in the same millisecond.
    expect(plans.filter((plan) => plan.includes('B-TREE'))).toEqual([
      'USE TEMP B-TREE FOR ORDER BY',
      'USE TEMP B-TREE FOR ORDER BY',
      'USE TEMP B-TREE FOR LAST TERM OF ORDER BY',
    ]);
  });
});
