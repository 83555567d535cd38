import { setTimeout as sleep } from 'node:timers/promises';
import { tool } from '@langchain/core/tools';
import { Annotation, END, type LangGraphRunnableConfig, START, StateGraph } from '@langchain/langgraph';
import type { Database } from 'better-sqlite3';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { test } from '../../../../test/support/fixtures.ts';
import { durable } from '../../../../test/support/runs/durable.ts';
import { notThroughRuns, ofOneFile } from '../../../../test/support/runs/where.ts';
import { createDatabase } from '../../../db/createDatabase.ts';
import { internalsOf } from '../../file/appInternals.ts';
import { step } from '../../node/step.ts';
import { child } from '../../node/waitFor.ts';

const State = Annotation.Root({ said: Annotation<string>() });
type Node = (state: typeof State.State, config: LangGraphRunnableConfig) => Promise<{ said: string }>;

/** So long nobody waits in a test that passes. */
const LONG_MS = 60_000;

const oneNode = (node: Node) =>
  new StateGraph(State).addNode('work', node).addEdge(START, 'work').addEdge('work', END);

/** Hangs in its first execution, if it is told nothing. */
class Hanging {
  begun = 0;
  readonly seen: unknown[] = [];
  #leave = (): void => {};
  readonly left = new Promise<void>((resolve) => {
    this.#leave = resolve;
  });

  leave(): void {
    this.#leave();
  }

  async isBegun(times = 1): Promise<void> {
    while (this.begun < times) await sleep(2);
  }

  async heeding(signal: AbortSignal | undefined): Promise<string> {
    this.begun += 1;
    if (this.begun > 1) return 'done';
    signal?.addEventListener('abort', () => this.seen.push((signal.reason as Error).name));
    await sleep(LONG_MS, 0, { ...(signal && { signal }) });
    return 'never';
  }

  async deaf(): Promise<string> {
    this.begun += 1;
    if (this.begun === 1) await this.left;
    return `done ${this.begun}`;
  }
}

/** Places where a graph hangs. */
const PLACES = {
  node: (hanging: Hanging) =>
    oneNode(async (_state, { signal }) => ({ said: await hanging.heeding(signal) })),
  'deaf node': (hanging: Hanging) => oneNode(async () => ({ said: await hanging.deaf() })),
  'deaf branch beside one that has ended': (hanging: Hanging) =>
    new StateGraph(State)
      .addNode('deaf', async () => ({ said: await hanging.deaf() }))
      .addNode('beside', async () => ({}))
      .addEdge(START, 'deaf')
      .addEdge(START, 'beside')
      .addEdge('deaf', END)
      .addEdge('beside', END),
  edge: (hanging: Hanging) =>
    new StateGraph(State)
      .addNode('work', async () => ({ said: 'done' }))
      .addEdge(START, 'work')
      .addConditionalEdges('work', async () => {
        await hanging.deaf();
        return END;
      }),
  'tool in a subgraph': (hanging: Hanging) => {
    const hang = async (_input: object, { signal }: { readonly signal?: AbortSignal }) =>
      hanging.heeding(signal);
    const call = tool(hang, { name: 'call', schema: z.object({}) });
    const inner = oneNode(async (_state, config) => ({ said: String(await call.invoke({}, config)) }));
    return new StateGraph(State)
      .addNode('inner', inner.compile())
      .addEdge(START, 'inner')
      .addEdge('inner', END);
  },
};

const errorOf = async (work: Promise<unknown>): Promise<string> => {
  const error: unknown = await work.then(
    () => 'none',
    (thrown: unknown) => thrown,
  );
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
};

async function isQuiet(app: ReturnType<typeof durable>): Promise<void> {
  expect((await app.runDue()).driven).toEqual([]);
  expect((await app.list({ due: true })).runs).toEqual([]);
}

describe('an aborted signal', () => {
  for (const [place, graphOf] of Object.entries(PLACES)) {
    test.for(place === 'deaf node' ? [undefined, new RangeError('enough'), 'gone'] : [undefined])(
      `ends a ${place} as LangGraph does, given %s; the run is paused, not due, and goes on`,
      async (reason, { db }) => {
        const plain = new Hanging();
        const stopPlain = new AbortController();
        const alone = errorOf(graphOf(plain).compile().invoke({}, { signal: stopPlain.signal }));
        await plain.isBegun();
        stopPlain.abort(reason);
        const asLangGraph = await alone;
        plain.leave();

        const hanging = new Hanging();
        const stop = new AbortController();
        const app = durable(graphOf(hanging), { db });
        const driving = errorOf(app.run('r', {}, { signal: stop.signal }));
        await hanging.isBegun();
        stop.abort(reason);
        const error = await driving;
        expect(error).toBe(asLangGraph);
        expect(internalsOf(app).store.threads.require('r')).toMatchObject({
          ...{ status: 'paused', reason: 'aborted', leaseOwner: null },
        });
        await isQuiet(app as never);
        expect((await app.run('r')).status).toBe('completed');
        hanging.leave();
      },
    );
  }

  test('that was aborted before makes `run` reject, and the run can be gone on with', async ({ db }) => {
    const app = durable(
      oneNode(async () => ({ said: 'done' })),
      { db },
    );
    const aborted = app.run('r', {}, { signal: AbortSignal.abort() });
    await expect(aborted).rejects.toMatchObject({ name: 'AbortError' });
    expect(await app.result('r')).toMatchObject({ status: 'paused', reason: 'aborted' });
    expect(await app.run('r')).toMatchObject({ status: 'completed' });
  });

  test('ends a stream with its error, after what was told', async ({ db }) => {
    const hanging = new Hanging();
    const graph = new StateGraph(State)
      .addNode('first', async () => ({ said: 'first' }))
      .addNode('work', async (_state, { signal }) => ({ said: await hanging.heeding(signal) }))
      .addEdge(START, 'first')
      .addEdge('first', 'work')
      .addEdge('work', END);
    const app = durable(graph, { db });
    const stop = new AbortController();
    const told: unknown[] = [];
    const read = async (): Promise<void> => {
      for await (const event of app.stream('r', {}, { signal: stop.signal })) told.push(event);
    };
    const reading = errorOf(read());
    await hanging.isBegun();
    stop.abort();
    expect(await reading).toBe('AbortError: This operation was aborted');
    expect(told).toMatchObject([{ mode: 'updates', data: { first: { said: 'first' } } }]);
    await isQuiet(app as never);
  });

  test('ends the wait of a run, which stays as it is; a drain returns it', async ({ db }) => {
    const app = durable(
      oneNode(async () => ({ said: 'done' })),
      { db, gates: { work: () => 'go on?' } },
    );
    for (const how of ['signal', 'drain'] as const) {
      const stop = new AbortController();
      const waiting = app.run('r', {}, { wait: true, [how]: stop.signal });
      while (internalsOf(app).store.threads.get('r')?.status !== 'waiting') await sleep(2);
      await sleep(10);
      stop.abort();
      const left = await waiting.then(
        ({ status }) => status,
        ({ name }: Error) => name,
      );
      expect(left).toBe(how === 'signal' ? 'AbortError' : 'waiting');
      expect((await app.result('r')).status).toBe('waiting');
    }
  });

  test(
    'after a drain leaves the run due: another process goes on with it',
    ofOneFile('shares the file'),
    async ({ db }) => {
      const hanging = new Hanging();
      const app = durable(
        oneNode(async () => ({ said: await hanging.deaf() })),
        { db },
      );
      const [drain, signal] = [new AbortController(), new AbortController()];
      const driving = errorOf(app.run('r', {}, { drain: drain.signal, signal: signal.signal }));
      await hanging.isBegun();
      drain.abort();
      signal.abort();
      expect(await driving).toContain('AbortError');
      expect((await app.runDue()).driven).toMatchObject([{ id: 'r', status: 'completed' }]);
      hanging.leave();
    },
  );
});

describe('what goes on after an abort', () => {
  test(
    'a result of a recorded call is kept as long as nobody has gone on',
    notThroughRuns('watches its own store'),
    async ({ db }) => {
      const hanging = new Hanging();
      const app = durable(
        oneNode(async () => ({
          said: await step('call', async ({ usage }) => {
            const said = await hanging.deaf();
            usage({ costUsd: 2 });
            return said;
          }),
        })),
        { db },
      );
      const stop = new AbortController();
      const driving = errorOf(app.run('r', {}, { signal: stop.signal }));
      await hanging.isBegun();
      stop.abort();
      await driving;
      const { store } = internalsOf(app);
      expect(store.steps.listForThread('r')).toMatchObject([{ name: 'call', state: 'intent' }]);
      hanging.leave();
      await expect
        .poll(() => store.steps.listForThread('r'))
        .toMatchObject([{ name: 'call', state: 'done', usage: { costUsd: 2 } }]);
      expect(await app.result('r')).toMatchObject({ status: 'paused' });
      expect(await app.run('r')).toMatchObject({ status: 'completed', values: { said: 'done 1' } });
      expect(hanging.begun).toBe(1);
    },
  );

  test('is refused once somebody has, whatever it writes', ofOneFile('shares the file'), async ({ db }) => {
    const hanging = new Hanging();
    const late: string[] = [];
    const node: Node = async (_state, { writer }) => {
      const attempt = hanging.begun + 1;
      if (attempt > 1) return { said: await step('call', () => hanging.deaf()) };
      late.push(await errorOf(step('call', () => hanging.deaf())));
      late.push(await errorOf(step('more', () => 'paid')));
      writer?.('late');
      return { said: 'late' };
    };
    const app = durable(
      oneNode(async (...given) => {
        const left = await node(...given);
        if (left.said !== 'late') await sleep(100);
        return left;
      }),
      { db },
    );
    const stop = new AbortController();
    const driving = errorOf(app.run('r', {}, { signal: stop.signal }));
    await hanging.isBegun();
    stop.abort();
    await driving;
    const again = app.run('r');
    await hanging.isBegun(2);
    hanging.leave();
    expect(await again).toMatchObject({ status: 'completed', values: { said: 'done 2' } });
    expect(late).toEqual([expect.stringContaining('is lost'), expect.stringContaining('is lost')]);
    const steps = internalsOf(app).store.steps.listForThread('r');
    expect(steps.map(({ name, attempt }) => `${name} ${attempt}`)).toEqual(['call 2']);
  });

  test('is refused where nobody has, either: a cancelled run keeps its state', async ({ db }) => {
    const hanging = new Hanging();
    const wrote: string[] = [];
    const app = durable(
      oneNode(async (_state, { writer }) => {
        await hanging.deaf();
        for (const word of ['late', 'later']) {
          writer?.(word);
          wrote.push(word);
        }
        return { said: 'late' };
      }),
      { db },
    );
    const driving = app.run('r', { said: 'begun' });
    await hanging.isBegun();
    await app.cancel('r');
    expect(await driving).toMatchObject({ status: 'cancelled' });
    const rows = (): readonly unknown[] =>
      ['stream_events', 'checkpoint_writes', 'checkpoints', 'events', 'agent_steps'].map((table) =>
        db.prepare(`SELECT count(*) FROM ${table}`).pluck().get(),
      );
    const before = rows();
    hanging.leave();
    await sleep(50);
    expect(wrote).not.toEqual([]);
    expect(rows()).toEqual(before);
    expect(await app.values('r')).toMatchObject({ said: 'begun' });
  });
});

const finishedIn = (app: ReturnType<typeof durable>, id: string): number =>
  internalsOf(app)
    .store.log.list(id)
    .filter(({ name }) => name === 'RUN_FINISHED').length;

function openOther(dbPath: string, graph: Parameters<typeof durable>[0]) {
  return durable(graph, { db: createDatabase({ dbPath }) });
}

describe('a request of another process', () => {
  for (const [place, graphOf] of Object.entries(PLACES)) {
    test(`to cancel ends a ${place}, once`, async ({ db, dbPath }) => {
      const hanging = new Hanging();
      const app = durable(graphOf(hanging), { db });
      const other = openOther(dbPath, graphOf(hanging) as never);
      const driving = app.run('r', {});
      await hanging.isBegun();
      await other.cancel('r');
      expect(await driving).toMatchObject({ status: 'cancelled', reason: 'cancelled by request' });
      expect(finishedIn(app as never, 'r')).toBe(1);
      expect(internalsOf(app).store.threads.signals.pending('r')).toEqual([]);
      expect(hanging.seen).toEqual(place === 'node' || place.includes('tool') ? ['AbortError'] : []);
      hanging.leave();
      internalsOf(other).store.db.close();
    });
  }

  test('to pause waits for calls in flight; with `abort` it ends them', async ({ db, dbPath }) => {
    const hanging = new Hanging();
    const graph = oneNode(async () => ({
      said: await step('call', ({ signal }) => hanging.heeding(signal)),
    }));
    const app = durable(graph, { db });
    const other = openOther(dbPath, graph as never);
    const driving = app.run('r', {});
    await hanging.isBegun();
    await other.pause('r');
    await sleep(50);
    expect(hanging.seen).toEqual([]);
    await other.pause('r', { abort: true });
    expect(await driving).toMatchObject({ status: 'paused', reason: 'pause' });
    expect(hanging.seen).toEqual(['AbortError']);
    await isQuiet(app as never);
    expect(await other.run('r')).toMatchObject({ status: 'completed', values: { said: 'done' } });
    internalsOf(other).store.db.close();
  });
});

function family(db: Database, hanging: Hanging) {
  const below = durable(
    oneNode(async (_state, { signal }) => ({ said: await hanging.heeding(signal) })),
    { db },
  );
  const app = durable(
    oneNode(async () => {
      const { status } = await child(below, 'child', {});
      return { said: status };
    }),
    { db, version: 'parent' },
  );
  return { app, below };
}

describe('a child run', () => {
  test.for(['signal', 'pause'] as const)(
    'is stopped with its parent by %s, is not due alone, and goes on with it',
    notThroughRuns('asks another method'),
    async (how, { db }) => {
      const hanging = new Hanging();
      const { app, below } = family(db, hanging);
      const stop = new AbortController();
      const driving = errorOf(app.run('parent', {}, { signal: stop.signal }));
      await hanging.isBegun();
      if (how === 'signal') stop.abort();
      else await app.pause('parent', { abort: true });
      expect(await driving).toBe(how === 'signal' ? 'AbortError: This operation was aborted' : 'none');
      expect(hanging.seen).toEqual(['AbortError']);
      expect(await below.result('child')).toMatchObject({
        status: 'paused',
        reason: 'stopped with its parent',
      });
      await isQuiet(below as never);
      await isQuiet(app as never);
      expect(await app.run('parent')).toMatchObject({ status: 'completed', values: { said: 'completed' } });
    },
  );

  test('is cancelled with its parent, once', notThroughRuns('asks another method'), async ({ db }) => {
    const hanging = new Hanging();
    const { app, below } = family(db, hanging);
    const driving = app.run('parent', {});
    await hanging.isBegun();
    await app.cancel('parent');
    expect(await driving).toMatchObject({ status: 'cancelled' });
    expect(await below.result('child')).toMatchObject({ status: 'cancelled' });
    expect([finishedIn(app as never, 'parent'), finishedIn(app as never, 'child')]).toEqual([1, 1]);
  });
});
