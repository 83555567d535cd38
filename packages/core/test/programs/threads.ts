import { AIMessage, type BaseMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import {
  Annotation,
  Command,
  END,
  interrupt,
  MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
  task,
} from '@langchain/langgraph';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { step } from '../../src/engine/node/step.ts';
import type { Program, Programs } from './Program.ts';
import { Log } from './states.ts';
import type { World } from './World.ts';

// Graphs that a node, a step, a tool or a task calls under a `thread_id` of their own.

interface InnerOptions {
  readonly asks?: boolean;
  /** Whether its nodes make calls; a step makes none inside itself. @defaultValue true */
  readonly acts?: boolean;
  readonly checkpointer?: boolean | MemorySaver;
}

/** Says how much it remembers of earlier calls. */
const remembering = (world: World, { asks = false, acts = true, ...compiled }: InnerOptions = {}) =>
  new StateGraph(Log)
    .addNode('look', async ({ log }) => {
      const found = `look after ${log.length}, ${log.at(-1)}`;
      return { log: [acts ? await world.effect('look', found) : found] };
    })
    .addNode('ask', ({ log }) => ({ log: [asks ? interrupt<string, string>(`after ${log.length}?`) : 'no'] }))
    .addNode('keep', async ({ log }) => {
      const kept = `keep after ${log.length}, ${log.at(-2)}`;
      return { log: [acts ? await world.effect('keep', kept) : kept], last: log.length };
    })
    .addEdge(START, 'look')
    .addEdge('look', 'ask')
    .addEdge('ask', 'keep')
    .compile(compiled);

type InnerGraph = ReturnType<typeof remembering>;

const on = (thread: string) => ({ configurable: { thread_id: thread } });

interface Called {
  readonly thread: string;
  /** Another one in each visit. */
  readonly input: string;
}

type Call = (graph: InnerGraph, called: Called) => Promise<readonly unknown[]>;

const invoke: Call = async (graph, { thread, input }) =>
  (await graph.invoke({ log: [input] }, on(thread))).log;

/** A node that calls the graph, visited three times. */
const visited = (call: Call, options: InnerOptions = {}, thread = 'user-7'): Program => ({
  input: {},
  // LangGraph gives a graph that remembers no input where the node around it runs again.
  ...(options.checkpointer === true && { isKilled: false }),
  answer: (asked) => `(${String(asked)})`,
  build: (world) => {
    const inner = remembering(world, options);
    return new StateGraph(Log)
      .addNode('call', async ({ log }) => {
        world.visit('call', log);
        const before = await world.effect('before', `before ${log.length}`);
        const said = await call(inner, { thread, input: `call ${log.length}` });
        return { log: [before, JSON.stringify(said)] };
      })
      .addEdge(START, 'call')
      .addConditionalEdges('call', ({ log }) => (log.length < 6 ? 'call' : END), ['call', END]);
  },
});

/** What was streamed last: a graph that goes on streams no more what it streamed before. */
const streamed: Call = async (graph, { thread, input }) => {
  let last: readonly unknown[] = [];
  const stream = await graph.stream({ log: [input] }, { ...on(thread), streamMode: 'values' });
  for await (const { log } of stream) last = log;
  return last;
};

const streamedEvents: Call = async (graph, { thread, input }) => {
  let last: unknown;
  const events = graph.streamEvents({ log: [input] }, { ...on(thread), version: 'v2' });
  for await (const { event, data } of events) if (event === 'on_chain_end') last = data.output;
  return [last];
};

/** One after the other in one node: each has a place of its own. */
const severalThreads: Call = async (graph, { input }) => {
  const said: unknown[] = [];
  for (const thread of ['user-7', 'user-8', 'user-7'])
    said.push(...(await invoke(graph, { thread, input: `${input} of ${thread} ${said.length}` })));
  return said;
};

const batched: Call = async (graph, { thread, input }) => {
  const inputs = ['a', 'b'].map((name) => ({ log: [`${input} ${name}`] }));
  const out = await graph.batch(inputs, { ...on(thread), maxConcurrency: 1 });
  return out.flatMap(({ log }) => log);
};

const inStep: Call = (graph, called) => step('inner', () => invoke(graph, called));

const inTask: Call = async (graph, called) => task('inner', async () => await invoke(graph, called))();

const ASKS = new AIMessage({
  id: 'asks',
  content: '',
  tool_calls: [{ id: 'call', name: 'inner', args: { what: 'a' }, type: 'tool_call' }],
});

/** A call of a `ToolNode`, which calls the graph. */
const inTools = (options: InnerOptions = {}): Program => ({
  input: {},
  answer: (asked) => `(${String(asked)})`,
  build: (world) => {
    const inner = remembering(world, { ...options, acts: false });
    const call = async ({ what }: { what: string }): Promise<string> => {
      const before = await world.effect('before', `before ${what}`);
      const said = await invoke(inner, { thread: 'user-7', input: before });
      return world.effect('after', JSON.stringify(said));
    };
    const ask = tool(call, {
      name: 'inner',
      description: 'calls a graph',
      schema: { type: 'object', properties: { what: { type: 'string' } }, required: ['what'] } as const,
    });
    const State = Annotation.Root({ ...MessagesAnnotation.spec, last: Annotation<unknown>() });
    return new StateGraph(State)
      .addNode('model', () => ({ messages: [ASKS] }))
      .addNode('tools', new ToolNode([ask]))
      .addNode('end', ({ messages }) => ({ last: messages.map(({ content }: BaseMessage) => content) }))
      .addEdge(START, 'model')
      .addEdge('model', 'tools')
      .addEdge('tools', 'end');
  },
});

/** A command of the graph inside ends the node outside. */
const handsUp: Program = {
  input: {},
  build: (world) => {
    const inner = new StateGraph(Log)
      .addNode(
        'up',
        async () =>
          new Command({
            graph: Command.PARENT,
            goto: 'after',
            update: { log: [await world.effect('up', 'up')] },
          }),
        { ends: [] },
      )
      .addEdge(START, 'up')
      .compile();
    return new StateGraph(Log)
      .addNode('call', async () => inner.invoke({}, on('user-7')), { ends: ['after'] })
      .addNode('after', async ({ log }) => ({ last: await world.effect('after', `after ${log.length}`) }))
      .addEdge(START, 'call');
  },
};

export const threads: Programs = {
  'called in a node': visited(invoke),
  'called in a node, with a question': visited(invoke, { asks: true }),
  'with a memory over its calls': visited(invoke, { checkpointer: true }),
  'with a memory over its calls, and questions': visited(invoke, { checkpointer: true, asks: true }),
  'with a checkpointer of its own': visited(invoke, { checkpointer: new MemorySaver(), asks: true }),
  'without a checkpointer': visited(invoke, { checkpointer: false }),
  'under the id of the run': visited(invoke, { checkpointer: true, asks: true }, 'run'),
  'under several ids in one node': visited(severalThreads, { checkpointer: true }),
  streamed: visited(streamed, { asks: true }),
  'streamed as events': visited(streamedEvents),
  'called as a batch': visited(batched),
  'called in a step': visited(inStep, { acts: false }),
  'called in a task': visited(inTask, { asks: true }),
  'called in a tool': inTools(),
  'called in a tool, with a question': inTools({ asks: true, checkpointer: true }),
  'that hands a command up': handsUp,
};
