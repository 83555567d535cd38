import BetterSqlite3, { type Database } from 'better-sqlite3';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { howMany } from '../../../test/support/howMany.ts';
import { runMigrations } from '../../db/migrate.ts';
import { MIGRATIONS } from '../../db/migrations/index.ts';
import { NO_FENCE } from '../commits/immediateTransaction.ts';
import { StepStore } from '../steps/StepStore.ts';
import type { StepKind, StepUsage } from '../steps/stepRecords.ts';

const RUNS = howMany('DEVS_SPENDING_RUNS', 100);

const SUMS_FROM = 35;
const NOBODY = { threadId: 'run', lgTaskId: '', name: '' };
const TASKS = [null, 'task-1', 'task-2'] as const;

// The same from every call of a turn.
const ANEW = `
  SELECT coalesce(sum(requests), 0)
           + count(*) FILTER (WHERE state = 'intent') * coalesce(max(requests) FILTER (WHERE state = 'done'), 1) AS calls,
         coalesce(sum(coalesce(cost_usd, 0) + reserved_usd), 0.0) AS usd,
         coalesce(sum(tokens + reserved_tokens), 0) AS tokens,
         coalesce(sum(reserved_usd), 0.0) AS reservedUsd, coalesce(sum(reserved_tokens), 0) AS reservedTokens,
         coalesce(max(cost_usd) FILTER (WHERE state = 'done'), 0.0) AS largestUsd,
         coalesce(max(tokens) FILTER (WHERE state = 'done'), 0) AS largestTokens,
         coalesce(max(requests) FILTER (WHERE state = 'done'), 1) AS largestCalls
  FROM (SELECT *, coalesce(tokens_in, 0) + coalesce(tokens_out, 0) AS tokens FROM agent_steps)
  WHERE thread_id = 'run' AND kind = 'call' AND turn = @turn AND (@taskId IS NULL OR task_id = @taskId)`;

const COST_ANEW = `
  SELECT coalesce(sum(tokens_in), 0) AS tokensIn, coalesce(sum(tokens_out), 0) AS tokensOut,
         coalesce(sum(cost_usd), 0.0) AS costUsd,
         count(*) FILTER (WHERE state = 'done' AND coalesce(tokens_in, tokens_out, cost_usd) IS NOT NULL) AS calls,
         coalesce(sum(requests), 0) AS requests,
         count(*) FILTER (WHERE state = 'done' AND (cost_usd IS NULL OR unpriced > 0)) AS unpriced
  FROM agent_steps WHERE thread_id = 'run' AND kind = 'call'`;

const NEXT_TURN = `
  INSERT INTO thread_inputs (thread_id, turn, turn_key, type, value)
  SELECT 'run', coalesce(max(turn), 1) + 1, coalesce(max(turn), 1) + 1, 'json', '' FROM thread_inputs`;

interface Deed {
  readonly how: 'begin' | 'finish' | 'fail' | 'abandon' | 'next turn' | 'another visit';
  /** Which of the visit's steps. */
  readonly at: number;
  readonly kind: StepKind;
  readonly usage: StepUsage;
  readonly reserve: { readonly usd: number; readonly tokens: number };
}

const usd = fc.constantFrom(0, 0.1, 0.7, 3);
const deeds: fc.Arbitrary<Deed[]> = fc.array(
  fc.record({
    how: fc.constantFrom(
      'begin',
      'begin',
      'finish',
      'finish',
      'fail',
      'abandon',
      'next turn',
      'another visit',
    ),
    at: fc.nat(TASKS.length - 1),
    kind: fc.constantFrom('call', 'work'),
    usage: fc.record(
      { tokensIn: fc.nat(9), tokensOut: fc.nat(9), costUsd: usd, unpriced: fc.nat(1), requests: fc.nat(5) },
      { requiredKeys: [] },
    ),
    reserve: fc.record({ usd, tokens: fc.nat(5) }),
  }),
  { maxLength: 30 },
);

/** What a run has done to its steps, as far as each was possible. */
class Run {
  readonly #db: Database;
  readonly #steps: StepStore;
  #visit = 1;

  constructor(db: Database) {
    this.#db = db;
    this.#steps = new StepStore(db);
  }

  do({ how, at, kind, usage, reserve }: Deed): void {
    const key = { threadId: 'run', lgTaskId: `visit-${this.#visit}`, name: `step-${at}` };
    const state = this.#steps.find(key)?.state;
    if (how === 'begin' && state !== 'done') {
      this.#steps.intent({ ...key, node: 'work', taskId: TASKS[at] ?? null, kind, reserve }, NO_FENCE);
    }
    if (how === 'finish' && state === 'intent') this.#steps.finish(key, null, usage, NO_FENCE);
    if (how === 'fail' && state === 'intent') this.#steps.fail(key, usage, NO_FENCE);
    if (how === 'abandon') this.#steps.abandon('run');
    if (how === 'next turn') this.#db.exec(NEXT_TURN);
    if (how === 'another visit') this.#visit += 1;
  }
}

const bytesOf = (migrations: typeof MIGRATIONS): Buffer => {
  const db = new BetterSqlite3(':memory:');
  runMigrations(db, migrations);
  return db.serialize();
};

/** Puts the rows of a table into an older file, as far as it has their columns. */
function copyRows(table: string, from: Database, to: Database): void {
  const columns = to.prepare<[], string>(`SELECT name FROM pragma_table_info('${table}')`).pluck().all();
  const insert = to.prepare(
    `INSERT INTO ${table} (${columns.join()}) VALUES (${columns.map((name) => `@${name}`).join()})`,
  );
  for (const row of from.prepare<[], object>(`SELECT ${columns.join()} FROM ${table}`).all()) insert.run(row);
}

const FILE = bytesOf(MIGRATIONS);
const OLDER_FILE = bytesOf(MIGRATIONS.filter(({ version }) => version < SUMS_FROM));

/** An empty state file in memory, whose rows need no run. */
function opened(file: Buffer): Database {
  const db = new BetterSqlite3(file);
  db.pragma('foreign_keys = OFF');
  return db;
}

function expectSums(db: Database): void {
  const steps = new StepStore(db);
  for (const taskId of TASKS) {
    const { turn, ...found } = steps.spendingBefore(NOBODY, taskId);
    expect(rounded(found)).toEqual(rounded(db.prepare<[object], object>(ANEW).get({ turn, taskId }) ?? {}));
  }
  const cost = db.prepare<[], object>(COST_ANEW).get() ?? {};
  expect(rounded(steps.costOf('run'))).toEqual(rounded(cost));
}

/** Sums of the same figures in another order. */
const rounded = (figures: object): object =>
  Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, Number(value.toFixed(9))]));

test('what a turn and its tasks have spent is what their calls have, whatever becomes of those', () => {
  const db = opened(FILE);
  fc.assert(
    fc
      .property(deeds, (all) => {
        const run = new Run(db);
        for (const deed of all) run.do(deed);
        expectSums(db);
      })
      .beforeEach(() => void db.exec('BEGIN'))
      .afterEach(() => void db.exec('ROLLBACK')),
    { numRuns: RUNS },
  );
  db.close();
});

test('a file of an older engine is summed when it is opened, and counts on', () => {
  fc.assert(
    fc.property(deeds, deeds, (before, after) => {
      const [newer, db] = [opened(FILE), opened(OLDER_FILE)];
      const begun = new Run(newer);
      for (const deed of before) begun.do(deed);
      for (const table of ['agent_steps', 'thread_inputs']) copyRows(table, newer, db);
      newer.close();
      runMigrations(db);
      expectSums(db);
      const run = new Run(db);
      for (const deed of after) run.do(deed);
      expectSums(db);
      db.close();
    }),
    { numRuns: Math.ceil(RUNS / 4) },
  );
});

test('sums lose nothing by rounding: a thousand dimes are a hundred dollars', () => {
  const db = opened(FILE);
  const steps = new StepStore(db);
  for (let call = 0; call < 1000; call += 1) {
    const step = { threadId: 'run', lgTaskId: `visit-${call}`, name: 'call' };
    steps.intent({ ...step, node: 'work', taskId: null }, NO_FENCE);
    steps.finish(step, null, { costUsd: 0.1 }, NO_FENCE);
  }
  expect(steps.spendingBefore(NOBODY, null).usd).toBe(100);
  expect(steps.costOf('run').costUsd).toBe(100);
  db.close();
});

test('work that failed twice and then said what it cost was a call each time', () => {
  const db = opened(FILE);
  const steps = new StepStore(db);
  const step = { threadId: 'run', lgTaskId: 'visit', name: 'work' };
  for (const usage of [{}, {}, { costUsd: 1 }]) {
    steps.intent({ ...step, node: 'work', taskId: null, kind: 'work' }, NO_FENCE);
    expect(steps.spendingBefore(NOBODY, null).calls).toBe(0);
    if (usage.costUsd === undefined) steps.fail(step, usage, NO_FENCE);
    else steps.finish(step, null, usage, NO_FENCE);
  }
  expect(steps.spendingBefore(NOBODY, null)).toMatchObject({ calls: 3, usd: 1, largestUsd: 1 });
  expectSums(db);
  db.close();
});

test('the call that asks is not held against itself', () => {
  const db = opened(FILE);
  const steps = new StepStore(db);
  const reserve = { usd: 2, tokens: 3 };
  const [first, second] = ['a', 'b'].map((name) => ({ threadId: 'run', lgTaskId: 'visit', name }));
  for (const step of [first, second]) {
    if (step !== undefined) steps.intent({ ...step, node: 'work', taskId: 'task-1', reserve }, NO_FENCE);
  }
  expect(steps.spendingBefore(first ?? NOBODY, null)).toMatchObject({ calls: 1, usd: 2, reservedTokens: 3 });
  expect(steps.spendingBefore(NOBODY, 'task-1')).toMatchObject({ calls: 2, usd: 4, reservedTokens: 6 });
  db.close();
});
