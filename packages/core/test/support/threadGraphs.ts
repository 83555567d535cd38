// Graphs of plain LangGraph whose threads wait in different ways: for every checkpointer, in whatever process.
import {
  Annotation,
  type BaseCheckpointSaver,
  Command,
  END,
  interrupt,
  Send,
  START,
  StateGraph,
} from '@langchain/langgraph';
import { openQuestions } from '../../src/engine/saver/openQuestions.ts';

const Log = Annotation.Root({
  log: Annotation<string[]>({ reducer: (all, more) => [...all, ...more], default: () => [] }),
  bytes: Annotation<unknown>(),
});

const asked = (question: string): { readonly log: string[] } => ({
  log: [`${question} ${interrupt<string, string>(question)}`],
});

const inner = (name: string) =>
  new StateGraph(Log)
    .addNode('look', () => ({ log: [`${name} looked`] }))
    .addNode('first', () => asked(`${name} 1?`))
    .addNode('second', () => asked(`${name} 2?`))
    .addEdge(START, 'look')
    .addEdge('look', 'first')
    .addEdge('first', 'second')
    .addEdge('second', END)
    .compile();

/** Three subgraphs side by side ask; a node beside them has finished, and its writes are pending. */
const sideBySide = () =>
  new StateGraph(Log)
    .addNode('a', inner('a'))
    .addNode('b', async () => ({ log: (await inner('b').invoke({ log: [] })).log }))
    .addNode('c', inner('c'))
    .addNode('done', () => ({ log: ['beside'], bytes: new Map([['k', new Set([1])]]) }))
    .addNode('end', ({ log }) => ({ log: [`end of ${log.length}`] }))
    .addEdge(START, 'a')
    .addEdge(START, 'b')
    .addEdge(START, 'c')
    .addEdge(START, 'done')
    .addEdge(['a', 'b', 'c', 'done'], 'end')
    .addEdge('end', END);

/** Sends wait, each with a value of its own. */
const sends = () =>
  new StateGraph(Log)
    .addNode('plan', () => ({ log: ['plan'] }))
    .addNode('work', ({ log }) => asked(`about ${log.join()}`))
    .addNode('end', ({ log }) => ({ log: [`end of ${log.length}`] }))
    .addEdge(START, 'plan')
    .addConditionalEdges('plan', () => ['x', 'y'].map((each) => new Send('work', { log: [each] })), ['work'])
    .addEdge('work', 'end')
    .addEdge('end', END);

/** One node asks again and again. */
const inARow = () =>
  new StateGraph(Log)
    .addNode('ask', () => ({ log: [1, 2, 3].flatMap((each) => asked(`${each}?`).log) }))
    .addEdge(START, 'ask')
    .addEdge('ask', END);

export const threadGraphs = { sideBySide, sends, inARow } as const;

export type ThreadGraph = keyof typeof threadGraphs;

export const inThread = (threadId: string) => ({ configurable: { thread_id: threadId } });

/** Leaves threads of every graph waiting, after no answer and after one. Returns their ids. */
export async function leaveThreads(saver: BaseCheckpointSaver): Promise<readonly string[]> {
  const ids: string[] = [];
  for (const [name, build] of Object.entries(threadGraphs)) {
    const graph = build().compile({ checkpointer: saver }) as unknown as Graph;
    for (const answers of [0, 1]) {
      const id = `${name} ${answers}`;
      ids.push(id);
      const waits = await graph.invoke({ log: [] }, inThread(id));
      if (answers > 0) await graph.invoke(answersTo(waits, 1), inThread(id));
    }
  }
  return ids;
}

interface Graph {
  invoke(input: unknown, config: object): Promise<Waiting>;
  getState(config: object): Promise<{ readonly values: unknown }>;
}

interface Waiting {
  readonly __interrupt__?: readonly { readonly id?: string; readonly value?: unknown }[];
}

const answersTo = ({ __interrupt__: open = [] }: Waiting, count = open.length): Command => {
  const resume = open.slice(0, count).map(({ id, value }) => [id, `(${String(value)})`]);
  return new Command({ resume: Object.fromEntries(resume) });
};

/** Goes on with a thread by plain LangGraph, until it ends. */
export async function endThread(saver: BaseCheckpointSaver, id: string): Promise<unknown> {
  const graph = threadGraphs[id.split(' ')[0] as ThreadGraph]().compile({
    checkpointer: saver,
  }) as unknown as Graph;
  const tuple = await saver.getTuple(inThread(id));
  const asked = tuple === undefined ? [] : openQuestions(tuple);
  let open: Waiting = { __interrupt__: asked.map(({ interruptId, value }) => ({ id: interruptId, value })) };
  for (let stops = 0; (open.__interrupt__ ?? []).length > 0; stops += 1) {
    if (stops > 10) throw new Error(`Thread "${id}" does not end.`);
    open = await graph.invoke(answersTo(open), inThread(id));
  }
  return (await graph.getState(inThread(id))).values;
}
