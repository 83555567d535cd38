// What a graph is promised, as a process: kept.child.ts STACK ACT FOLDER
// The same graphs for both stacks, with the obvious code around each: on plain LangGraph a result is kept in a file under
// the thread's id and a name; here it is a step. Whatever comes out otherwise goes on the account.
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  Annotation,
  Command,
  END,
  interrupt,
  type LangGraphRunnableConfig,
  START,
  StateGraph,
} from '@langchain/langgraph';
import { SqliteSaver as OfficialSaver } from '@langchain/langgraph-checkpoint-sqlite';
import { durable } from '../../src/engine/app/durable.ts';
import { step } from '../../src/engine/node/step.ts';

const [stack = '', act = '', folder = ''] = process.argv.slice(2);
const file = join(folder, 'state.sqlite');
const RUN = 'post';

const account = (what: string): void => appendFileSync(join(folder, 'account.txt'), `${what}\n`);

type Once = (name: string, config: LangGraphRunnableConfig, call: () => string) => Promise<string>;

const inFile: Once = async (name, config, call) => {
  const kept = join(folder, `${String(config.configurable?.['thread_id'])}-${name}.json`);
  if (!existsSync(kept)) writeFileSync(kept, call());
  return readFileSync(kept, 'utf8');
};

const once: Once = stack === 'devs' ? (name, _config, call) => step(name, call) : inFile;

interface Client {
  /** Starts the graph, and answers `says` whenever it stops; `null` goes on without an answer. */
  toTheEnd(says: unknown): Promise<unknown>;
}

const MAX_STOPS = 5;

interface Compiled {
  invoke(input: unknown, config: object): Promise<unknown>;
  getState(config: object): Promise<{ readonly next: readonly string[]; readonly values: unknown }>;
}

function plain(builder: unknown): Client {
  const checkpointer = OfficialSaver.fromConnString(file);
  const graph = (builder as { compile(options: object): Compiled }).compile({ checkpointer });
  const config = { configurable: { thread_id: RUN }, durability: 'sync' };
  return {
    async toTheEnd(says) {
      await graph.invoke({}, config);
      for (let stops = 0; stops < MAX_STOPS; stops += 1) {
        const { next, values } = await graph.getState(config);
        if (next.length === 0 || says === undefined) return values;
        await graph.invoke(new Command({ resume: says }), config);
      }
      throw new Error('The graph does not end.');
    },
  };
}

function devs(builder: unknown): Client {
  const app = durable(builder as never, { file });
  return {
    async toTheEnd(says) {
      let ran = await app.run(RUN, {} as never);
      for (let stops = 0; ran.status === 'waiting' && stops < MAX_STOPS; stops += 1) {
        if (says === undefined) return ran.values;
        for (const gate of ran.gates)
          await app.decide(gate, { value: says, by: { kind: 'human', id: 'ada' } });
        ran = await app.run(RUN);
      }
      return ran.values;
    },
  };
}

const clientOf = stack === 'devs' ? devs : plain;

const Post = Annotation.Root({
  log: Annotation<readonly string[]>({ reducer: (left, right) => [...left, ...right], default: () => [] }),
  due: Annotation<Date>(),
});

/** Two nodes of a subgraph make a call of the same name. */
const posting = () =>
  new StateGraph(Post)
    .addNode('charge', async (_state, config) => ({ log: [await once('post', config, () => 'charged')] }))
    .addNode('mail', async (_state, config) => ({ log: [await once('post', config, () => 'mailed')] }))
    .addEdge(START, 'charge')
    .addEdge('charge', 'mail')
    .addEdge('mail', END);

const inside = (inner: unknown) =>
  new StateGraph(Post)
    .addNode('inner', inner as ReturnType<ReturnType<typeof posting>['compile']>)
    .addEdge(START, 'inner')
    .addEdge('inner', END);

/** Stops before its second node, which nobody has let go on. */
const stopping = () =>
  new StateGraph(Post)
    .addNode('write', () => ({ log: ['written'] }))
    .addNode('send', () => {
      account('breakpoint run through');
      return {};
    })
    .addEdge(START, 'write')
    .addEdge('write', 'send')
    .compile({ interruptBefore: ['send'] });

const approval = () =>
  new StateGraph(Post)
    .addNode('ask', () => new Command({ goto: interrupt('Publish?') ? 'publish' : END }), {
      ends: ['publish', END],
    })
    .addNode('publish', () => {
      account('published after a no');
      return {};
    })
    .addEdge(START, 'ask');

const appointment = () =>
  new StateGraph(Post)
    .addNode('plan', () => ({ due: new Date(0) }))
    .addNode('ask', () => {
      interrupt('Well?');
      return {};
    })
    .addNode('meet', ({ due }) => {
      if (!(due instanceof Date)) account(`value changed: a Date is a ${typeof due}`);
      return {};
    })
    .addEdge(START, 'plan')
    .addEdge('plan', 'ask')
    .addEdge('ask', 'meet');

const ACTS: Readonly<Record<string, () => Promise<unknown>>> = {
  async 'two calls of one name'() {
    const { log } = (await clientOf(inside(posting().compile())).toTheEnd(true)) as typeof Post.State;
    if (log[1] !== 'mailed') account("another's result");
  },
  'stop at a breakpoint': () => clientOf(inside(stopping())).toTheEnd(undefined),
  'answer no': () => clientOf(approval()).toTheEnd(false),
  'keep a date': () => clientOf(appointment()).toTheEnd(true),
};

await ACTS[act]?.();
