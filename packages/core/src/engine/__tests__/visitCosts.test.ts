import { Annotation, END, interrupt, START, StateGraph } from '@langchain/langgraph';
import type { Database } from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, vi } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { interceptStatements } from '../../../test/support/interceptStatements.ts';
import { createDatabase } from '../../db/createDatabase.ts';
import { durable } from '../app/durable.ts';
import * as loopTurn from '../execution/yieldToEventLoop.ts';
import type { Gate } from '../gates/Gate.ts';
import { step } from '../node/step.ts';

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
}

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
  { work, durability }: Visit,
): Promise<readonly number[]> {
  const db = createDatabase({ dbPath: `${dbPath}-${visits}` });
  const executed = executedOn(db);
  const app = durable(counting(visits, work), { db, durability, guards: { maxDepth: 100 } });
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
    ['sync', { commits: 2, savepoints: 0, fences: 2, statements: 16 }],
    ['async', { commits: 0, savepoints: 0, fences: 1, statements: 16 }],
  ] as const)(
    'commits before its work and after it, or not at all by itself: %s',
    async ([durability, cost], { dbPath }) => {
      expect(await costOfAVisit(dbPath, { work: nothing, durability })).toEqual(cost);
    },
  );

  test.for([
    ['sync', { commits: 4, savepoints: 0, fences: 4, statements: 34 }],
    ['async', { commits: 2, savepoints: 0, fences: 3, statements: 27 }],
  ] as const)(
    'commits twice for a recorded step, before the call and after it: %s',
    async ([durability, cost], { dbPath }) => {
      expect(await costOfAVisit(dbPath, { work: recorded, durability })).toEqual(cost);
    },
  );
});

const Short = Annotation.Root({ visits: Annotation<number>(), answer: Annotation<string>() });

/** Three nodes, the second with a recorded call, the third with a question where it is asked for. */
const short = (asks: boolean) =>
  new StateGraph(Short)
    .addNode('read', ({ visits }) => ({ visits: visits + 1 }))
    .addNode('call', async ({ visits }) => ({
      visits: visits + 1,
      answer: await step('model', () => 'x'.repeat(1024)),
    }))
    .addNode('write', ({ visits }) => {
      if (asks) interrupt('May it be written?');
      return { visits: visits + 1 };
    })
    .addEdge(START, 'read')
    .addEdge('read', 'call')
    .addEdge('call', 'write')
    .addEdge('write', END);

describe('a short run', () => {
  const expectCost = (
    executed: string[],
    most: { readonly commits: number; readonly statements: number },
  ) => {
    expect(executed.filter((sql) => /^BEGIN IMMEDIATE/.test(sql))).toHaveLength(most.commits);
    expect(executed.length).toBeLessThanOrEqual(most.statements);
    executed.length = 0;
  };

  test('of three nodes and a call, from start to end', async ({ db }) => {
    const executed = executedOn(db);
    const app = durable(short(false), { db, durability: 'async' });
    await app.run('first', { visits: 0 });
    executed.length = 0;
    expect((await app.run('run', { visits: 0 })).status).toBe('completed');
    expectCost(executed, { commits: 5, statements: 150 });
  });

  test('to its question, and from the answer to its end', async ({ db }) => {
    const executed = executedOn(db);
    const app = durable(short(true), { db, durability: 'async' });
    await app.run('first', { visits: 0 });
    executed.length = 0;
    const { gates } = await app.run('run', { visits: 0 });
    expectCost(executed, { commits: 6, statements: 180 });
    await app.decide(gates[0] as Gate, { value: 'yes', by: { kind: 'human', id: 'ada' } });
    executed.length = 0;
    expect((await app.run('run')).status).toBe('completed');
    expectCost(executed, { commits: 3, statements: 115 });
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
