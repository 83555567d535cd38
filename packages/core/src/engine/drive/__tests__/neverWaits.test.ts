import { END, Send, START, StateGraph } from '@langchain/langgraph';
import { describe, expect } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { howMany } from '../../../../test/support/howMany.ts';
import { runByLangGraph } from '../../../../test/support/runByLangGraph.ts';
import { durable } from '../../../../test/support/runs/durable.ts';
import { ofOneFile } from '../../../../test/support/runs/where.ts';
import { createDatabase } from '../../../db/createDatabase.ts';
import { OwnState } from '../../__tests__/ownGraph.ts';
import { step } from '../../node/step.ts';

/** Of one super-step. */
const TASKS = howMany('DEVS_TASKS_AT_ONCE', 400);

// Nodes, steps and graphs that answer at once never leave the queue of microtasks by themselves.

const guards = { maxDepth: 100_000 };

/** ms after which is given up what would be waited for without end. On a fast machine many visits take no time. */
const PATIENCE = 15_000;

/** ms of work of each of many tasks: together they take longer than a slice. */
const WORK = 1;

/** Counts the ticks of a timer, and ends it with the test. */
function ticking(ms: number) {
  const ticks = { count: 0 };
  const timer = setInterval(() => {
    ticks.count += 1;
  }, ms);
  return Object.assign(ticks, { stop: () => clearInterval(timer) });
}

function busyFor(ms: number): void {
  for (const until = performance.now() + ms; performance.now() < until; );
}

/** Visits one node until `isEnough`. */
function looping(isEnough: (visits: number) => boolean) {
  let visits = 0;
  const givenUpAt = performance.now() + PATIENCE;
  return new StateGraph(OwnState)
    .addNode('work', () => {
      visits += 1;
      return {};
    })
    .addEdge(START, 'work')
    .addConditionalEdges('work', () => (isEnough(visits) || performance.now() > givenUpAt ? END : 'work'), [
      'work',
      END,
    ]);
}

describe('a graph that never waits', () => {
  test('lets timers tick', async ({ db }) => {
    const timer = ticking(100);
    await durable(
      looping(() => timer.count >= 3),
      { db, guards },
    ).run('run', {});
    timer.stop();
    expect(timer.count).toBeGreaterThanOrEqual(3);
  });

  test('is paused by another connection', async ({ db, dbPath }) => {
    const elsewhere = createDatabase({ dbPath });
    let asked: Promise<unknown> | undefined;
    const asks = () => {
      asked ??= durable(looping(Boolean), { db: elsewhere }).pause('run');
      return false;
    };
    const outcome = await durable(looping(asks), { db, guards }).run('run', {});
    await asked;
    elsewhere.close();
    expect(outcome).toMatchObject({ status: 'paused', reason: 'pause' });
  });

  test(
    'keeps its lease, so that another connection is told who drives it',
    ofOneFile('shares the file'),
    async ({ db, dbPath }) => {
      const elsewhere = createDatabase({ dbPath });
      const expiry = elsewhere
        .prepare("SELECT lease_expires_mono FROM threads WHERE thread_id = 'run'")
        .pluck();
      const first = { expiry: undefined as unknown, refused: undefined as Promise<unknown> | undefined };
      let isRefused = false; // the other one waits for its turn of the event loop
      const isRenewed = (): boolean => {
        first.expiry ??= expiry.get();
        if (first.expiry === expiry.get() && first.refused === undefined) return false;
        first.refused ??= durable(looping(Boolean), { db: elsewhere })
          .run('run')
          .catch((error: unknown) => error)
          .finally(() => {
            isRefused = true;
          });
        return isRefused;
      };
      await durable(looping(isRenewed), { db, guards }).run('run', {});
      expect(await first.refused).toMatchObject({ code: 'THREAD_BUSY' });
      elsewhere.close();
    },
  );
});

describe('timers tick also during', ofOneFile('watches the connection'), () => {
  test('one super-step of many tasks', async ({ db }) => {
    const timer = ticking(20);
    const tasks = Array.from({ length: TASKS }, () => new Send('work', {}));
    const graph = new StateGraph(OwnState)
      .addNode('work', () => {
        busyFor(WORK);
        return {};
      })
      .addConditionalEdges(START, () => tasks, ['work'])
      .addEdge('work', END);
    const seen: number[] = [];
    const app = durable(graph, { db, guards });
    app.events.on('NODE_STARTED', () => seen.push(timer.count));
    await runByLangGraph(() => app.run('run', {}));
    timer.stop();
    expect(new Set(seen).size).toBeGreaterThan(1);
  });

  test('one node of many steps', async ({ db }) => {
    const timer = ticking(20);
    const graph = new StateGraph(OwnState)
      .addNode('work', async () => {
        const givenUpAt = performance.now() + PATIENCE;
        for (let at = 0; timer.count < 3 && performance.now() < givenUpAt; at += 1)
          await step(`step ${at}`, () => at);
        return {};
      })
      .addEdge(START, 'work')
      .addEdge('work', END);
    await durable(graph, { db, guards }).run('run', {});
    timer.stop();
    expect(timer.count).toBeGreaterThanOrEqual(3);
  });

  test('one node that is a graph of its own', async ({ db }) => {
    const timer = ticking(20);
    const inner = looping(() => timer.count >= 3).compile();
    const graph = new StateGraph(OwnState).addNode('work', inner).addEdge(START, 'work').addEdge('work', END);
    await durable(graph, { db, guards }).run('run', {});
    timer.stop();
    expect(timer.count).toBeGreaterThanOrEqual(3);
  });
});
