import { getEventListeners, once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  Annotation,
  Command,
  END,
  GraphRecursionError,
  INTERRUPT,
  type Interrupt,
  interrupt,
  isInterrupted,
  MemorySaver,
  Send,
  START,
  StateGraph,
  UnknownInterruptError,
} from '@langchain/langgraph';
import { describe, expect } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { howMany } from '../../../../test/support/howMany.ts';
import { runByLangGraph } from '../../../../test/support/runByLangGraph.ts';
import { SqliteSaver } from '../../saver/SqliteSaver.ts';
import { CheckpointWindow } from '../../saver/WindowedSaver.ts';
import {
  FlatIterativeAdapter,
  type FlatRunOptions,
  type FrameCheckpoint,
  runGraphIteratively,
} from '../flatIterativeAdapter.ts';
import { type CompiledLangGraph, recurse, recurseAll } from '../recurse.ts';

const FRAMES = howMany('DEVS_NESTED_FRAMES', 60);

/** How a frame treats its children: one `recurse` after the other, a branch for each, or all in one question. */
interface Plan {
  readonly name: string;
  readonly mode: 'sequence' | 'fanOut' | 'all';
  readonly asks: boolean;
  readonly children: readonly Plan[];
}

const State = Annotation.Root({
  plan: Annotation<Plan>(),
  log: Annotation<readonly string[]>({ reducer: (before, more) => [...before, ...more], default: () => [] }),
});
type Tree = CompiledLangGraph<Partial<typeof State.State>, typeof State.State>;

/** What the outside saw; survives a "crash" of the graph. */
interface Ledger {
  readonly leaves: string[];
}

type Ask = (name: string) => string;
const askHuman: Ask = (name) => interrupt<{ name: string }, string>({ name });
const answered: Ask = (name) => `answer for ${name}`;

function treeGraph(ask: Ask = answered, ledger: Ledger = { leaves: [] }): Tree {
  const childLog = async (plan: Plan): Promise<string[]> => {
    const { log } = await recurse(self, { plan });
    return [`${plan.name}:`, ...log];
  };
  const self: Tree = new StateGraph(State)
    .addNode('enter', ({ plan }) => {
      if (plan.children.length === 0) ledger.leaves.push(plan.name);
      return { log: [`enter ${plan.name}`] };
    })
    .addNode('sequence', async ({ plan }) => {
      const logs: string[] = [];
      for (const child of plan.children) logs.push(...(await childLog(child)));
      return { log: logs };
    })
    .addNode('branch', async ({ plan }) => ({ log: await childLog(plan) }))
    .addNode('all', async ({ plan }) => {
      const states = await recurseAll(
        plan.children.map((child) => ({ graph: self, input: { plan: child } })),
      );
      return { log: states.flatMap(({ log }) => log) };
    })
    .addNode('leave', ({ plan }) => ({ log: plan.asks ? [ask(plan.name)] : ['leave'] }))
    .addEdge(START, 'enter')
    .addConditionalEdges('enter', ({ plan }) => {
      if (plan.children.length === 0) return 'leave';
      if (plan.mode !== 'fanOut') return plan.mode;
      return plan.children.map((child) => new Send('branch', { plan: child }));
    })
    .addEdge('sequence', 'leave')
    .addEdge('branch', 'leave')
    .addEdge('all', 'leave')
    .addEdge('leave', END)
    .compile();
  return self;
}

const leaf = (name: string, asks = false): Plan => ({ name, mode: 'sequence', asks, children: [] });
const parent = (name: string, mode: Plan['mode'], children: readonly Plan[]): Plan => ({
  name,
  mode,
  asks: false,
  children,
});
const chain = (depth: number): Plan =>
  depth === 0 ? leaf('0') : parent(String(depth), 'sequence', [chain(depth - 1)]);

const interruptsOf = (result: unknown): readonly Interrupt<{ name: string }>[] =>
  isInterrupted<{ name: string }>(result) ? result[INTERRUPT] : [];

describe('runGraphIteratively', () => {
  test('needs no checkpointer, and works with the state file', async ({ db }) => {
    const graph = treeGraph();
    const plan = parent('r', 'fanOut', [parent('x', 'sequence', [leaf('1'), leaf('2')]), leaf('y')]);
    const plain = await runByLangGraph(() => graph.invoke({ plan }));
    expect(await runGraphIteratively(graph, { plan })).toEqual(plain);
    expect(await runGraphIteratively(graph, { plan }, { checkpointer: new SqliteSaver(db) })).toEqual(plain);
    expect(await FlatIterativeAdapter.run(graph, { plan })).toEqual(plain);
  });

  test('uses the checkpointer the graph was compiled with', async () => {
    const saver = new MemorySaver();
    const graph: Tree = new StateGraph(State)
      .addNode('n', (): Partial<typeof State.State> => ({}))
      .addEdge(START, 'n')
      .compile({ checkpointer: saver });
    await runGraphIteratively(graph, { plan: leaf('x') }, { threadId: 'own' });
    expect(Object.keys(saver.storage)).toEqual(['own']);
  });

  test(`runs ${FRAMES} nested frames and leaves only the root thread behind`, async () => {
    const saver = new MemorySaver();
    const ledger = { leaves: [] };
    const graph = treeGraph(answered, ledger);
    const { log } = await runGraphIteratively(
      graph,
      { plan: chain(FRAMES) },
      { checkpointer: saver, threadId: 'root' },
    );
    expect(log.filter((line) => line.startsWith('enter'))).toHaveLength(FRAMES + 1);
    expect(ledger.leaves).toEqual(['0']);
    expect(Object.keys(saver.storage)).toEqual(['root']);
  });

  test('keeps neither the input nor the state of a frame that waits in memory', async () => {
    const Held = Annotation.Root({ left: Annotation<number>(), content: Annotation<object>() });
    const contents: WeakRef<object>[] = [];
    let alive = Number.NaN;
    const graph: CompiledLangGraph<Partial<typeof Held.State>, typeof Held.State> = new StateGraph(Held)
      .addNode('n', async ({ left }) => {
        if (left > 0) {
          const content = { of: left };
          contents.push(new WeakRef(content));
          await recurse(graph, { left: left - 1, content });
          return {};
        }
        await nextTurn();
        gc?.();
        alive = contents.filter((ref) => ref.deref() !== undefined).length;
        return {};
      })
      .addEdge(START, 'n')
      .compile();
    await runGraphIteratively(graph, { left: 20, content: {} });
    expect(contents).toHaveLength(20 + 20); // a node runs again with each answer; the second run is after the leaf's
    expect(alive).toBeLessThanOrEqual(2);
  });

  test('counts ancestor frames in recursion_base', async () => {
    const seen: unknown[] = [];
    const graph: Tree = new StateGraph(State)
      .addNode('n', async ({ plan }, config) => {
        seen.push(config.configurable?.['recursion_base']);
        if (plan.children[0] !== undefined) await recurse(graph, { plan: plan.children[0] }, config);
        return {};
      })
      .addEdge(START, 'n')
      .compile();
    const config = { configurable: { recursion_base: 3 } };
    await runGraphIteratively(graph, { plan: chain(2) }, { checkpointer: new MemorySaver(), config });
    expect(seen).toEqual([3, 4, 5, 4, 3]);
  });

  test('hands the configuration of the asking node to its children', async () => {
    const seen: unknown[] = [];
    const child = new StateGraph(State)
      .addNode('n', (_state, { configurable }) => {
        seen.push(configurable?.['tenant'], configurable?.['lease_epoch']);
        return {};
      })
      .addEdge(START, 'n')
      .compile();
    const graph: Tree = new StateGraph(State)
      .addNode('n', async (_state, config) => {
        await recurse(
          child,
          { plan: leaf('x') },
          { ...config, configurable: { ...config.configurable, tenant: 'b' } },
        );
        return {};
      })
      .addEdge(START, 'n')
      .compile();
    const config = { configurable: { tenant: 'a', lease_epoch: 7 } };
    await runGraphIteratively(graph, { plan: leaf('r') }, { checkpointer: new MemorySaver(), config });
    expect(seen).toEqual(['b', 7]);
  });

  test('a graph that a node invokes itself recurses inside its frame', async () => {
    const inner = treeGraph();
    const graph: Tree = new StateGraph(State)
      .addNode('n', async ({ plan }) => ({ log: (await inner.invoke({ plan })).log }))
      .addEdge(START, 'n')
      .compile();
    const plan = parent('r', 'sequence', [leaf('1'), leaf('2')]);
    const flat = await runGraphIteratively(graph, { plan }, { checkpointer: new MemorySaver() });
    expect(flat).toEqual(await runByLangGraph(() => graph.invoke({ plan })));
  });

  test('a compiled graph that is a node of another one may recurse too', async () => {
    const inner = treeGraph() as ReturnType<StateGraph<typeof State.spec>['compile']>;
    const graph: Tree = new StateGraph(State).addNode('inner', inner).addEdge(START, 'inner').compile();
    const plan = parent('r', 'fanOut', [leaf('1'), parent('2', 'sequence', [leaf('3')])]);
    const flat = await runGraphIteratively(graph, { plan }, { checkpointer: new MemorySaver() });
    expect(flat).toEqual(await runByLangGraph(() => graph.invoke({ plan })));
  });

  test('hands every state to the window after it is in the checkpointer', async () => {
    const saver = new MemorySaver();
    const evicted: FrameCheckpoint[] = [];
    const window = new CheckpointWindow<FrameCheckpoint>(5, (checkpoint) => evicted.push(checkpoint));
    const pushed: FrameCheckpoint[] = [];
    const push = (checkpoint: FrameCheckpoint): void => {
      expect(saver.storage[checkpoint.threadId]).toBeDefined();
      pushed.push(checkpoint);
      window.push(checkpoint);
    };
    await runGraphIteratively(treeGraph(), { plan: chain(10) }, { checkpointer: saver, window: { push } });
    expect(window.retained()).toEqual([pushed[0], ...pushed.slice(-5)]);
    expect([pushed[0], ...evicted, ...pushed.slice(-5)]).toEqual(pushed);
  });

  test('stops above maxDepth with nothing lost, and goes on under a higher one', async () => {
    const ledger: Ledger = { leaves: [] };
    const graph = treeGraph(answered, ledger);
    const options = { checkpointer: new MemorySaver(), threadId: 't' };
    const plan = parent('r', 'sequence', [leaf('first'), chain(3)]);
    const run = (maxDepth: number) => runGraphIteratively(graph, { plan }, { ...options, maxDepth });
    await expect(run(3)).rejects.toThrow(GraphRecursionError);
    expect(await run(4)).toEqual(await runByLangGraph(() => treeGraph().invoke({ plan })));
    expect(ledger.leaves).toEqual(['first', '0']);
  });

  test('an aborted run rejects with the reason, leaves no listener and goes on with the same call', async () => {
    const ledger: Ledger = { leaves: [] };
    const controller = new AbortController();
    const graph = treeGraph(answered, ledger);
    const plan = parent('r', 'sequence', [leaf('1'), leaf('2'), leaf('3')]);
    const options = { checkpointer: new MemorySaver(), threadId: 't' };
    const push = (): void => {
      if (ledger.leaves.includes('2')) controller.abort(new Error('enough'));
    };
    const { signal } = controller;
    const aborted = runGraphIteratively(graph, { plan }, { ...options, signal, window: { push } });
    await expect(aborted).rejects.toThrow('enough');
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
    expect(await runGraphIteratively(graph, { plan }, options)).toEqual(
      await runByLangGraph(() => treeGraph().invoke({ plan })),
    );
    expect(ledger.leaves).toEqual(['1', '2', '3']);
  });

  test('an error of a node rejects the call, and the same call tries that node again', async () => {
    const ledger: Ledger = { leaves: [] };
    let failures = 1;
    const graph = treeGraph((name) => {
      if (failures-- > 0) throw new Error('flaky');
      return answered(name);
    }, ledger);
    const plan = parent('r', 'sequence', [leaf('1'), leaf('2', true)]);
    const options = { checkpointer: new MemorySaver(), threadId: 't' };
    await expect(runGraphIteratively(graph, { plan }, options)).rejects.toThrow('flaky');
    expect(await runGraphIteratively(graph, { plan }, options)).toEqual(
      await runByLangGraph(() => treeGraph().invoke({ plan })),
    );
    expect(ledger.leaves).toEqual(['1', '2']);
  });

  test('refuses to be called inside a node, where recurse is the way', async () => {
    const graph: Tree = new StateGraph(State)
      .addNode('n', async ({ plan }) => {
        await runGraphIteratively(treeGraph(), { plan });
        return {};
      })
      .addEdge(START, 'n')
      .compile();
    await expect(graph.invoke({ plan: leaf('x') })).rejects.toThrow(TypeError);
  });

  test.each([
    ...[Number.NaN, -1, 1.5, '5', null].map((maxDepth) => ({ maxDepth })),
    ...['memory', {}, null, true].map((checkpointer) => ({ checkpointer })),
    ...['', 7, null].map((threadId) => ({ threadId })),
    ...[[1], {}, null].map((window) => ({ window: window === null ? null : { ...window } })),
    ...[{ aborted: false }, null].map((signal) => ({ signal })),
  ])('refuses %j before any node runs', async (options) => {
    const ledger: Ledger = { leaves: [] };
    const run = runGraphIteratively(
      treeGraph(answered, ledger),
      { plan: leaf('x') },
      options as FlatRunOptions,
    );
    await expect(run).rejects.toThrow(new RegExp(`^Expected ${Object.keys(options)[0]} to `));
    await expect(run).rejects.toBeInstanceOf('maxDepth' in options ? RangeError : TypeError);
    expect(ledger.leaves).toEqual([]);
  });

  test('takes a checkpointer of another copy of its package', async () => {
    const saver = new MemorySaver();
    const foreign = new Proxy(saver, { getPrototypeOf: () => Object.prototype });
    const options = { checkpointer: foreign, threadId: 'own' };
    await runGraphIteratively(treeGraph(), { plan: leaf('x') }, options);
    expect(Object.keys(saver.storage)).toEqual(['own']);
  });

  test('a depth of 0 permits no child, and a leaf needs none', async () => {
    const run = (plan: Plan) => runGraphIteratively(treeGraph(), { plan }, { maxDepth: 0 });
    await expect(run(chain(1))).rejects.toThrow('More than 0 nested frames');
    expect((await run(leaf('x'))).log).toEqual(['enter x', 'leave']);
  });

  test('does not begin when its signal has fired before', async () => {
    const ledger: Ledger = { leaves: [] };
    const signal = AbortSignal.abort(new Error('no time'));
    const run = runGraphIteratively(treeGraph(answered, ledger), { plan: leaf('x') }, { signal });
    await expect(run).rejects.toThrow('no time');
    expect(ledger.leaves).toEqual([]);
  });

  test('hands its signal to the nodes', async () => {
    const controller = new AbortController();
    const graph: Tree = new StateGraph(State)
      .addNode('n', async (_state, { signal }) => {
        setImmediate(() => controller.abort(new Error('enough')));
        await once(signal as AbortSignal, 'abort');
        return {};
      })
      .addEdge(START, 'n')
      .compile();
    const run = runGraphIteratively(graph, { plan: leaf('x') }, { signal: controller.signal });
    await expect(run).rejects.toThrow('enough');
  });

  test('refuses a graph and a child that cannot be suspended', async () => {
    const child = new StateGraph(State)
      .addNode('n', (): Partial<typeof State.State> => ({}))
      .addEdge(START, 'n')
      .compile({ checkpointer: false });
    const graph: Tree = new StateGraph(State)
      .addNode('n', async ({ plan }) => {
        await recurse(child, { plan });
        return {};
      })
      .addEdge(START, 'n')
      .compile();
    await expect(runGraphIteratively(graph, { plan: leaf('x') })).rejects.toThrow('checkpointer: false');
    await expect(runGraphIteratively(child as Tree, { plan: leaf('x') })).rejects.toThrow(
      'checkpointer: false',
    );
  });
});

describe('questions to a human inside frames', () => {
  const plan = parent('r', 'fanOut', [
    parent('x', 'sequence', [leaf('1'), leaf('2', true)]),
    parent('y', 'all', [leaf('3', true), leaf('4')]),
    leaf('5'),
  ]);

  test('surface together, with the whole stack resumable by interrupt id in a new process', async ({
    db,
  }) => {
    const ledger: Ledger = { leaves: [] };
    const options = { checkpointer: new SqliteSaver(db), threadId: 't' };
    const asked = await runGraphIteratively(treeGraph(askHuman, ledger), { plan }, options);
    expect(
      interruptsOf(asked)
        .map(({ value }) => value?.name)
        .sort(),
    ).toEqual(['2', '3']);

    const resume = Object.fromEntries(
      interruptsOf(asked).map(({ id, value }) => [id, answered(value?.name ?? '')]),
    );
    const done = await runGraphIteratively(treeGraph(askHuman, ledger), new Command({ resume }), options);
    expect(done).toEqual(await runByLangGraph(() => treeGraph().invoke({ plan })));
    expect(ledger.leaves.sort()).toEqual(['1', '2', '3', '4', '5']);
  });

  test('can be answered one by one, and the rest stays open', async () => {
    const options = { checkpointer: new MemorySaver(), threadId: 't' };
    const graph = treeGraph(askHuman);
    let result: unknown = await runGraphIteratively(graph, { plan }, options);
    for (const left of [1, 0]) {
      const [question] = interruptsOf(result);
      const resume = { [question?.id ?? '']: answered(question?.value?.name ?? '') };
      result = await runGraphIteratively(graph, new Command({ resume }), options);
      expect(interruptsOf(result)).toHaveLength(left);
    }
    expect(result).toEqual(await runByLangGraph(() => treeGraph().invoke({ plan })));
  });

  test('a single one takes a bare answer, deep in the stack', async () => {
    const options = { checkpointer: new MemorySaver(), threadId: 't' };
    const deep = parent('a', 'sequence', [parent('b', 'all', [parent('c', 'fanOut', [leaf('d', true)])])]);
    const graph = treeGraph(askHuman);
    expect(interruptsOf(await runGraphIteratively(graph, { plan: deep }, options))).toHaveLength(1);
    const done = await runGraphIteratively(graph, new Command({ resume: answered('d') }), options);
    expect(done).toEqual(await runByLangGraph(() => treeGraph().invoke({ plan: deep })));
  });

  test('are asked again under the same id when the run is called without an answer', async () => {
    const options = { checkpointer: new MemorySaver(), threadId: 't' };
    const graph = treeGraph(askHuman);
    const first = interruptsOf(await runGraphIteratively(graph, { plan }, options));
    const second = interruptsOf(await runGraphIteratively(graph, null, options));
    expect(second.map(({ id }) => id).sort()).toEqual(first.map(({ id }) => id).sort());
  });

  test.each([
    ['a bare answer with two open questions', 'yes'],
    ['an id nobody asked under', { ['0'.repeat(32)]: 'yes' }],
  ])('%s is refused before anything is written', async (_what, resume) => {
    const saver = new MemorySaver();
    const options = { checkpointer: saver, threadId: 't' };
    const graph = treeGraph(askHuman);
    const asked = interruptsOf(await runGraphIteratively(graph, { plan }, options));
    const before = JSON.stringify(saver.writes);
    const refused = runGraphIteratively(graph, new Command({ resume }), options);
    await expect(refused).rejects.toThrow(UnknownInterruptError);
    expect(JSON.stringify(saver.writes)).toBe(before);
    expect(interruptsOf(await runGraphIteratively(graph, null, options))).toHaveLength(asked.length);
  });

  test('a command that does more than resume is refused', async () => {
    const options = { checkpointer: new MemorySaver(), threadId: 't' };
    const command = new Command({ resume: 'x', update: { log: ['forged'] } });
    await expect(runGraphIteratively(treeGraph(), command, options)).rejects.toThrow(TypeError);
  });

  test('before and after recurse in one node keep their own answers', async () => {
    const graph: Tree = new StateGraph(State)
      .addNode('n', async ({ plan: { children } }) => {
        const before = askHuman('before');
        const { log } = await recurse(treeGraph(askHuman), { plan: children[0] ?? leaf('none') });
        return { log: [before, ...log, askHuman('after')] };
      })
      .addEdge(START, 'n')
      .compile();
    const options = { checkpointer: new MemorySaver(), threadId: 't' };
    let result = await runGraphIteratively(
      graph,
      { plan: parent('r', 'sequence', [leaf('in', true)]) },
      options,
    );
    for (const name of ['before', 'in', 'after']) {
      expect(interruptsOf(result).map(({ value }) => value?.name)).toEqual([name]);
      result = await runGraphIteratively(graph, new Command({ resume: answered(name) }), options);
    }
    expect(result.log).toEqual([answered('before'), 'enter in', answered('in'), answered('after')]);
  });
});

/** Fails at one of its operations, before or after carrying it out: what a kill leaves behind. */
class DyingSaver extends MemorySaver {
  #left = Number.POSITIVE_INFINITY;

  dieAfter(operations: number): void {
    this.#left = operations;
  }

  override async put(...args: Parameters<MemorySaver['put']>): ReturnType<MemorySaver['put']> {
    return this.#operation(() => super.put(...args));
  }

  override async putWrites(...args: Parameters<MemorySaver['putWrites']>): Promise<void> {
    return this.#operation(() => super.putWrites(...args));
  }

  override async deleteThread(threadId: string): Promise<void> {
    return this.#operation(() => super.deleteThread(threadId));
  }

  async #operation<T>(work: () => Promise<T>): Promise<T> {
    if (this.#left <= 0) throw new Error('killed');
    const result = await work();
    this.#left -= 0.5;
    if (this.#left <= 0) throw new Error('killed');
    this.#left -= 0.5;
    return result;
  }
}

describe('a run that dies', () => {
  test('at any operation of its checkpointer goes on to the same final state', async () => {
    const plan = parent('r', 'sequence', [
      parent('x', 'fanOut', [leaf('1'), leaf('2')]),
      parent('y', 'all', [leaf('3')]),
    ]);
    const expected = await runByLangGraph(() => treeGraph().invoke({ plan }));
    let survived = false;
    // An odd number of halves dies after an operation, an even one before the next.
    for (let operations = 0.5; !survived; operations += 1.5) {
      const ledger: Ledger = { leaves: [] };
      const saver = new DyingSaver();
      saver.dieAfter(operations);
      const options = { checkpointer: saver, threadId: 'root' };
      survived = await runGraphIteratively(treeGraph(answered, ledger), { plan }, options).then(
        () => true,
        () => false,
      );
      saver.dieAfter(Number.POSITIVE_INFINITY);
      expect(await runGraphIteratively(treeGraph(answered, ledger), { plan }, options)).toEqual(expected);
      expect(Object.keys(saver.storage)).toEqual(['root']);
      expect(ledger.leaves.length).toBeLessThanOrEqual(3 + 2);
    }
  });
});
