import { setTimeout as sleep } from 'node:timers/promises';
import { durable } from '@devs/core/langgraph';
import { Annotation, interrupt, START, StateGraph } from '@langchain/langgraph';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { PostgresRuns } from '../src/PostgresRuns.ts';
import { postgres } from '../src/postgres.ts';
import type { Worker } from '../src/worker/Worker.ts';
import { type PostgresServer, startPostgres } from './support/startPostgres.ts';

let server: PostgresServer;
const workers: Worker[] = [];
const machines: PostgresRuns[] = [];

beforeAll(async () => {
  server = await startPostgres();
});
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.stop({ drainMs: 0 })));
  await Promise.all(machines.splice(0).map((machine) => machine.close()));
});
afterAll(() => server.stop());

const BY = { kind: 'human', id: 'ada' } as const;
const State = Annotation.Root({ said: Annotation<string>(), last: Annotation<string>() });

/** A program of the graph `order`, on a machine of its own. */
function program(asks: string, last: string | null) {
  const runs = postgres(server.url);
  machines.push(runs);
  const graph = new StateGraph(State)
    .addNode(asks, () => ({ said: interrupt<string, string>('what?') }))
    .addEdge(START, asks as never);
  if (last !== null) {
    graph.addNode(last, () => ({ last }) as never);
    graph.addEdge(asks as never, last as never);
  }
  return { runs, app: durable(graph, { runs, graph: 'order' }) };
}

async function working({ runs, app }: ReturnType<typeof program>): Promise<void> {
  workers.push(await runs.work({ drivers: [app] }));
}

test('workers of a newer graph take the runs of an older one, and leave those that they refuse to its workers', async () => {
  const old = program('ask', null);
  await old.app.start('order-1', {});
  await old.app.start('order-2', {});
  await working(old);
  for (const id of ['order-1', 'order-2']) while ((await old.app.gates(id)).length === 0) await sleep(20);
  await workers.pop()?.stop({ drainMs: 0 });

  const newer = program('ask', 'tell');
  await working(newer);
  const { unchanged, taken, refused } = await newer.app.checkUpgrade();
  expect({ unchanged, taken: taken.map(({ id }) => id), refused }).toEqual({
    unchanged: 0,
    taken: ['order-1', 'order-2'],
    refused: [],
  });
  const decide = async (id: string): Promise<void> => {
    const [gate] = await newer.app.gates(id);
    if (gate !== undefined) await newer.app.decide(gate, { value: 'yes', by: BY });
  };
  await decide('order-1');
  expect(await newer.app.result('order-1', { wait: true })).toMatchObject({
    status: 'completed',
    values: { said: 'yes', last: 'tell' },
  });
  const { fingerprint: graph } = newer.app;
  while ((await newer.app.list({ graph })).runs.every(({ id }) => id !== 'order-1')) await sleep(20);
  await workers.pop()?.stop({ drainMs: 0 });

  const other = program('demand', 'tell');
  await working(other);
  await decide('order-2');
  await sleep(500);
  expect((await other.app.result('order-2')).status).not.toBe('completed');
  await working(old);
  expect((await old.app.result('order-2', { wait: true })).status).toBe('completed');
}, 60_000);
