import { setTimeout as sleep } from 'node:timers/promises';
import { END, START, StateGraph } from '@langchain/langgraph';
import { afterEach, describe, expect, vi } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { interceptStatements } from '../../../../test/support/interceptStatements.ts';
import { OwnState, type OwnUpdate, twoBranches } from '../../__tests__/ownGraph.ts';
import { durable } from '../../app/durable.ts';
import { step } from '../../node/step.ts';
import * as loopTurn from '../yieldToEventLoop.ts';

const { shouldYield, yieldToEventLoop } = loopTurn;

afterEach(async () => {
  vi.restoreAllMocks();
  await yieldToEventLoop(); // the last turn is one of the real clock again
});

/** A clock that work alone moves, and the most of it between two turns of the event loop. */
class WorkedTime {
  #now = performance.now();
  #turnedAt = this.#now;
  #isOver = false;
  longest = 0;

  constructor() {
    vi.spyOn(performance, 'now').mockImplementation(() => this.#now);
    this.#watch();
  }

  work(ms: number): void {
    this.#now += ms;
  }

  stop(): void {
    this.#isOver = true;
    this.#turned();
  }

  #watch(): void {
    this.#turned();
    if (!this.#isOver) setImmediate(() => this.#watch());
  }

  #turned(): void {
    this.longest = Math.max(this.longest, this.#now - this.#turnedAt);
    this.#turnedAt = this.#now;
  }
}

/** Milliseconds of a slice, and the work of one run up to its next look. */
const [SLICE_MS, WORK_MS] = [20, 8];

describe('the turn of the event loop', () => {
  test('is over for all that wait once the work of some has taken it, in the order in which they came', async () => {
    const time = new WorkedTime();
    time.work(SLICE_MS);
    const order: number[] = [];
    const runs = Array.from({ length: 30 }, async (_, run) => {
      while (shouldYield()) await yieldToEventLoop();
      await Promise.resolve(); // looks come first, and work after them
      order.push(run);
      time.work(WORK_MS / 2);
      await Promise.resolve();
      time.work(WORK_MS / 2);
    });
    await Promise.all(runs);
    time.stop();
    expect(order).toEqual(runs.map((_, run) => run));
    expect(time.longest).toBeLessThan(SLICE_MS + WORK_MS);
  });

  test('is given to one that waits behind another which works on and on', async () => {
    const time = new WorkedTime();
    let hasCome = false;
    const endless = async (): Promise<number> => {
      for (let slices = 0; ; slices += 1) {
        if (hasCome || slices > 20) return slices;
        time.work(SLICE_MS);
        while (shouldYield()) await yieldToEventLoop();
      }
    };
    const beat = async (): Promise<void> => {
      while (shouldYield()) await yieldToEventLoop();
      hasCome = true;
    };
    const [slices] = await Promise.all([endless(), beat()]);
    time.stop();
    expect(slices).toBeLessThanOrEqual(3);
  });

  test('comes for others while many runs are taken up, and their calls return, at once', async ({ db }) => {
    const time = new WorkedTime();
    interceptStatements(db, (work) => {
      time.work(0.1);
      return work();
    });
    const calls = new StateGraph(OwnState)
      .addNode('call', async () => ({ log: [await step('model', () => sleep(5, 'answer'))] }))
      .addNode('again', async () => ({ log: [await step('model', () => sleep(5, 'more'))] }))
      .addEdge(START, 'call')
      .addEdge('call', 'again')
      .addEdge('again', END);
    const app = durable(calls, { db });
    await app.run('warm', {});
    time.longest = 0;
    const ended = await Promise.all(Array.from({ length: 40 }, (_, run) => app.run(`run-${run}`, {})));
    time.stop();
    expect(ended.map(({ values }) => values?.log)).toEqual(ended.map(() => ['answer', 'more']));
    expect(time.longest).toBeLessThanOrEqual(50);
  });

  test.for(['sync', 'async'] as const)(
    'may come at every look: a branch that has ended keeps its output when one beside it fails: %s',
    async (durability, { db }) => {
      let isOwed = false;
      vi.spyOn(loopTurn, 'shouldYield').mockImplementation(() => {
        isOwed = !isOwed;
        return isOwed;
      });
      for (let turns = 0; turns < 8; turns += 1) {
        const ran = { left: 0, right: 0 };
        const left = (): OwnUpdate => {
          ran.left += 1;
          return { log: ['left'] };
        };
        const right = async (): Promise<OwnUpdate> => {
          for (let turn = 0; turn < turns; turn += 1) await new Promise(setImmediate);
          ran.right += 1;
          if (ran.right === 1) throw new Error('The service is down.');
          return { log: ['right'] };
        };
        const app = durable(twoBranches(left, right), { db, durability });
        const failed = await app.run(`after ${turns}`, {}, { throwOnFailure: false });
        expect(failed.status).toBe('failed');
        const hadRun = ran.left === 1 && turns > 2;
        const { values } = await app.run(`after ${turns}`);
        expect([turns, values?.log]).toEqual([turns, ['start', 'left', 'right']]);
        if (hadRun) expect([turns, ran]).toEqual([turns, { left: 1, right: 2 }]);
        if (turns > 4) expect(hadRun).toBe(true);
      }
    },
  );
});
