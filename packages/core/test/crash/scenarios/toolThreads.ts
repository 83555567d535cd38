import { AIMessage, type BaseMessage, HumanMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { Annotation, interrupt, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { ToolNode, toolsCondition } from '@langchain/langgraph/prebuilt';
import type { Database } from 'better-sqlite3';
import { step } from '../../../src/engine/node/step.ts';
import { onceForEachKey, type Process, type Scenario } from './Scenario.ts';

const ada = { kind: 'human', id: 'ada' } as const;

/** The tool calls of a model: one, two at once, and one whose graph asks. */
const ROUNDS = [['a'], ['b', 'c'], ['d']] as const;
const ASKS = 'd';

const Log = Annotation.Root({
  log: Annotation<readonly string[]>({ reducer: (left, right) => [...left, ...right], default: () => [] }),
});

/** Whether a recorded result of the run has this text. */
const isRecorded = (db: Database, run: string, text: string): boolean =>
  db
    .prepare("SELECT 1 FROM agent_steps WHERE thread_id = ? AND state = 'done' AND result_json = ?")
    .get(run, JSON.stringify(text)) !== undefined;

/** An agent whose tool calls a graph under a thread of its own. What it does is recorded in steps, inside the graph too. */
function agentOf({ db, effect }: Process, run: string) {
  const call = (name: string, what: string): Promise<string> =>
    step(name, ({ key }) => {
      effect(isRecorded(db, run, what) ? `${what} again` : what, key);
      return what;
    });
  const inner = new StateGraph(Log)
    .addNode('look', async ({ log }) => ({ log: [await call('look', `look at ${log[0]}`)] }))
    .addNode('ask', ({ log }) => ({ log: [log[0] === ASKS ? interrupt<string, string>('Keep it?') : 'yes'] }))
    .addNode('keep', async ({ log }) => ({ log: [await call('keep', `keep ${log[0]}: ${log[2]}`)] }))
    .addEdge(START, 'look')
    .addEdge('look', 'ask')
    .addEdge('ask', 'keep')
    .compile();
  const find = async ({ what }: { what: string }): Promise<string> => {
    const before = ROUNDS[1].some((each) => each === what) ? '' : await call('before', `before ${what}`);
    const thread = { configurable: { thread_id: `${what} of ${run}` } };
    const { log } = await inner.invoke({ log: [what] }, thread);
    return call('after', [before, ...log].join('; '));
  };
  const finding = tool(find, {
    name: 'find',
    description: 'calls a graph',
    schema: { type: 'object', properties: { what: { type: 'string' } }, required: ['what'] } as const,
  });
  return new StateGraph(MessagesAnnotation)
    .addNode('model', ({ messages }) => ({ messages: [nextOf(messages)] }))
    .addNode('tools', new ToolNode([finding]))
    .addEdge(START, 'model')
    .addConditionalEdges('model', toolsCondition, ['tools', '__end__'])
    .addEdge('tools', 'model');
}

function nextOf(messages: readonly BaseMessage[]): AIMessage {
  const round = messages.filter(({ type }) => type === 'ai').length;
  const tool_calls = (ROUNDS[round] ?? []).map((what) => ({
    ...{ id: `call-${what}`, name: 'find', args: { what }, type: 'tool_call' as const },
  }));
  return new AIMessage({ id: `ai-${round}`, content: tool_calls.length === 0 ? 'done' : '', tool_calls });
}

async function live(process: Process, run: string): Promise<unknown> {
  const app = process.durable(agentOf(process, run), { db: process.db });
  const input = { messages: [new HumanMessage({ id: 'question', content: 'Find.' })] };
  for (let drives = 0; drives < 3; drives += 1) {
    const { status, gates, values } = await app.run(run, input);
    if (status === 'completed') return { status, said: values?.messages.map(({ text }) => text) };
    for (const gate of gates) await app.decide(gate, { value: 'sure', by: ada });
  }
  throw new Error('The run does not end.');
}

const DONE = (what: string, kept = 'yes'): string =>
  [what, `look at ${what}`, kept, `keep ${what}: ${kept}`].join('; ');

const RESULTS = [
  `before a; ${DONE('a')}`,
  `; ${DONE('b')}`,
  `; ${DONE('c')}`,
  `before d; ${DONE('d', 'sure')}`,
];

export const toolThreads: Scenario = {
  what: 'tools that call a graph under a thread of its own',
  deaths: { atWrites: 4, byKill: 1 },
  start: (process) => (run) => live(process, run),
  expected: () => ({
    outcome: {
      status: 'completed',
      said: ['Find.', '', RESULTS[0], '', RESULTS[1], RESULTS[2], '', RESULTS[3], 'done'],
    },
    inFile: { done: 14, begun: 0, gates: 1 },
    outside: [
      ...RESULTS,
      ...['before a', 'before d'],
      ...['a', 'b', 'c', 'd'].map((what) => `look at ${what}`),
      ...['keep a: yes', 'keep b: yes', 'keep c: yes', 'keep d: sure'],
    ].sort(),
  }),
  inFile: ({ db }, run) => {
    const steps = (state: 'done' | 'intent'): unknown =>
      db
        .prepare('SELECT count(*) FROM agent_steps WHERE thread_id = ? AND state = ?')
        .pluck()
        .get(run, state);
    const gates = db.prepare('SELECT count(*) FROM hitl_sessions WHERE thread_id = ?').pluck().get(run);
    return { done: steps('done'), begun: steps('intent'), gates };
  },
  outside: onceForEachKey,
};
