import { setTimeout as sleep } from 'node:timers/promises';
import { durable, step } from '@devs/core/langgraph';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PostgresRuns } from '../src/PostgresRuns.ts';
import type { Worker } from '../src/worker/Worker.ts';
import { type Cluster, startCluster } from './support/startCluster.ts';

let cluster: Cluster;
let here: PostgresRuns;
let there: PostgresRuns;
let worker: Worker;

const State = Annotation.Root({ said: Annotation<string> });
const begun: string[] = [];
const aborted: string[] = [];
let leave = (): void => {};
const left = new Promise<void>((resolve) => {
  leave = resolve;
});

/** Hangs in a step the first time; a run that is called deaf goes by no signal. */
const hanging = new StateGraph(State)
  .addNode('work', async (_state, { configurable }) => {
    const id = String(configurable?.['thread_id']);
    const said = await step('call', async ({ signal, attempt }) => {
      begun.push(id);
      if (attempt > 1) return 'done';
      signal.addEventListener('abort', () => aborted.push(id));
      if (id.startsWith('deaf')) await left;
      else await sleep(60_000, undefined, { signal });
      return 'late';
    });
    return { said };
  })
  .addEdge(START, 'work')
  .addEdge('work', END);

const appOver = (runs: PostgresRuns) => durable(hanging, { runs, graph: 'hanging' });

beforeAll(async () => {
  cluster = await startCluster();
  [here, there] = [cluster.runs(), cluster.runs()];
  worker = await there.work({ drivers: [appOver(there)], slots: 4 });
});
afterAll(async () => {
  leave();
  await sleep(50); // what was left behind finds its run's file closed, and harms nobody
  await worker.stop({ drainMs: 0 });
  await cluster.stop();
});

async function started(id: string): Promise<ReturnType<typeof appOver>> {
  const app = appOver(here);
  await app.start(id, { said: '' });
  while (!begun.includes(id)) await sleep(2);
  return app;
}

/** Long before the call of one that heeds would return. */
async function comesTo(app: ReturnType<typeof appOver>, id: string, status: string): Promise<void> {
  while ((await app.result(id)).isDriven) await sleep(2);
  expect((await app.result(id)).status).toBe(status);
}

test.for(['heeds', 'deaf'])(
  'cancel aborts what a worker elsewhere has in flight, and ends the run: %s',
  async (name) => {
    const id = `${name}-cancelled`;
    const app = await started(id);
    await app.cancel(id);
    await comesTo(app, id, 'cancelled');
    expect(aborted).toContain(id);
    const ends: string[] = [];
    for await (const event of app.follow(id)) ends.push(event.name);
    expect(ends.filter((event) => event === 'RUN_FINISHED')).toHaveLength(1);
  },
);

test.for(['heeds', 'deaf'])(
  'pause with `abort` does, and no worker goes on with the run: %s',
  async (name) => {
    const id = `${name}-paused`;
    const app = await started(id);
    await app.pause(id);
    await sleep(100);
    expect(aborted).not.toContain(id);
    await app.pause(id, { abort: true });
    await comesTo(app, id, 'paused');
    expect(aborted).toContain(id);
    await sleep(200);
    expect(begun.filter((each) => each === id)).toHaveLength(1);
    await app.start(id);
    expect(await app.result(id, { wait: true })).toMatchObject({
      status: 'completed',
      values: { said: 'done' },
    });
  },
);

test('`signal` of run aborts here, makes it reject, and no worker goes on with the run', async () => {
  const app = durable(hanging, { runs: here, graph: 'local' });
  const stop = new AbortController();
  const driving = app.run('mine', { said: '' }, { signal: stop.signal });
  while (!begun.includes('mine')) await sleep(2);
  stop.abort();
  await expect(driving).rejects.toMatchObject({ name: 'AbortError' });
  expect(await app.result('mine')).toMatchObject({ status: 'paused', reason: 'aborted', isDriven: false });
  expect(await app.run('mine')).toMatchObject({ status: 'completed' });
});
