import { child, durable, step } from '@devs/core/langgraph';
import { Annotation, END, type LangGraphRunnableConfig, START, StateGraph } from '@langchain/langgraph';
import type { World } from './support/world.ts';

const Research = Annotation.Root({
  topic: Annotation<string>(),
  sources: Annotation<string>(),
  facts: Annotation<string>(),
});

const Report = Annotation.Root({
  question: Annotation<string>(),
  topics: Annotation<readonly string[]>(),
  findings: Annotation<readonly string[]>(),
  receipt: Annotation<string>(),
});

/** The worker: a graph of its own, with runs of its own. */
const researching = (world: World) =>
  new StateGraph(Research)
    .addNode('look', async ({ topic }) => ({
      sources: await step('llm', ({ key }) => world.model(`sources on ${topic}`, key)),
    }))
    .addNode('read', async ({ sources }) => ({
      facts: await step('llm', ({ key }) => world.model(`facts in ${sources}`, key)),
    }))
    .addEdge(START, 'look')
    .addEdge('look', 'read')
    .addEdge('read', END);

export const graph = (world: World, file = ':memory:') => {
  const research = durable(researching(world), { file });
  return new StateGraph(Report)
    .addNode('plan', async ({ question }) => {
      const plan = await step('llm', ({ key }) => world.model(`topics of ${question}`, key));
      return { topics: plan.split(', ') };
    })
    .addNode('delegate', async ({ topics }, { configurable }: LangGraphRunnableConfig) => {
      const id = (topic: string) => `${configurable?.['thread_id']}/${topic}`;
      const ended = await Promise.all(topics.map((topic) => child(research, id(topic), { topic })));
      return {
        findings: ended.map(({ status, values }) => (status === 'completed' && values?.facts) || 'nothing'),
      };
    })
    .addNode('publish', async ({ findings }) => ({
      receipt: await step('publish', ({ key }) => world.send(findings.join(' '), key)),
    }))
    .addEdge(START, 'plan')
    .addEdge('plan', 'delegate')
    .addEdge('delegate', 'publish')
    .addEdge('publish', END);
};

export const app = (file: string, world: World) => durable(graph(world, file), { file });

export const input = { question: 'Is tea worth it?' };
export const model = (prompt: string) =>
  prompt.startsWith('topics') ? 'prices, taste' : prompt.replace(/^(sources on|facts in) /, '$1: ');
export const ends = {
  topics: ['prices', 'taste'],
  receipt: 'receipt of facts in: sources on: prices facts in: sources on: taste',
};
