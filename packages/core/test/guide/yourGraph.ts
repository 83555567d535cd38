// The programs of docs/guide/your-graph.md.
import { child, durable, progress, step } from '@devs/core/langgraph';
import type { BaseMessage } from '@langchain/core/messages';
import { AIMessage, HumanMessage } from '@langchain/core/messages';
import type { LangGraphRunnableConfig } from '@langchain/langgraph';
import { Annotation, END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';

const Report = Annotation.Root({
  id: Annotation<string>,
  topic: Annotation<string>,
  topics: Annotation<string[]>,
  order: Annotation<string>,
  mail: Annotation<string>,
  tone: Annotation<string>,
  facts: Annotation<(string | undefined)[]>,
});
const DAY = 24 * 60 * 60 * 1000;

const Fact = Annotation.Root({ topic: Annotation<string>, facts: Annotation<string> });

const builder = new StateGraph(Report)
  .addNode('outline', () => ({ facts: [] }))
  .addEdge(START, 'outline')
  .addEdge('outline', END);
const researchGraph = new StateGraph(Fact)
  .addNode('read', () => ({ facts: 'Hot.' }))
  .addEdge(START, 'read')
  .addEdge('read', END);
const chat = new StateGraph(MessagesAnnotation)
  .addNode('answer', () => ({ messages: [new AIMessage('Hello.')] }))
  .addEdge(START, 'answer')
  .addEdge('answer', END);

declare const order: string;
declare const mail: string;
declare const checkpointId: string;
declare const by: { readonly kind: 'human'; readonly id: string };
declare const model: { invoke(messages: readonly BaseMessage[]): Promise<AIMessage> };

export async function first() {
  const app = durable(builder, { file: 'state.sqlite' });
  const { status, values } = await app.run('report-7', { topic: 'tea' });
  return { status, values };
}

export function limits() {
  const app = durable(builder, { file: 'state.sqlite', limits: { valueBytes: 20 * 1024 * 1024 } });
  return app;
}

export async function ids() {
  const app = durable(builder, { file: 'state.sqlite' });
  await app.run('order-7', { order }); // starts the run, or continues it
  await app.run('order-7'); // continues it, in any process
  await app.start('order-8', { order }); // records it for a worker
}

export async function context() {
  const app = durable(builder, { file: 'state.sqlite' });
  await app.run(
    'mail-7',
    { mail },
    { context: { tenant: 'acme' }, configurable: { region: 'eu' }, tags: ['nightly'] },
  );
  await app.run('mail-7'); // tomorrow, in another process: the same context
}

export async function turns() {
  const app = durable(chat, { file: 'state.sqlite' });
  await app.run('chat-1', { messages: [new HumanMessage('Hi, I am Bob.')] }, { turn: 'm-16' });
  const { values } = await app.run('chat-1', { messages: [new HumanMessage('Who am I?')] }, { turn: 'm-17' });
  return values;
}

export function agents() {
  const agent = async ({ messages }: typeof MessagesAnnotation.State) => ({
    messages: [await step('llm', () => model.invoke(messages))],
  });
  return agent;
}

export function children() {
  const research = durable(researchGraph, { file: 'state.sqlite' });

  const investigate = async ({ id, topics }: typeof Report.State) => {
    const ended = await Promise.all(topics.map((topic) => child(research, `${id}/${topic}`, { topic })));
    return { facts: ended.map(({ status, values }) => (status === 'completed' ? values?.facts : 'nothing')) };
  };
  return investigate;
}

export async function memory(config: LangGraphRunnableConfig) {
  const app = durable(builder, { file: 'state.sqlite', store: 'file' });
  await config.store?.put(['users', 'ada'], 'language', { code: 'en' }); // in a node
  await app.memory.search(['users'], { filter: { code: { $ne: 'de' } }, limit: 20 }); // from outside
}

export async function runs() {
  const app = durable(builder, { file: 'state.sqlite' });
  const { runs, next } = await app.list({ status: ['running', 'waiting'], limit: 20 });
  return { runs, next };
}

export async function forks() {
  const app = durable(builder, { file: 'state.sqlite' });
  const [, earlier] = await app.getStateHistory('post-42');
  await app.fork('post-42', { as: 'post-42b', checkpointId, by }); // a new run from an old checkpoint
  await app.updateState('post-42b', { tone: 'friendly' }, { asNode: 'outline', by });
  await app.run('post-42b');
  return earlier;
}

export async function deletions() {
  const app = durable(builder, { file: 'state.sqlite' });
  await app.delete('post-42', { by });
  await app.deleteOlderThan({ endedBefore: new Date(Date.now() - 30 * DAY), limit: 1000, by });
}

export function loop() {
  progress();
}
