import { randomBytes, randomUUID } from 'node:crypto';
import { Annotation, END, interrupt, START, StateGraph } from '@langchain/langgraph';
import type { Database } from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, vi } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { interceptStatements } from '../../../test/support/interceptStatements.ts';
import { createDatabase } from '../../db/createDatabase.ts';
import { EventBus } from '../../events/events.ts';
import { type CommitBarrier, HERE } from '../../state/commits/CommitBarrier.ts';
import { durable } from '../app/durable.ts';
import * as loopTurn from '../execution/yieldToEventLoop.ts';
import { EngineStore } from '../gates/EngineStore.ts';
import type { Gate } from '../gates/Gate.ts';
import { ownGraphProfile } from '../graph/NodeEngine.ts';
import { interrupt as ownInterrupt } from '../node/interrupt.ts';
import { step } from '../node/step.ts';
import { STEP_CODEC } from '../saver/StrictSerde.ts';

// What comes by the clock depends on the machine: turns of the event loop, heartbeats, looks for requests.
beforeEach(() => {
  vi.spyOn(loopTurn, 'shouldYield').mockReturnValue(false);
  vi.useFakeTimers({ toFake: ['setInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const Counting = Annotation.Root({ visits: Annotation<number>() });

/** A graph that visits one node so many times. */
function counting(visits: number, work: () => unknown) {
  return new StateGraph(Counting)
    .addNode('work', async (state) => {
      await work();
      return { visits: state.visits + 1 };
    })
    .addEdge(START, 'work')
    .addConditionalEdges('work', (state) => (state.visits < visits ? 'work' : END), ['work', END]);
}

interface Visit {
  readonly work: () => unknown;
  readonly durability: 'sync' | 'async';
  /** @defaultValue what is committed is there */
  readonly outlet?: CommitBarrier;
}

/** As of a working copy: the run may go on. */
const AHEAD: CommitBarrier = { pending: () => null, leaving: () => null, keepsUp: () => null };

const counters: Readonly<Record<string, RegExp>> = {
  savepoints: /^SAVEPOINT/,
  commits: /^COMMIT/,
  fences: /^SELECT lease_epoch/,
  statements: /./,
};

/** Statements that are executed from now on. */
function executedOn(db: Database): string[] {
  const executed: string[] = [];
  const note = (run: () => unknown, { source }: { readonly source: string }): unknown => {
    executed.push(source.trim());
    return run();
  };
  interceptStatements(db, note, { controls: true });
  return executed;
}

async function countsOf(
  dbPath: string,
  visits: number,
  { work, durability, outlet = HERE }: Visit,
): Promise<readonly number[]> {
  const db = createDatabase({ dbPath: `${dbPath}-${visits}` });
  const executed = executedOn(db);
  const events = new EventBus();
  const store = new EngineStore(db, { events, outlet, codec: STEP_CODEC });
  const known = { profile: ownGraphProfile<typeof Counting.State>(), store };
  const endOf = () => ({ status: 'completed', reason: null }) as const;
  const options = { db, events, durability, guards: { maxDepth: 100 } };
  const app = durable(counting(visits, work), options, { ...known, endOf });
  expect((await app.run('run', { visits: 0 })).status).toBe('completed');
  db.close();
  return Object.values(counters).map((counter) => executed.filter((sql) => counter.test(sql)).length);
}

/** What one more visit costs: a run of thirty visits against one of ten. */
async function costOfAVisit(dbPath: string, visit: Visit): Promise<Record<string, number>> {
  const [few, many] = [await countsOf(dbPath, 10, visit), await countsOf(dbPath, 30, visit)];
  const more = many.map((count, at) => (count - (few[at] ?? 0)) / 20);
  return Object.fromEntries(Object.keys(counters).map((name, at) => [name, more[at] ?? 0]));
}

/** Statements that are prepared from now on. */
function prepared(db: Database): readonly string[] {
  const texts: string[] = [];
  const prepare = db.prepare.bind(db) as (sql: string) => unknown;
  db.prepare = ((sql: string) => {
    texts.push(sql);
    return prepare(sql);
  }) as typeof db.prepare;
  return texts;
}

describe('a visit of a node', () => {
  const nothing = (): void => {};
  const recorded = (): unknown => step('call', () => 'answer');

  test.for([
    ['sync', { commits: 2, savepoints: 0, fences: 2, statements: 17 }],
    ['async', { commits: 0, savepoints: 0, fences: 1, statements: 12 }],
  ] as const)(
    'commits before its work and after it, or not at all by itself: %s',
    async ([durability, cost], { dbPath }) => {
      expect(await costOfAVisit(dbPath, { work: nothing, durability })).toEqual(cost);
    },
  );

  test('makes no commit by itself either where what is committed is on its way to another place', async ({
    dbPath,
  }) => {
    const { commits } = await costOfAVisit(dbPath, { work: nothing, durability: 'async', outlet: AHEAD });
    expect(commits).toBe(0);
  });

  test.for([
    ['sync', { commits: 4, savepoints: 0, fences: 4, statements: 27 }],
    ['async', { commits: 2, savepoints: 0, fences: 3, statements: 22 }],
  ] as const)(
    'commits twice for a recorded step, before the call and after it: %s',
    async ([durability, cost], { dbPath }) => {
      expect(await costOfAVisit(dbPath, { work: recorded, durability })).toEqual(cost);
    },
  );
});

const Short = Annotation.Root({ visits: Annotation<number>(), answer: Annotation<string>() });

/** 1 KB, another one each time. */
const answerOf = (): string => randomBytes(512).toString('hex');

/** Three nodes, the second with a recorded call, the third with a question where it is asked for. */
const short = (asks: boolean) =>
  new StateGraph(Short)
    .addNode('read', ({ visits }) => ({ visits: visits + 1 }))
    .addNode('call', async ({ visits }) => ({
      visits: visits + 1,
      answer: await step('model', answerOf),
    }))
    .addNode('write', ({ visits }) => {
      if (asks) interrupt('May it be written?');
      return { visits: visits + 1 };
    })
    .addEdge(START, 'read')
    .addEdge('read', 'call')
    .addEdge('call', 'write')
    .addEdge('write', END);

/** A node that asks on and on. */
const looping = () =>
  new StateGraph(Short)
    .addNode('ask', () => {
      for (let at = 0; ; at += 1) ownInterrupt(at);
    })
    .addEdge(START, 'ask')
    .addEdge('ask', END);

describe('a short run', () => {
  /** Statements and transactions that write, those of one statement included; then counts anew. */
  const costOf = (executed: string[]) => {
    let isInside = false;
    let commits = 0;
    for (const sql of executed) {
      if (/^BEGIN/.test(sql)) isInside = true;
      if (/^BEGIN IMMEDIATE/.test(sql) || (!isInside && /^(?:INSERT|UPDATE|DELETE)/.test(sql))) commits += 1;
      if (/^COMMIT/.test(sql)) isInside = false;
    }
    return { commits, statements: executed.splice(0).length };
  };

  test.for([
    ['sync', { commits: 11, statements: 104 }],
    ['async', { commits: 5, statements: 89 }],
  ] as const)('of three nodes and a call, from start to end: %s', async ([durability, most], { db }) => {
    const executed = executedOn(db);
    const app = durable(short(false), { db, durability });
    await app.run('first', { visits: 0 });
    costOf(executed);
    expect((await app.run('run', { visits: 0 })).status).toBe('completed');
    expectAtMost(costOf(executed), most);
  });

  test.for([
    ['sync', { commits: 10, statements: 102 }, { commits: 4, statements: 51 }],
    ['async', { commits: 5, statements: 90 }, { commits: 3, statements: 49 }],
  ] as const)(
    'to its question, and from the answer to its end: %s',
    async ([durability, asked, answered], { db }) => {
      const executed = executedOn(db);
      const app = durable(short(true), { db, durability });
      await app.run('first', { visits: 0 });
      costOf(executed);
      const { gates } = await app.run('run', { visits: 0 });
      expectAtMost(costOf(executed), asked);
      await app.decide(gates[0] as Gate, { value: 'yes', by: { kind: 'human', id: 'ada' } });
      costOf(executed);
      expect((await app.run('run')).status).toBe('completed');
      expectAtMost(costOf(executed), answered);
    },
  );

  test.for([
    ['sync', { commits: 4, statements: 58 }],
    ['async', { commits: 3, statements: 56 }],
  ] as const)('answered again and again costs the same each time: %s', async ([durability, most], { db }) => {
    const executed = executedOn(db);
    const app = durable(looping(), { db, durability });
    let [gate] = (await app.run('run', { visits: 0 })).gates;
    for (let at = 0; at < 20; at += 1) {
      costOf(executed);
      await app.decide(gate as Gate, { value: at, by: { kind: 'human', id: 'ada' } });
      [gate] = (await app.run('run')).gates;
      if (at > 2) expectAtMost(costOf(executed), most);
    }
  });

  const expectAtMost = (
    cost: { readonly commits: number; readonly statements: number },
    most: { readonly commits: number; readonly statements: number },
  ) => {
    expect(cost.commits).toBe(most.commits);
    expect(cost.statements).toBeLessThanOrEqual(most.statements);
  };
});

/** Which part of a run a table or an index of the file is of. */
const PARTS: Readonly<Record<string, RegExp>> = {
  journal: /^(?:langgraph_checkpoints|journal_values)$/,
  checkpoints: /^checkpoint/,
  indexes: /^sqlite_autoindex_|_(?:by|of|in|once|open|ended|due|answered|live|unhandled|unsealed)(?:_|$)/,
  events: /^events$/,
  'stream events': /^stream_events$/,
  steps: /^(?:agent_steps|step_spending)$/,
  values: /^state_blobs$/,
  runs: /^thread/,
};

describe('the bytes of a short run', () => {
  const RUNS = 8;

  /** Bytes of a run; 16 KB together, of which 3 KB are the answer in three turns of the journal. */
  const MOST: Readonly<Record<string, number>> = {
    journal: 4600,
    checkpoints: 6000,
    indexes: 2450,
    events: 1050,
    'stream events': 1200,
    steps: 200,
    values: 650,
    runs: 520,
  };

  /** Payload of the file by part. */
  const bytesOf = (db: Database): Readonly<Record<string, number>> => {
    const sizes = db
      .prepare<[], [name: string, bytes: number]>('SELECT name, sum(payload) FROM dbstat GROUP BY name')
      .raw()
      .all();
    const byPart: Record<string, number> = {};
    for (const [name, bytes] of sizes) {
      const isIndex = PARTS['indexes']?.test(name) === true;
      const part = isIndex ? 'indexes' : Object.keys(PARTS).find((known) => PARTS[known]?.test(name));
      if (part !== undefined) byPart[part] = (byPart[part] ?? 0) + bytes;
    }
    return byPart;
  };

  test('are not more than each part of it needs', async ({ db }) => {
    const app = durable(short(false), { db, durability: 'async' });
    const before = bytesOf(db);
    for (let nth = 0; nth < RUNS; nth += 1) await app.run(randomUUID(), { visits: 0 });
    const after = bytesOf(db);
    for (const [part, most] of Object.entries(MOST)) {
      const each = ((after[part] ?? 0) - (before[part] ?? 0)) / RUNS;
      expect(each, part).toBeGreaterThan(most * 0.8);
      expect(each, part).toBeLessThanOrEqual(most);
    }
  });
});

describe('a state file', () => {
  test('prepares a statement when it is first used, and once', async ({ db }) => {
    const texts = prepared(db);
    const app = durable(counting(3, Date.now), { db });
    expect(texts.length).toBeLessThanOrEqual(110);
    await app.run('run', { visits: 0 });
    expect(texts.filter((text, at) => texts.indexOf(text) !== at)).toEqual([]);
  });
});
