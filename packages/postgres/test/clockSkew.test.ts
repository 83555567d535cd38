import { durable, sleep } from '@devs/core/langgraph';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { ServerClock } from '../src/server/ServerClock.ts';
import type { WorkerEvent } from '../src/worker/Worker.ts';
import { type Cluster, startCluster } from './support/startCluster.ts';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster();
  await cluster.runs().list();
});
afterEach(() => {
  vi.restoreAllMocks();
});
afterAll(() => cluster.stop());

const Nap = Annotation.Root({ done: Annotation<boolean>() });
const NAP_MS = 1000;

describe('a worker whose clock is wrong', () => {
  test.each([
    ['ahead', 20],
    ['behind', -20],
  ])(
    'by 20 minutes, %s, has a run sleep as long as it says, and drives it once after that',
    async (_, minutes) => {
      const real = Date.now;
      vi.spyOn(Date, 'now').mockImplementation(() => real() + minutes * 60_000);
      const runs = cluster.runs();
      const builder = new StateGraph(Nap)
        .addNode('nap', async () => {
          await sleep(NAP_MS);
          return { done: true };
        })
        .addEdge(START, 'nap')
        .addEdge('nap', END);
      const app = durable(builder, { runs, graph: `nap${minutes}` });
      const events: WorkerEvent[] = [];
      const worker = await runs.work({ drivers: [app], onEvent: (event) => events.push(event) });
      const from = performance.now();
      const id = `nap-${minutes}`;
      await app.start(id, {});
      expect(await app.result(id, { wait: true })).toMatchObject({
        status: 'completed',
        values: { done: true },
      });
      expect(performance.now() - from).toBeGreaterThan(NAP_MS);
      expect(events.filter(({ is }) => is === 'driving')).toHaveLength(2);
      const [row] = await cluster.sql(
        `SELECT extract(epoch FROM created_at)::float8 * 1000 AS at FROM devs.runs WHERE run_id = $1`,
        [id],
      );
      const begun = [];
      for await (const { at } of app.follow(id)) begun.push(Math.abs(at - Number(row?.['at'])));
      expect(Math.max(...begun)).toBeLessThan(60_000);
      const { clock } = await runs.driving();
      expect(Math.abs(clock.skewSeconds - minutes * 60)).toBeLessThan(30);
      await worker.stop();
      await app.close();
    },
  );

  test('finds the clock of its machine right where it is', async () => {
    const runs = cluster.runs();
    await runs.list();
    expect(Math.abs((await runs.driving()).clock.skewSeconds)).toBeLessThan(30);
  });
});

describe('the clock of the server', () => {
  const HOUR = 3_600_000;
  /** Read in so many ms, and right in the middle of them. */
  const readIn = (clock: ServerClock, ms: number, aheadMs: number): void => {
    const answeredAt = performance.now();
    const middle = performance.timeOrigin + answeredAt - ms / 2;
    clock.read(middle + aheadMs, { askedAt: answeredAt - ms, answeredAt });
  };
  const aheadMs = (clock: ServerClock): number =>
    Math.round((clock.now() - (performance.timeOrigin + performance.now())) / 100) * 100 + 0;

  test('is the machine’s until it has said something', () => {
    const clock = new ServerClock();
    expect([aheadMs(clock), clock.skewSeconds]).toEqual([0, 0]);
  });

  test('is what it said last, unless that took long', () => {
    const clock = new ServerClock();
    readIn(clock, 10, HOUR);
    expect(aheadMs(clock)).toBe(HOUR);
    readIn(clock, 4000, HOUR + 1500);
    expect(aheadMs(clock)).toBe(HOUR);
    readIn(clock, 2, HOUR + 3);
    expect(aheadMs(clock)).toBe(HOUR);
  });

  test('is believed at once where it was set, and does not follow the machine’s', () => {
    const clock = new ServerClock();
    readIn(clock, 2, HOUR);
    readIn(clock, 4000, -HOUR);
    expect(aheadMs(clock)).toBe(-HOUR);
    const real = Date.now;
    vi.spyOn(Date, 'now').mockImplementation(() => real() + 5 * HOUR);
    expect(aheadMs(clock)).toBe(-HOUR);
    expect(Math.round(clock.skewSeconds / 60)).toBe(6 * 60);
  });
});
