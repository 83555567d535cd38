import { renameSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { START, StateGraph } from '@langchain/langgraph';
import { afterEach, beforeEach, describe, expect, vi } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { only } from '../../../../test/support/only.ts';
import { durable } from '../../../../test/support/runs/durable.ts';
import { ofOneFile } from '../../../../test/support/runs/where.ts';
import { ada, OwnState, twoSteps } from '../../__tests__/ownGraph.ts';
import { internalsOf } from '../../file/appInternals.ts';

const GATES = { second: () => 'go?' };

/** Goes on until it is told to stop. */
const endless = () =>
  new StateGraph(OwnState)
    .addNode('spin', async () => {
      await nextTurn();
      return {};
    })
    .addEdge(START, 'spin')
    .addEdge('spin', 'spin');

/** When a run of an app waits for its gate: it looks again only when it is told. */
async function waiting(app: { readonly gates: (id: string) => Promise<readonly unknown[]> }): Promise<void> {
  const asked = () => app.gates('r').catch(() => []); // it is recorded first
  while ((await asked()).length === 0) await nextTurn();
  for (let turn = 0; turn < 20; turn += 1) await nextTurn();
}

describe('a driver that waits', () => {
  // The clock never comes: what wakes is a file that was written, this process, or a signal.
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const { setTimeout } = globalThis;
    vi.spyOn(globalThis, 'setTimeout').mockImplementation(((work: () => void, ms = 0, ...rest: []) =>
      setTimeout(work, ms >= 500 ? 1_000_000 : ms, ...rest)) as typeof setTimeout);
  });
  afterEach(() => {
    vi.restoreAllMocks();
    vi.useRealTimers();
  });

  test('is woken by a decision of its own process', async ({ db }) => {
    const app = durable(twoSteps(), { db, gates: GATES });
    const driving = app.run('r', {}, { wait: true });
    await waiting(app);
    await app.decide(only(await app.gates('r')), { approved: true, by: ada });
    expect(await driving).toMatchObject({ status: 'completed' });
  });

  test('is woken by a decision at another connection', async ({ db, dbPath }) => {
    const app = durable(twoSteps(), { db, gates: GATES });
    const other = durable(twoSteps(), { file: dbPath, gates: GATES });
    const driving = app.run('r', {}, { wait: true });
    await waiting(app);
    await other.decide(only(await other.gates('r')), { approved: true, by: ada });
    expect(await driving).toMatchObject({ status: 'completed' });
    other.close();
  });

  test('leaves at once when it is told to stop', async ({ db }) => {
    const app = durable(twoSteps(), { db, gates: GATES });
    const stopping = new AbortController();
    const driving = app.run('r', {}, { wait: true, drain: stopping.signal });
    await waiting(app);
    stopping.abort();
    expect(await driving).toMatchObject({ status: 'waiting' });
  });

  test.for([
    ['pause', 'paused'],
    ['cancel', 'cancelled'],
  ] as const)('is told of a %s while it drives', async ([request, status], { db, dbPath }) => {
    const app = durable(endless(), { db, guards: { maxDepth: 1_000_000 } });
    const other = durable(endless(), { file: dbPath });
    const driving = app.run('r', {});
    while (internalsOf(other).store.threads.get('r')?.status !== 'running') await nextTurn();
    await other[request]('r');
    expect(await driving).toMatchObject({ status });
    other.close();
  });
});

test(
  'a driver that waits ends where the file was replaced: nobody decides in the one that is open',
  ofOneFile('shares the file'),
  async ({ dbPath }) => {
    const app = durable(twoSteps(), { file: dbPath, gates: GATES });
    const driving = app.run('r', {}, { wait: true });
    const ended = expect(driving).rejects.toMatchObject({ code: 'STATE_REPLACED' });
    await waiting(app);
    renameSync(dbPath, `${dbPath}.old`);
    await ended;
    app.close();
  },
);
