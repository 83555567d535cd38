import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { describe, expect, vi } from 'vitest';
import { WindowedSaver } from '../../src/engine/saver/WindowedSaver.ts';
import {
  CHECKPOINT_WINDOW,
  checkRecursionDepth,
  EventBus,
  MAX_RECURSION_DEPTH,
  OrchestrationGraph,
  Orchestrator,
  recurse,
  runGraphIteratively,
  SqliteSaver,
} from '../../src/index.ts';
import { test } from '../support/fixtures.ts';
import { runByLangGraph } from '../support/runByLangGraph.ts';

// What specification 000 says of the depth guard and the flat adapter, from the exported names alone.

const State = Annotation.Root({
  depth: Annotation<number>(),
  log: Annotation<readonly string[]>({ reducer: (before, more) => [...before, ...more], default: () => [] }),
});

/** A graph that goes round `depth` times. */
function aCycle(checkpointer?: SqliteSaver) {
  return new StateGraph(State)
    .addNode('step', ({ depth }) => ({ depth: depth - 1, log: [String(depth)] }))
    .addEdge(START, 'step')
    .addConditionalEdges('step', ({ depth }) => (depth > 0 ? 'step' : END))
    .compile(checkpointer && { checkpointer });
}

/** A graph whose node runs it again, one level down. */
function aNest(checkpointer?: SqliteSaver) {
  type Nest = { invoke(input: object): Promise<typeof State.State> };
  const graph: Nest = new StateGraph(State)
    .addNode('expand', async ({ depth }) => {
      if (depth === 0) return { log: ['leaf'] };
      const { log } = await recurse(graph, { depth: depth - 1 });
      return { log: [String(depth), ...log] };
    })
    .addEdge(START, 'expand')
    .addEdge('expand', END)
    .compile(checkpointer && { checkpointer });
  return graph;
}

/** The checkpoints of each frame by thread, while it is asserted what of them is in memory. */
function watchMemory() {
  const written = new Map<string, readonly string[]>();
  const { put } = WindowedSaver.prototype;
  const spy = vi.spyOn(WindowedSaver.prototype, 'put').mockImplementation(async function (
    this: WindowedSaver,
    ...args
  ) {
    const stored = await put.apply(this, args);
    const thread = String(args[0].configurable?.['thread_id']);
    const ids = [...(written.get(thread) ?? []), args[1].id];
    written.set(thread, ids);
    expect(this.retained(thread)).toEqual([ids[0], ...ids.slice(1).slice(-CHECKPOINT_WINDOW)]);
    return stored;
  });
  return { written, restore: () => spy.mockRestore() };
}

async function idsIn(saver: SqliteSaver, thread_id?: string): Promise<readonly string[]> {
  const ids: string[] = [];
  const config = { configurable: { ...(thread_id && { thread_id }) } };
  for await (const { checkpoint } of saver.list(config)) ids.unshift(checkpoint.id);
  return ids;
}

describe('runGraphIteratively with two arguments', () => {
  test('keeps the first and the newest CHECKPOINT_WINDOW checkpoints of every frame in memory', async () => {
    const memory = watchMemory();
    await runGraphIteratively(aCycle(), { depth: 8 });
    await runGraphIteratively(aNest(), { depth: 2 });
    memory.restore();
    expect([...memory.written.values()].map(({ length }) => length)).toEqual([10, 3, 3, 3]);
  });

  test('gives the final state of recursion, also for more levels than LangGraph takes', async () => {
    for (const make of [aCycle, aNest]) {
      const recursive = await runByLangGraph(() => make().invoke({ depth: 2 }));
      expect(await runGraphIteratively(make(), { depth: 2 })).toEqual(recursive);
    }
    const { log } = await runGraphIteratively(aCycle(), { depth: 26 });
    expect(log).toHaveLength(26);
  });

  test('leaves every checkpoint of the run in the store of its graph', async ({ db }) => {
    const saver = new SqliteSaver(db);
    await runGraphIteratively(aCycle(saver), { depth: 5 });
    expect(await idsIn(saver)).toHaveLength(7);
  });
});

test('what left the memory of the adapter can be rewound to', async ({ db }) => {
  const checkpointer = new SqliteSaver(db);
  const graph = aCycle(checkpointer);
  const memory = watchMemory();
  await runGraphIteratively(graph, { depth: 10 }, { threadId: 'run' });
  memory.restore();
  const ids = await idsIn(checkpointer, 'run');
  expect(ids).toEqual(memory.written.get('run'));

  const early = { configurable: { thread_id: 'run', checkpoint_id: ids[4] } };
  const { values } = await graph.getState(early);
  expect(values).toMatchObject({ depth: 7 });
  expect(await graph.invoke(null, early)).toMatchObject({ depth: 0 });
});

test('the thread may be named as graph.invoke is told it', async ({ db }) => {
  const checkpointer = new SqliteSaver(db);
  const config = { configurable: { thread_id: 'run' } };
  await runGraphIteratively(aCycle(checkpointer), { depth: 2 }, { config });
  expect(await idsIn(checkpointer, 'run')).toHaveLength(4);
});

describe('checkRecursionDepth', () => {
  const heardAt = (recursionDepth: number, limit?: number): readonly unknown[] => {
    const events = new EventBus();
    const heard: unknown[] = [];
    events.on('RECURSION_DEPTH_WARNING', (payload) => heard.push(payload));
    checkRecursionDepth({ metadata: { recursionDepth } }, { events, ...(limit && { limit }) });
    return heard;
  };

  test('warns at every depth from 80 % of the limit on', () => {
    expect(MAX_RECURSION_DEPTH).toBe(25);
    for (let depth = 0; depth <= 30; depth += 1)
      expect(heardAt(depth)).toEqual(depth >= 20 ? [{ depth, limit: 25 }] : []);
  });
});

describe('maxRecursionDepth as an option', () => {
  const bad = [4, 101, 0, -5, 25.5, Number.NaN, Number.POSITIVE_INFINITY, '25', null, undefined];

  test('is a whole number from 5 to 100, as in the environment', async ({ db, dbPath }) => {
    const dir = `${dirname(dbPath)}/none`;
    for (const value of bad) {
      const config = { maxRecursionDepth: value as number, hitlEntropyThreshold: 0.75 };
      const refusal = expect.objectContaining({
        name: 'RangeError',
        message: `Expected maxRecursionDepth to be an integer from 5 to 100, got ${String(value)}.`,
      });
      expect(() => new OrchestrationGraph(undefined, { config })).toThrow(refusal);
      expect(() => OrchestrationGraph.withSqlitePersistence(db, { config })).toThrow(refusal);
      await expect(Orchestrator.open({ dir, config })).rejects.toEqual(refusal);
    }
    expect(existsSync(dir)).toBe(false);
  });

  test('is taken from 5 to 100', () => {
    for (const maxRecursionDepth of [5, 100]) {
      const config = { maxRecursionDepth, hitlEntropyThreshold: 0 };
      expect(new OrchestrationGraph(undefined, { config }).graph).toBeDefined();
    }
  });

  test('stands beside an entropy threshold from 0 to 1', () => {
    for (const hitlEntropyThreshold of [-0.1, 1.1, Number.NaN]) {
      const config = { maxRecursionDepth: 25, hitlEntropyThreshold };
      expect(() => new OrchestrationGraph(undefined, { config })).toThrow(RangeError);
    }
  });
});
