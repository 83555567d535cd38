import type { Database, Statement } from 'better-sqlite3';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { howMany } from '../../../../test/support/howMany.ts';
import { MIGRATIONS } from '../../../db/migrations/index.ts';
import { THREAD_STATUSES } from '../../../state/threads/threadRecords.ts';
import { ada, twoSteps } from '../../__tests__/ownGraph.ts';
import { durable } from '../../app/durable.ts';
import type { RunFilter } from '../Runs.ts';

function open(db: Database, now = { ms: 0 }) {
  db.pragma('synchronous = OFF');
  return durable(twoSteps(), { db, gates: { second: ({ log }) => log }, now: () => now.ms });
}

/** Query plans of the statements that find runs or gates. */
function plansOf(db: Database): string[] {
  const plans: string[] = [];
  const prepare = db.prepare.bind(db) as (sql: string) => Statement<unknown[]>;
  db.prepare = ((sql: string): Statement<unknown[]> => {
    if (/@limit|LIMIT 1000/.test(sql)) {
      const rows = prepare(`EXPLAIN QUERY PLAN ${sql.replaceAll(/@\w+|\?/g, "''")}`).all();
      plans.push(...rows.map((row) => (row as { readonly detail: string }).detail));
    }
    return prepare(sql);
  }) as typeof db.prepare;
  return plans;
}

/** Runs as a file has them after years: each with the open gate of `like`, a tenant of a hundred, and a tag that all have. */
function manyRuns(db: Database, count: number, like: string): void {
  db.transaction(() => {
    db.prepare(`
      WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${count - 1})
      INSERT INTO threads (thread_id, project_id, graph_fingerprint, status, created_at, updated_at)
      SELECT printf('mail-%05d', i), 'p', 'g', iif(i % 3 = 0, 'completed', 'waiting'), i / 7, i FROM n`).run();
    db.prepare(`
      INSERT INTO run_labels SELECT json_array('tenant', printf('t%d', rowid % 100)), created_at, thread_id FROM threads WHERE graph_fingerprint = 'g'
      UNION ALL SELECT '["mail"]', created_at, thread_id FROM threads
      UNION ALL SELECT '["even",true]', created_at, thread_id FROM threads WHERE rowid % 2 = 0
      UNION ALL SELECT '["even",false]', created_at, thread_id FROM threads WHERE rowid % 2 = 1`).run();
    db.prepare(`
      INSERT INTO hitl_sessions (id, task_id, graph_state_json, suspended_at, kind, thread_id, question_json, artifact_hash)
      SELECT 's' || t.thread_id, 't', '{}', t.created_at, s.kind, t.thread_id, s.question_json, s.artifact_hash
      FROM threads AS t JOIN hitl_sessions AS s ON s.thread_id = ? WHERE t.graph_fingerprint = 'g'`).run(
      like,
    );
  })();
}

const label = fc.record(
  {
    tenant: fc.constantFrom('acme', 'bolt'),
    n: fc.constantFrom(1, 1.5, 1e21),
    ok: fc.constantFrom(true, null, 'ü"\n'),
  },
  { requiredKeys: [] },
);
const tags = fc.subarray(['a', 'b', 'c']);
const id = fc.string({ minLength: 1, maxLength: 4, unit: fc.constantFrom('x', 'y', '%', '_', 'é') });

describe('finding runs', () => {
  test('by metadata, tags, status and the beginning of the id equals a filter in memory', async ({ db }) => {
    const now = { ms: 0 };
    const app = open(db, now);
    const set = db.prepare('UPDATE threads SET status = ? WHERE thread_id = ?');
    const run = fc.record({
      id,
      metadata: label,
      tags,
      at: fc.integer({ min: 0, max: 3 }),
      status: fc.constantFrom(...THREAD_STATUSES),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(run, { selector: (each) => each.id, maxLength: 10 }),
        fc.record({
          metadata: label,
          tags,
          idPrefix: fc.oneof(fc.constant(''), id),
          limit: fc.integer({ min: 1, max: 12 }),
        }),
        fc.subarray([...THREAD_STATUSES], { minLength: 1 }),
        async (runs, filter, status) => {
          for (const each of runs) {
            now.ms = each.at;
            await app.create(each.id, { metadata: each.metadata, tags: each.tags });
            set.run(each.status, each.id);
          }
          const expected = runs
            .filter((each) => each.id.startsWith(filter.idPrefix) && status.includes(each.status))
            .filter((each) => filter.tags.every((tag) => each.tags.includes(tag)))
            .filter((each) =>
              Object.entries(filter.metadata).every(([name, value]) => {
                const own = each.metadata as Readonly<Record<string, unknown>>;
                return Object.hasOwn(own, name) && own[name] === value;
              }),
            )
            .sort((a, b) => b.at - a.at || Buffer.compare(Buffer.from(b.id), Buffer.from(a.id)));
          const page = await app.list({ ...filter, status });
          expect(page.runs.map((each) => each.id)).toEqual(
            expected.slice(0, filter.limit).map((each) => each.id),
          );
          expect(page.runs.map((each) => [each.metadata, each.tags])).toEqual(
            expected.slice(0, filter.limit).map((each) => [each.metadata, each.tags]),
          );
          expect(page.next !== null).toBe(expected.length > filter.limit);
          db.exec('DELETE FROM run_labels; DELETE FROM threads');
        },
      ),
      { numRuns: howMany('DEVS_LISTS', 60) },
    );
  });

  test('finds the gates of the runs that match', async ({ db }) => {
    const app = open(db);
    await app.run('a', {}, { metadata: { tenant: 'acme', deep: { x: 1 } }, tags: ['hot'] });
    await app.run('b', {}, { metadata: { tenant: 'acme' } });
    await app.run('c', {}, { tags: ['hot'] });
    const of = async (filter: RunFilter) =>
      (await app.openGates(filter)).gates.map(({ threadId }) => threadId);
    expect(await of({})).toHaveLength(3);
    expect((await of({ metadata: { tenant: 'acme' } })).toSorted()).toEqual(['a', 'b']);
    expect(await of({ metadata: { tenant: 'acme' }, tags: ['hot'] })).toEqual(['a']);
    expect(await of({ idPrefix: 'c' })).toEqual(['c']);
    expect(await of({ tags: ['cold'] })).toEqual([]);
    expect(await of({ tenant: 'acme' })).toEqual([]);
    expect(await of({ tenant: 'default', idPrefix: 'b' })).toEqual(['b']);
    expect(await app.get('a')).toMatchObject({
      id: 'a',
      metadata: { tenant: 'acme' },
      tags: ['hot'],
      status: 'waiting',
    });
    expect(await app.get('nobody')).toBeNull();
  });

  test('a fork is found by what its run is found by', async ({ db }) => {
    const app = open(db);
    await app.run('a', {}, { metadata: { tenant: 'acme' } });
    await app.fork('a', { as: 'z', by: ada });
    expect((await app.list({ metadata: { tenant: 'acme' } })).runs.map((run) => run.id).toSorted()).toEqual([
      'a',
      'z',
    ]);
  });

  test('finds rows of before the migration: their input says it', async ({ db }) => {
    const app = open(db);
    const metadata = {
      tenant: 'acme',
      big: 1e21,
      real: 0.1,
      yes: true,
      none: null,
      'a "b".c': 2,
      text: 'ü"\n\u0001/\\',
      deep: [1],
    };
    await app.run('plain', {}, { metadata, tags: ['hot', 'ü"'] });
    await app.run('tagged', { log: [] }, { metadata: { ...metadata, when: new Date(0) }, tags: ['hot'] });
    await app.run('without', {});
    const before = db.prepare('SELECT * FROM run_labels').all();
    expect(before.length).toBeGreaterThan(10);
    db.exec('DROP TABLE run_labels; DROP TABLE file_residue');
    db.exec(MIGRATIONS.find(({ version }) => version === 40)?.sql ?? '');
    expect(db.prepare('SELECT * FROM run_labels').all()).toEqual(before);
  });

  test('refuses what is no filter, and what is no label', async ({ db }) => {
    const app = open(db);
    const bad = [
      { owner: { a: {} } },
      { metadata: { a: undefined } },
      { metadata: 'x' },
      { tags: 'x' },
      { tags: [1] },
      { idPrefix: 1 },
      { tenant: 1 },
    ];
    for (const filter of bad) {
      await expect(app.list(filter as never)).rejects.toThrow(TypeError);
      await expect(app.openGates(filter as never)).rejects.toThrow(TypeError);
    }
    await expect(app.list({ tags: [...'abcdefghijk'] })).rejects.toThrow(RangeError);
    await expect(app.create('x', { metadata: { a: Number.NaN } })).rejects.toThrow(TypeError);
    expect(await app.get('x')).toBeNull();
  });

  test('among 10,000 runs by an index, whichever condition is rare', async ({ db }) => {
    const app = open(db);
    await app.run('like', {});
    manyRuns(db, 10_000, 'like');
    const plans = plansOf(db);
    const filters: readonly RunFilter[] = [
      { metadata: { tenant: 't7' } },
      { metadata: { tenant: 't7' }, tags: ['mail'] },
      { tags: ['mail'], status: 'completed' },
      { tags: ['mail'], idPrefix: 'mail-0012' },
      { idPrefix: 'mail-' },
      { metadata: { even: true }, tags: ['mail'] },
    ];
    for (const filter of filters) {
      expect((await app.list(filter)).runs.length).toBeGreaterThan(9);
      const { status: _, ...found } = filter;
      expect((await app.openGates(found)).gates.length).toBeGreaterThan(9);
    }
    const scans = plans.filter(
      (plan) => plan.startsWith('SCAN') && !/VIRTUAL TABLE|SUBQUERY|\(subquery|CONSTANT/.test(plan),
    );
    expect(scans).toEqual([]);
  });
});
