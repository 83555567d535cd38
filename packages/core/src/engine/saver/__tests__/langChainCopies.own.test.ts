import { createRequire } from 'node:module';
import * as ofModules from '@langchain/core/messages';
import { describe, expect } from 'vitest';
import { test } from '../../../../test/support/fixtures.ts';
import { createDatabase } from '../../../db/createDatabase.ts';
import { durable } from '../../app/durable.ts';
import { foldUpdate } from '../../node/nodeOutput.ts';
import { StrictSerde } from '../StrictSerde.ts';

// A file of its own: from the first graph of a CommonJS module on, values of this process are instances of its LangChain.

const require = createRequire(import.meta.url);
const { Annotation, END, interrupt, MessagesAnnotation, START, StateGraph } =
  require('@langchain/langgraph') as typeof import('@langchain/langgraph');
const { AIMessage, HumanMessage } = require('@langchain/core/messages') as typeof ofModules;
const { Document } = require('@langchain/core/documents') as typeof import('@langchain/core/documents');

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  sources: Annotation<InstanceType<typeof Document>[]>({
    reducer: (a, b) => [...a, ...b],
    default: () => [],
  }),
  empty: Annotation<string>(),
  were: Annotation<boolean[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
});

const graph = () =>
  new StateGraph(State)
    .addNode('find', ({ messages }) => ({
      messages: [
        new AIMessage('found'),
        new ofModules.ToolMessage({ content: 'of the engine', tool_call_id: 'c' }),
      ],
      sources: [new Document({ pageContent: 'a page', metadata: { at: new Date(0) } })],
      were: messages.map((message) => message.constructor === HumanMessage),
    }))
    .addNode('ask', ({ messages, sources }) => {
      const answer: string = interrupt({ sources, last: messages.at(-1) });
      const were = [
        messages[1]?.constructor === AIMessage,
        sources.every((source) => source.constructor === Document),
      ];
      return { messages: [new AIMessage(answer)], were };
    })
    .addEdge(START, 'find')
    .addEdge('find', 'ask')
    .addEdge('ask', END);

describe('a graph of a CommonJS program', () => {
  test('has reducers', () => {
    const { BinaryOperatorAggregate } =
      require('@langchain/langgraph') as typeof import('@langchain/langgraph');
    const log = new BinaryOperatorAggregate<string[]>(
      (a, b) => [...a, ...b],
      () => [],
    );
    expect(foldUpdate({ log }, { log: ['a'] }, [['log', ['b']]])).toEqual({ log: ['a', 'b'] });
  });

  test('has messages and documents of its own LangChain, in each process', async ({ dbPath }) => {
    const ofCommonJs = new HumanMessage('hi');
    expect(ofCommonJs.constructor).not.toBe(ofModules.HumanMessage);
    const serde = new StrictSerde();
    await expect(serde.dumpsTyped(ofCommonJs)).rejects.toThrow('a HumanMessage of another copy');

    const open = () => durable(graph(), { db: createDatabase({ dbPath }) });
    const { gates } = await open().run('r', { messages: [{ role: 'user', content: 'hi' }] as never });
    expect(gates[0]?.artifact).toMatchObject({
      sources: [{ document: { pageContent: 'a page' } }],
      last: { tool: { content: 'of the engine' } },
    });
    const app = open();
    const [gate] = await app.gates('r');
    if (gate !== undefined) await app.decide(gate, { value: 'yes', by: { kind: 'human', id: 'ada' } });
    const { status, values } = await app.run('r');
    expect([status, values?.were]).toEqual(['completed', [true, true, true]]);
    const { ToolMessage } = require('@langchain/core/messages') as typeof ofModules;
    expect(values?.messages.map((message) => [message.constructor, message.text])).toEqual([
      [HumanMessage, 'hi'],
      [AIMessage, 'found'],
      [ToolMessage, 'of the engine'],
      [AIMessage, 'yes'],
    ]);
    class Own extends HumanMessage {}
    await expect(serde.dumpsTyped(new Own('x'))).rejects.toMatchObject({ code: 'VALUE_NOT_STORABLE' });
  });
});
