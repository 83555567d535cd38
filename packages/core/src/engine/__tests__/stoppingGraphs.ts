import { Annotation, Command, END, interrupt, Send, START, StateGraph } from '@langchain/langgraph';
import { OwnState } from './ownGraph.ts';

/** Told of every node that runs. */
export type Ran = (node: string) => void;

/** A compiled graph as both ways of running it need it, whatever its types. */
export interface AnyCompiled {
  checkpointer?: unknown;
  invoke(input: unknown, config: object): Promise<unknown>;
  getState(
    config: object,
    options?: { readonly subgraphs: boolean },
  ): Promise<{ readonly values: object; readonly next: readonly string[] }>;
}

const Items = Annotation.Root({ ...OwnState.spec, item: Annotation<string>() });

/** Builders and graphs whose nodes tell that they ran. */
function rows(ran: Ran) {
  const node = (name: string) => () => {
    ran(name);
    return { log: [name] };
  };
  const row = (...names: readonly string[]) => {
    const builder = new StateGraph(OwnState) as unknown as LooseBuilder;
    for (const name of names) builder.addNode(name, node(name));
    for (const [at, name] of names.entries()) builder.addEdge(names[at - 1] ?? START, name);
    return builder;
  };
  const around = (inner: unknown, options: object = {}) =>
    (new StateGraph(OwnState) as unknown as LooseBuilder)
      .addNode('a', node('a'))
      .addNode('sub', inner)
      .addNode('z', node('z'))
      .addEdge(START, 'a')
      .addEdge('a', 'sub')
      .addEdge('sub', 'z')
      .compile(options);
  const called =
    (inner: { invoke(input: object): Promise<{ readonly log?: readonly string[] }> }) =>
    async ({ log }: { readonly log: readonly string[] }) => {
      const { log: after = [] } = await inner.invoke({ log });
      return { log: after.slice(log.length) };
    };
  const fan = () =>
    row('start', 'one')
      .addNode('two', node('two'))
      .addNode('join', node('join'))
      .addEdge('start', 'two')
      .addEdge(['one', 'two'], 'join');
  return { node, row, around, called, fan };
}

/** Puts a question beside what follows `a`. */
const askingIn = (ran: Ran) => (builder: LooseBuilder) =>
  builder
    .addNode('ask', () => {
      const said = interrupt('well?');
      ran('ask');
      return { log: [`said ${String(said)}`] };
    })
    .addEdge('a', 'ask');

/** Graphs that send, loop and command, and graphs to be put inside. */
function shapes(ran: Ran) {
  const { node, row } = rows(ran);
  const sends = () =>
    (new StateGraph(Items) as unknown as LooseBuilder)
      .addNode('start', node('start'))
      .addNode('each', ({ item }: { readonly item: string }) => {
        ran(`each ${item}`);
        return { log: [item] };
      })
      .addNode('end', node('end'))
      .addEdge(START, 'start')
      .addConditionalEdges('start', () => ['x', 'y'].map((item) => new Send('each', { item })))
      .addEdge('each', 'end');
  const loop = (options: object) =>
    row('turn')
      .addConditionalEdges('turn', ({ log }: { readonly log: readonly string[] }) =>
        log.length < 3 ? 'turn' : END,
      )
      .compile(options);
  const commands = () =>
    (new StateGraph(OwnState) as unknown as LooseBuilder)
      .addNode(
        'choose',
        () => {
          ran('choose');
          return new Command({ goto: 'done', update: { log: ['choose'] } });
        },
        { ends: ['done'] },
      )
      .addNode('done', node('done'))
      .addEdge(START, 'choose');
  const inner = (options: object) => row('x', 'y').compile(options);
  const asking = askingIn(ran);
  const fannedInner = () =>
    row('start', 'one')
      .addNode('two', node('two'))
      .addEdge('start', 'two')
      .compile({ interruptBefore: ['two'] });
  const sentInner = () =>
    (new StateGraph(Items) as unknown as LooseBuilder)
      .addNode('each', inner({ interruptBefore: ['y'] }))
      .addNode('end', node('end'))
      .addConditionalEdges(START, () => ['p', 'q'].map((word) => new Send('each', { log: [word] })))
      .addEdge('each', 'end')
      .compile({});
  return { sends, loop, commands, inner, asking, fannedInner, sentInner };
}

function outerStops(ran: Ran) {
  const { row, fan } = rows(ran);
  const { sends, loop, commands } = shapes(ran);
  return {
    'before a node': () => row('a', 'b', 'c').compile({ interruptBefore: ['b'] }),
    'before the first node': () => row('a', 'b').compile({ interruptBefore: ['a'] }),
    'after a node': () => row('a', 'b', 'c').compile({ interruptAfter: ['b'] }),
    'after the last node': () => row('a', 'b').compile({ interruptAfter: ['b'] }),
    'before and after one node': () =>
      row('a', 'b', 'c').compile({ interruptBefore: ['b'], interruptAfter: ['b'] }),
    'after a node and before the next': () =>
      row('a', 'b').compile({ interruptAfter: ['a'], interruptBefore: ['b'] }),
    'before all': () => row('a', 'b', 'c').compile({ interruptBefore: '*' }),
    'after all': () => row('a', 'b', 'c').compile({ interruptAfter: '*' }),
    'before one of two branches': () => fan().compile({ interruptBefore: ['two'] }),
    'before both of two branches': () => fan().compile({ interruptBefore: ['one', 'two'] }),
    'after one of two branches, and before they join': () =>
      fan().compile({ interruptAfter: ['one'], interruptBefore: ['join'] }),
    'before what is sent': () => sends().compile({ interruptBefore: ['each'] }),
    'after what is sent': () => sends().compile({ interruptAfter: ['each'] }),
    'before each turn of a loop': () => loop({ interruptBefore: ['turn'] }),
    'after each turn of a loop': () => loop({ interruptAfter: ['turn'] }),
    'before where a command goes': () => commands().compile({ interruptBefore: ['done'] }),
    'after a node that commands': () => commands().compile({ interruptAfter: ['choose'] }),
  };
}

function innerStops(ran: Ran) {
  const { row, around, called } = rows(ran);
  const { inner, asking, fannedInner, sentInner } = shapes(ran);
  return {
    'in a subgraph, before': () => around(inner({ interruptBefore: ['y'] })),
    'in a subgraph, after': () => around(inner({ interruptAfter: ['x'] })),
    'in a subgraph, after its last node': () => around(inner({ interruptAfter: ['y'] })),
    'in a subgraph, before all': () => around(inner({ interruptBefore: '*' })),
    'in a subgraph, after all': () => around(inner({ interruptAfter: '*' })),
    'in a subgraph, before and after, and around it': () =>
      around(inner({ interruptBefore: ['x'], interruptAfter: ['x'] }), {
        interruptBefore: ['sub'],
        interruptAfter: ['sub'],
      }),
    'in a subgraph, before one of two branches': () => around(fannedInner()),
    'in a subgraph that is kept': () => around(inner({ interruptBefore: ['y'], checkpointer: true })),
    'in a subgraph that a function calls, before': () => around(called(inner({ interruptBefore: ['y'] }))),
    'in a subgraph that a function calls, after': () => around(called(inner({ interruptAfter: ['x'] }))),
    'in a subgraph that a function calls, after its last node': () =>
      around(called(inner({ interruptAfter: ['y'] }))),
    'in a subgraph of a subgraph': () =>
      around(around(inner({ interruptBefore: ['y'], interruptAfter: ['x'] }), { interruptBefore: ['z'] })),
    'in a subgraph that is sent to, twice': () => sentInner(),
    'in a subgraph beside a question': () =>
      asking(
        row('a')
          .addNode('sub', inner({ interruptBefore: ['y'] }))
          .addEdge('a', 'sub'),
      ).compile({}),
    'after a node in a subgraph, beside a question': () =>
      asking(
        row('a')
          .addNode('sub', inner({ interruptAfter: ['x'] }))
          .addEdge('a', 'sub'),
      ).compile({}),
    'after a node in a subgraph that a function calls, beside a question': () =>
      asking(
        row('a')
          .addNode('sub', called(inner({ interruptAfter: ['x'] })))
          .addEdge('a', 'sub'),
      ).compile({}),
  };
}

/** Graphs with breakpoints, compiled without a checkpointer: its owner gives it one. */
export const stoppingGraphs = (ran: Ran) => ({ ...outerStops(ran), ...innerStops(ran) });

export type StoppingGraph = keyof ReturnType<typeof stoppingGraphs>;

/** A builder without its types: names are known only when it runs. */
interface LooseBuilder {
  addNode(name: string, run: unknown, options?: object): LooseBuilder;
  addEdge(from: string | readonly string[], to: string): LooseBuilder;
  addConditionalEdges(from: string, route: unknown): LooseBuilder;
  compile(options: object): AnyCompiled & {
    invoke(input: object): Promise<{ readonly log?: readonly string[] }>;
  };
}
