import { readFileSync } from 'node:fs';
import {
  Annotation,
  Command,
  END,
  type LangGraphRunnableConfig,
  MemorySaver,
  START,
  StateGraph,
} from '@langchain/langgraph';
import { describe, expect } from 'vitest';
import { test } from '../../../test/support/fixtures.ts';
import { runByLangGraph } from '../../../test/support/runByLangGraph.ts';
import { type CompiledLangGraph, recurse } from '../../engine/frames/recurse.ts';
import type { WindowedSaver } from '../../engine/saver/WindowedSaver.ts';
import { EventBus, orchestratorEvents } from '../../events/events.ts';
import { type FrameCheckpoint, runGraphIteratively } from '../../orchestration/flatIterativeAdapter.ts';
import { OrchestrationGraph } from '../../orchestration/graph.ts';
import { checkRecursionDepth, type LangGraphContext } from '../../orchestration/recursionGuard.ts';
import { SqliteSaver } from '../../orchestration/SqliteSaver.ts';
import { createInitialState, type OrchestratorState, type TaskRecord } from '../../orchestration/types.ts';

const MIB = 2 ** 20;

/** A project whose one epic has a chain of tasks. */
function aProjectOf(count: number): OrchestratorState {
  const at = '2026-01-01T00:00:00.000Z';
  const config = { projectId: 'project', name: 'Project', description: '', createdAt: at, updatedAt: at };
  const tasks = Array.from({ length: count }, (_, index): TaskRecord => {
    const dependsOn = index === 0 ? [] : [`project:${index}`];
    const name = `Task ${index + 1}`;
    const taskId = `project:${index + 1}`;
    return {
      taskId,
      epicId: 'epic',
      name,
      description: '',
      status: 'pending',
      agentRole: 'developer',
      dependsOn,
    };
  });
  const epic = { epicId: 'epic', projectId: 'project', name: 'Epic', description: '', phaseNumber: 1 };
  return {
    ...createInitialState({ ...config, status: 'initializing' }),
    epics: [{ ...epic, status: 'pending', requirementIds: [] }],
    tasks,
  };
}

function contextAt(recursionDepth: number): LangGraphContext {
  return Object.freeze({ metadata: Object.freeze({ recursionDepth }) });
}

function recordingBus() {
  const events: unknown[] = [];
  const bus = new EventBus();
  bus.onAny((name, payload) => events.push([name, payload]));
  return { bus, events };
}

const State = Annotation.Root({ depth: Annotation<number>(), payload: Annotation<string>() });
type Recursive = CompiledLangGraph<Partial<typeof State.State>, typeof State.State>;

/** A graph whose node runs the same graph again, one level further down. */
function recursiveGraph(
  payloadOf: (payload: string, depth: number) => string,
  descend: typeof recurse<Partial<typeof State.State>, typeof State.State> = recurse,
): Recursive {
  const graph: Recursive = new StateGraph(State)
    .addNode('expand', async ({ depth, payload = '' }) => {
      const own = payloadOf(payload, depth);
      return depth === 0 ? { payload: own } : descend(graph, { depth: depth - 1, payload: own });
    })
    .addNode('finish', ({ depth }) => ({ depth: depth + 1 }))
    .addEdge(START, 'expand')
    .addEdge('expand', 'finish')
    .addEdge('finish', END)
    .compile();
  return graph;
}

describe('checkRecursionDepth', () => {
  test('recursionGuard_allowsWithinLimit', () => {
    expect(checkRecursionDepth(contextAt(4))).toEqual({ allowed: true });
  });

  test('recursionGuard_blocksAtLimit', () => {
    for (const depth of [25, 26, 1_000]) {
      expect(checkRecursionDepth(contextAt(depth))).toEqual({
        allowed: false,
        reason: 'MAX_RECURSION_DEPTH_EXCEEDED',
      });
    }
  });

  test('recursionGuard_emitsWarningAt80Pct', () => {
    const { bus, events } = recordingBus();
    expect(checkRecursionDepth(contextAt(20), { events: bus })).toEqual({ allowed: true });
    expect(events).toEqual([['RECURSION_DEPTH_WARNING', { depth: 20, limit: 25 }]]);
  });

  test('emits on the orchestrator event bus unless it is given another one', () => {
    const payloads: unknown[] = [];
    const off = orchestratorEvents.on('RECURSION_DEPTH_WARNING', (payload) => payloads.push(payload));
    for (const depth of [0, 19, 20, 24, 25, 26]) checkRecursionDepth(contextAt(depth));
    off();
    expect(payloads).toEqual([20, 24, 25, 26].map((depth) => ({ depth, limit: 25 })));
  });

  test.each([
    [0, true],
    [19, true],
    [24, true],
    [26, false],
    [1_000, false],
  ])('depth %d of 25 is allowed: %s', (depth, allowed) => {
    expect(checkRecursionDepth(contextAt(depth), { events: recordingBus().bus }).allowed).toBe(allowed);
  });

  test.each([
    [5, 4],
    [7, 6],
    [26, 21],
    [100, 80],
  ])('with a limit of %d the warning begins at %d', (limit, first) => {
    const { bus, events } = recordingBus();
    checkRecursionDepth(contextAt(first - 1), { events: bus, limit });
    expect(events).toEqual([]);
    checkRecursionDepth(contextAt(first), { events: bus, limit });
    expect(events).toEqual([['RECURSION_DEPTH_WARNING', { depth: first, limit }]]);
  });

  test.each([25, 26])('the warning is emitted at depth %d, too', (depth) => {
    const { bus, events } = recordingBus();
    checkRecursionDepth(contextAt(depth), { events: bus });
    expect(events).toEqual([['RECURSION_DEPTH_WARNING', { depth, limit: 25 }]]);
  });

  test.each([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])('refuses a depth of %d', (depth) => {
    expect(() => checkRecursionDepth(contextAt(depth))).toThrow(RangeError);
  });

  test.each([0, -5, 2.5, Number.NaN])('refuses a limit of %d', (limit) => {
    expect(() => checkRecursionDepth(contextAt(1), { limit })).toThrow(RangeError);
  });

  test('two concurrent runs do not mix their depths', async () => {
    const seen: Record<string, number[]> = { slow: [], fast: [] };
    const { bus, events } = recordingBus();
    const graph = new StateGraph(State)
      .addNode('step', async ({ depth }, { metadata, configurable }: LangGraphRunnableConfig) => {
        const recursionDepth = Number(metadata?.['langgraph_step']);
        const run = String(configurable?.['thread_id']);
        if (run === 'slow') await new Promise((resolve) => setImmediate(resolve));
        // Twenty transitions in all: one count of both would be refused.
        expect(checkRecursionDepth(contextAt(recursionDepth), { events: bus, limit: 11 }).allowed).toBe(true);
        seen[run]?.push(recursionDepth);
        return { depth: depth + 1 };
      })
      .addEdge(START, 'step')
      .addConditionalEdges('step', ({ depth }) => (depth < 10 ? 'step' : END))
      .compile({ checkpointer: new MemorySaver() });
    const run = (thread_id: string) => graph.invoke({ depth: 0 }, { configurable: { thread_id } });
    await Promise.all([run('slow'), run('fast')]);
    const steps = Array.from({ length: 10 }, (_, index) => index + 1);
    expect(seen).toEqual({ slow: steps, fast: steps });
    const warned = events.map((event) => (event as [string, { depth: number }])[1].depth);
    expect(warned.sort((a, b) => a - b)).toEqual([9, 9, 10, 10]);
  });
});

describe('memory-efficient execution', () => {
  test('flatIterativeAdapter_producesEquivalentOutput', async () => {
    const graph = recursiveGraph((payload, depth) => payload + depth);
    const plain = await runByLangGraph(() => graph.invoke({ depth: 4 }));
    expect(await runGraphIteratively(graph, { depth: 4 })).toEqual(plain);
    expect(plain).toEqual({ depth: 5, payload: '43210' });
    // A node that invokes the graph itself recurses inside its turn, to the same end.
    const invoking = recursiveGraph(
      (payload, depth) => payload + depth,
      (self, input) => self.invoke(input),
    );
    expect(await runByLangGraph(() => runGraphIteratively(invoking, { depth: 4 }))).toEqual(plain);
  });

  test('takes one super-step per turn: the adapter looks up between any two nodes', async () => {
    const step = (name: string) => (): Partial<typeof State.State> => ({ payload: name });
    const graph: Recursive = new StateGraph(State)
      .addNode('first', step('first'))
      .addNode('second', step('second'))
      .addNode('third', step('third'))
      .addEdge(START, 'first')
      .addEdge('first', 'second')
      .addEdge('second', 'third')
      .addEdge('third', END)
      .compile();
    const turns: unknown[] = [];
    const window = {
      push: ({ state }: FrameCheckpoint) => turns.push((state as typeof State.State).payload),
    };
    await runGraphIteratively(graph, { depth: 0 }, { window });
    expect([...new Set(turns)]).toEqual(['first', 'second', 'third']); // the last turn finds nothing left
  });

  test('the adapter contains no recursion on itself', () => {
    const source = readFileSync(
      new URL('../../engine/frames/flatIterativeAdapter.ts', import.meta.url),
      'utf8',
    );
    const code = source.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
    const [beforeDoor = '', rest = ''] = code.split('function runGraphIteratively');
    const [door = ''] = rest.split('\n}\n');
    const elsewhere = `${beforeDoor}${rest.slice(door.length)}`;
    expect(door).toContain('runFrames(');
    expect(code.match(/\brunGraphIteratively\s*[<(]/g)).toHaveLength(1); // where it is declared
    // The loop is entered from the door alone: not by itself, nor by what it calls.
    expect(elsewhere.match(/\brunFrames\s*[<(]/g)).toHaveLength(1);
    const loop = code.split('function runFrames')[1]?.split('\n}\n')[0] ?? '';
    expect(loop).toMatch(/\bconst stack = \[/);
    expect(loop).toMatch(/\bfor \(let frame = stack\.at\(-1\)/);
    expect(loop).toContain('stack.push(');
  });

  test('heapSnapshot_staysBelow200MBFor50NodeGraph', async () => {
    const collect = globalThis.gc;
    expect(collect, 'run with --expose-gc').toBeTypeOf('function');
    const used = (): number => {
      collect?.();
      const { heapUsed, external } = process.memoryUsage();
      return heapUsed + external;
    };
    const before = used();
    let peak = before;
    let turns = 0;
    const push = (): void => {
      turns += 1;
      if (turns % 20 === 0) peak = Math.max(peak, used());
    };
    const graph = recursiveGraph((_payload, depth) => String(depth).padStart(128 * 1024, 'x'));
    const { payload } = await runGraphIteratively(graph, { depth: 49 }, { window: { push } });
    expect(payload).toHaveLength(128 * 1024);
    expect(turns).toBeGreaterThan(100);
    expect(peak - before).toBeLessThan(200 * MIB);
    expect(used() - before).toBeLessThan(200 * MIB);
  });

  test('orchestrationGraph_trimsStateCheckpointsAboveDepth15', async ({ db }) => {
    const { graph } = OrchestrationGraph.withSqlitePersistence(db);
    const config = OrchestrationGraph.configForProject('project');
    await graph.invoke(aProjectOf(30), config);
    await graph.invoke(new Command({ resume: { approved: true } }), config);
    const { status } = await graph.invoke(new Command({ resume: { approved: true } }), config);
    expect(status).toBe('completed');

    const stored: string[] = [];
    for await (const { checkpoint } of new SqliteSaver(db).list(config)) stored.unshift(checkpoint.id);
    expect(stored.length).toBeGreaterThan(60);
    const saver = graph.checkpointer as WindowedSaver;
    expect(saver.retained('project')).toEqual([stored[0], ...stored.slice(-5)]);
    for (const checkpoint_id of stored) {
      const one = { configurable: { thread_id: 'project', checkpoint_id } };
      expect((await saver.getTuple(one))?.checkpoint.id).toBe(checkpoint_id);
    }
  });
});
