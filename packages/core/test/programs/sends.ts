import { Document } from '@langchain/core/documents';
import { AIMessage, HumanMessage } from '@langchain/core/messages';
import { Annotation, Command, END, interrupt, Send, START, StateGraph } from '@langchain/langgraph';
import { described } from './described.ts';
import type { Program, Programs } from './Program.ts';
import { Log } from './states.ts';

const nameOf = (value: unknown): string => JSON.stringify(described(value));

/** One node, sent each of the payloads. */
const sent = (payloads: readonly unknown[]): Program => ({
  input: {},
  build: (world) =>
    new StateGraph(Log)
      .addNode('plan', async () => ({ log: [await world.effect('plan', 'plan')] }))
      .addNode('work', async (given: unknown) => {
        world.visit('work', given);
        return { log: [await world.effect('work', `work on ${nameOf(given)}`)] };
      })
      .addNode('sum', ({ log }) => ({ last: log.length }))
      .addEdge(START, 'plan')
      .addConditionalEdges('plan', () => payloads.map((payload) => new Send('work', payload)), ['work'])
      .addEdge('work', 'sum')
      .addEdge('sum', END),
});

const Topics = Annotation.Root({
  topics: Annotation<readonly string[]>(),
  jokes: Annotation<readonly string[]>({
    reducer: (left, right) => [...left, ...right],
    default: () => [],
  }),
  best: Annotation<string>(),
});

const mapReduce: Program = {
  input: { topics: ['lions', 'bears', 'geese'] },
  build: (world) =>
    new StateGraph(Topics)
      .addNode('joke', async ({ topic }: { topic: string }) => ({
        jokes: [await world.effect('llm', `joke about ${topic}`)],
      }))
      .addNode('choose', async ({ jokes }) => ({
        best: await world.effect('llm', 'choice', jokes.at(-1) ?? ''),
      }))
      .addConditionalEdges(START, ({ topics }) => topics.map((topic) => new Send('joke', { topic })), [
        'joke',
      ])
      .addEdge('joke', 'choose')
      .addEdge('choose', END),
};

const sentByCommand: Program = {
  input: { log: ['begun'] },
  build: (world) =>
    new StateGraph(Log)
      .addNode(
        'plan',
        () =>
          new Command({
            update: { last: 'planned' },
            goto: [new Send('work', 'a'), 'other', new Send('work', 7)],
          }),
        { ends: ['work', 'other'] },
      )
      .addNode('work', async (given: unknown) => ({
        log: [await world.effect('do', `work ${String(given)}`)],
      }))
      .addNode('other', async ({ last }) => ({
        log: [await world.effect('do', `other after ${String(last)}`)],
      }))
      .addEdge(START, 'plan'),
};

const sentOnAndOn: Program = {
  input: {},
  build: (world) =>
    new StateGraph(Log)
      .addNode(
        'count',
        async (given: unknown) => {
          const left = typeof given === 'number' ? given : 3;
          const log = [await world.effect('count', `count ${left}`)];
          return new Command({ update: { log }, goto: left > 0 ? new Send('count', left - 1) : END });
        },
        { ends: ['count', END] },
      )
      .addEdge(START, 'count'),
};

const eachAsks: Program = {
  input: {},
  answer: (asked) => `yes to ${JSON.stringify(asked)}`,
  build: (world) =>
    new StateGraph(Log)
      .addNode('work', async (city: unknown) => {
        const found = await world.effect('look', `look at ${String(city)}`);
        const said = interrupt<object, string>({ city, found });
        return { log: [await world.effect('book', `book ${String(city)}: ${said}`)] };
      })
      .addConditionalEdges(START, () => ['Bern', 'Rome', 'Oslo'].map((city) => new Send('work', city)), [
        'work',
      ])
      .addEdge('work', END),
};

export const sends: Programs = {
  'sends of plain values': sent(['text', 7, 0, false, { a: { b: [1] } }, ['x', null]]),
  'sends of nothing': sent([null, '', []]),
  'sends of messages': sent([
    new HumanMessage({ id: 'm1', content: 'Hello.' }),
    [new AIMessage({ id: 'm2', content: 'Hi.', tool_calls: [{ id: 'c', name: 't', args: {} }] })],
  ]),
  'sends of classes': sent([
    new Document({ pageContent: 'text', metadata: { page: 1 } }),
    new Date(0),
    new Map([['a', new Set([1])]]),
    new Uint8Array([1, 2]),
    { at: new Date(1), deep: [new Map([[1, 2]])] },
  ]),
  'map and reduce': mapReduce,
  'sends by a command': sentByCommand,
  'a node sends to itself': sentOnAndOn,
  'each of three sends asks': eachAsks,
  'each of three sends asks, answered one by one': { ...eachAsks, oneByOne: true },
};
