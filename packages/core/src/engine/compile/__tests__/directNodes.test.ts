import { getContextVariable, setContextVariable } from '@langchain/core/context';
import { type RunnableConfig, RunnableLambda, RunnableSequence } from '@langchain/core/runnables';
import { AsyncLocalStorageProviderSingleton } from '@langchain/core/singletons';
import {
  Annotation,
  Command,
  END,
  getConfig,
  interrupt,
  MemorySaver,
  Send,
  START,
  StateGraph,
} from '@langchain/langgraph';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { type Branches, directEdges } from '../directEdges.ts';
import { directNodes } from '../directNodes.ts';

const Log = Annotation.Root({
  log: Annotation<string[]>({ reducer: (before, more) => [...before, ...more], default: () => [] }),
});
type State = typeof Log.State;
type Node = (state: State, config: RunnableConfig) => unknown;
type Path = (state: State, config: RunnableConfig) => unknown;

interface Shape {
  readonly a: Node;
  readonly path?: Path;
  readonly retries?: number;
}

/** start → a → (path | b) → b, c → end; `d` is reached by name alone. */
function builderOf({ a, path, retries }: Shape): StateGraph<typeof Log.spec, State> {
  const say = (name: string) => (): Partial<State> => ({ log: [name] });
  const retryPolicy = retries === undefined ? {} : { retryPolicy: policyOf(retries) };
  const builder = new StateGraph(Log)
    .addNode('a', a as never, { ends: ['b', 'c', 'd'], ...retryPolicy })
    .addNode('b', say('b'))
    .addNode('c', say('c'))
    .addNode('d', say('d'))
    .addEdge(START, 'a')
    .addEdge('b', END);
  if (path === undefined) builder.addEdge('a', 'b').addEdge('a', 'c');
  else builder.addConditionalEdges('a', path as never, ['b', 'c', 'd', END]);
  return builder as never;
}

const policyOf = (maxAttempts: number) => ({
  ...{ maxAttempts, initialInterval: 1, jitter: false, logWarning: false },
});

interface Ran {
  readonly seen: readonly unknown[];
  readonly error?: string;
}

/** Which failure is told where a node beside `a` throws after so many turns of the microtask queue. */
async function toldBeside(shape: Shape, turns: number, isDirect: boolean): Promise<string> {
  const builder = builderOf(shape);
  builder
    .addNode('beside', async () => {
      for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
      throw new RangeError('beside');
    })
    .addEdge(START, 'beside' as never);
  const thrown: unknown = await compiled(builder, isDirect)
    .invoke({ log: [] }, { configurable: { thread_id: 't' } })
    .catch((error: unknown) => error);
  return (thrown as Error).name;
}

function compiled(builder: ReturnType<typeof builderOf>, isDirect: boolean) {
  const edges = builder as unknown as { branches: Branches };
  if (isDirect) edges.branches = directEdges(edges.branches);
  const graph = builder.compile({ checkpointer: new MemorySaver() });
  if (isDirect) directNodes(graph.nodes);
  return graph;
}

/** What a run shows, twice where it was interrupted. */
async function ran(shape: Shape, options: RunnableConfig, isDirect: boolean): Promise<Ran> {
  const graph = compiled(builderOf(shape), isDirect);
  const config = { ...options, configurable: { thread_id: 't', ...options.configurable } };
  const seen: unknown[] = [];
  try {
    for (const input of [{ log: ['in'] }, new Command({ resume: 'yes' })]) {
      const stream = await graph.stream(input as never, { ...config, streamMode: ['updates', 'values'] });
      for await (const shown of stream) seen.push(shown);
      if ((await graph.getState(config)).next.length === 0) break;
    }
  } catch (error) {
    return { seen, error: String(error) };
  }
  return { seen };
}

/** As `JSON` has it: an object's fields, with names for what is a function or an instance. */
function keysOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return typeof value === 'function' ? 'function' : value;
  if (Array.isArray(value)) return value.map(keysOf);
  if (Object.getPrototypeOf(value) !== Object.prototype) return value.constructor.name;
  const given = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(given.map(([name, field]) => [name, keysOf(field)]).sort());
}

/** Without what differs from run to run. */
const settled = (shown: unknown): unknown =>
  JSON.parse(
    JSON.stringify(shown)
      .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID')
      .replaceAll(/[0-9a-f]{32}/g, 'HASH')
      .replaceAll(/"nodeFirstAttemptTime":\d+/g, '"nodeFirstAttemptTime":0'),
  );

const failing = (times: number): Node => {
  let failures = 0;
  return () => {
    if (failures++ < times) throw new Error(`failure ${failures}`);
    return { log: ['a'] };
  };
};
const update: Node = () => ({ log: ['a'] });
const shapes: Readonly<Record<string, () => Shape>> = {
  'an update': () => ({ a: update }),
  nothing: () => ({ a: () => null }),
  'a channel that is none': () => ({ a: () => ({ log: ['a'], other: 1 }) }),
  'what no node may return': () => ({ a: () => 7 }),
  'a list without commands': () => ({ a: () => [{ log: ['a'] }] }),
  'a command': () => ({ a: () => new Command({ update: { log: ['a'] }, goto: 'd' }) }),
  'several commands': () => ({
    a: () => [new Command({ goto: 'd' }), { log: ['a'] }, new Command({ goto: new Send('c', { log: [] }) })],
  }),
  'a command for the graph around it': () => ({ a: () => new Command({ goto: 'd', graph: Command.PARENT }) }),
  'a runnable': () => ({ a: () => RunnableLambda.from(() => ({ log: ['by a runnable'] })) }),
  'an error': () => ({ a: failing(1) }),
  'an error, and a retry': () => ({ a: failing(1), retries: 2 }),
  'an interrupt': () => ({ a: () => ({ log: [String(interrupt('sure?'))] }) }),
  'a name to go on with': () => ({ a: update, path: () => 'c' }),
  'what is sent': () => ({ a: update, path: () => [new Send('b', { log: [] }), 'd'] }),
  'one that is sent': () => ({ a: update, path: () => new Send('b', { log: [] }) }),
  'the end': () => ({ a: update, path: () => END }),
  'nowhere to go': () => ({ a: update, path: () => null }),
  'a runnable that decides': () => ({ a: update, path: () => RunnableLambda.from(() => 'd') }),
  'an edge that is a generator': () => ({
    a: update,
    path: function* () {
      yield 'c';
    },
  }),
  'an edge that fails': () => ({
    a: update,
    path: () => {
      throw new TypeError('no way');
    },
  }),
  'an edge that asks': () => ({ a: update, path: () => (interrupt('where?') === 'yes' ? 'd' : 'c') }),
  'an edge that is a runnable': () => ({
    a: update,
    path: RunnableLambda.from(() => 'c').withConfig({ tags: ['own'] }) as never,
  }),
};

afterEach(() => vi.restoreAllMocks());

describe('directNodes', () => {
  test.each(Object.keys(shapes))('goes on as LangGraph with %s', async (name) => {
    const shape = shapes[name] ?? (() => ({ a: update }));
    const plain = await ran(shape(), {}, false);
    expect(settled(await ran(shape(), {}, true))).toEqual(settled(plain));
  });

  test.each(['an update', 'a command', 'what is sent', 'the end'])(
    'leaves out LangChain’s sequence of the installed version: %s',
    async (name) => {
      const shape = shapes[name]?.() ?? { a: update };
      const sequence = vi.spyOn(RunnableSequence.prototype, 'invoke');
      await ran(shape, {}, false);
      expect(sequence).toHaveBeenCalled();
      sequence.mockClear();
      const lambda = vi.spyOn(RunnableLambda.prototype, 'invoke');
      await ran(shape, {}, true);
      // Where a run begins, the sequence is LangGraph's own.
      expect([sequence.mock.calls.length, lambda.mock.calls.length]).toEqual([1, 0]);
    },
  );

  test('gives a node the configuration that LangGraph gives it, and the same around it', async () => {
    const configs: unknown[] = [];
    const a: Node = (_, config) => {
      configs.push([keysOf(config), keysOf(getConfig())]);
      return {};
    };
    const path: Path = (_, config) => {
      const { configurable } = getConfig();
      configs.push([keysOf(config.configurable), keysOf(configurable), keysOf(config.metadata)]);
      return END;
    };
    const given: RunnableConfig = {
      ...{ runName: 'named', runId: '7fe1b2a4-3b8a-4f4e-9a55-0d3f0a1b2c3d', tags: ['one'] },
      ...{ metadata: { of: 'mine' }, configurable: { own: 'value' } },
    };
    const around = { tags: ['around'], metadata: { around: 1 }, configurable: { far: 1 } };
    const within = (isDirect: boolean): Promise<unknown> =>
      AsyncLocalStorageProviderSingleton.runWithConfig(around, () => ran({ a, path }, given, isDirect));
    const outside = (isDirect: boolean): Promise<unknown> => ran({ a, path }, given, isDirect);
    for (const run of [outside, within]) {
      await run(false);
      const expected = configs.splice(0);
      expect(expected).toHaveLength(2);
      await run(true);
      expect(settled(configs.splice(0))).toEqual(settled(expected));
    }
  });

  test('hands a node what is set around the run', async () => {
    const found: unknown[] = [];
    const a: Node = () => {
      found.push(getContextVariable('who'));
      return {};
    };
    await AsyncLocalStorageProviderSingleton.runWithConfig({}, async () => {
      setContextVariable('who', 'me');
      await ran({ a }, {}, true);
    });
    expect(found).toEqual(['me']);
  });

  test('is a run of the tracer’s for who asks, as in LangGraph', async () => {
    const runs: unknown[] = [];
    const a: Node = () => {
      const run = AsyncLocalStorageProviderSingleton.getInstance().getStore() as Record<string, unknown>;
      const { createChild, name, client: _client, ...fields } = run;
      const kept = Object.getOwnPropertySymbols(fields['extra']).map(String);
      runs.push([typeof createChild, name, Object.keys(fields).sort(), run.constructor.name, kept]);
      expect(getConfig().configurable).toBeDefined();
      return {};
    };
    await ran({ a }, {}, false);
    await ran({ a }, {}, true);
    expect(runs).toHaveLength(2);
    expect(runs[1]).toEqual(runs[0]);
  });

  test('tells those who listen of every part, as LangGraph does', async () => {
    const told = async (isDirect: boolean): Promise<readonly string[]> => {
      const names: string[] = [];
      const handler = {
        handleChainStart: (...[, , , , , , , name]: readonly unknown[]) => void names.push(String(name)),
      };
      await ran({ a: update, path: () => 'c' }, { callbacks: [handler] }, isDirect);
      return names;
    };
    const plain = await told(false);
    expect(plain.length).toBeGreaterThan(3);
    expect(await told(true)).toEqual(plain);
  });

  test('is left as soon as the run is aborted, whatever its node still does', async () => {
    const leaving = async (isDirect: boolean, reason: unknown): Promise<Ran> => {
      const aborting = new AbortController();
      const never: Node = () => {
        aborting.abort(reason);
        return new Promise(() => {});
      };
      return await ran({ a: never }, { signal: aborting.signal }, isDirect);
    };
    const plain = await leaving(false, new Error('enough'));
    expect(plain.error).toBe('Error: enough');
    expect(await leaving(true, new Error('enough'))).toEqual(plain);
    expect((await leaving(true, 'enough')).error).toContain('enough');
  });

  test('tells of two failures side by side the one that LangGraph tells', async () => {
    const refused: Shape = { a: () => 7 };
    const fails: Shape = {
      a: update,
      path: () => {
        throw new TypeError('no way');
      },
    };
    for (const shape of [refused, fails]) {
      const plain: string[] = [];
      for (const turns of [0, 30, 80]) {
        plain.push(await toldBeside(shape, turns, false));
        expect(await toldBeside(shape, turns, true)).toBe(plain.at(-1));
      }
      expect(new Set(plain).size).toBeGreaterThan(1);
    }
  });

  test('leaves a node to LangGraph that is not made as it knows', async () => {
    const graph = builderOf({ a: update }).compile();
    const { a } = graph.nodes as Readonly<Record<string, { readonly writers: unknown[] }>>;
    a?.writers.push(RunnableLambda.from((value) => value));
    directNodes(graph.nodes);
    const sequence = vi.spyOn(RunnableSequence.prototype, 'invoke');
    await graph.invoke({ log: [] });
    expect(sequence).toHaveBeenCalledTimes(2);
  });
});
