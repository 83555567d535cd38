import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessage, type BaseMessage, ToolMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import {
  InMemoryStore,
  type LangGraphRunnableConfig,
  MemorySaver,
  START,
  StateGraph,
} from '@langchain/langgraph';
import { createReactAgent } from '@langchain/langgraph/prebuilt';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { test } from '../../../test/support/fixtures.ts';
import { only } from '../../../test/support/only.ts';
import { durable } from '../app/durable.ts';
import { ada, OwnState, twoSteps } from './ownGraph.ts';

/** Calls its tool once, then answers. */
class OneCallModel extends BaseChatModel {
  _llmType(): string {
    return 'one-call';
  }
  override bindTools(): this {
    return this;
  }
  async _generate(messages: BaseMessage[]) {
    const result = messages.find((message) => message instanceof ToolMessage);
    const message =
      result === undefined
        ? new AIMessage({
            id: 'ask',
            content: '',
            tool_calls: [{ id: 'call', name: 'weather', args: { city: 'SF' } }],
          })
        : new AIMessage({ id: 'answer', content: `It is ${String(result.content)}.` });
    return { generations: [{ text: message.text, message }] };
  }
}

const weather = tool(({ city }) => `sunny in ${city}`, {
  name: 'weather',
  description: 'Tells the weather.',
  schema: z.object({ city: z.string() }),
});

describe('a compiled graph', () => {
  test('is taken by its builder, with its store and name', async ({ db }) => {
    const store = new InMemoryStore();
    await store.put(['words'], 'one', { text: 'stored' });
    const compiled = new StateGraph(OwnState)
      .addNode('only', async (_state, config) => {
        const item = await config.store?.get(['words'], 'one');
        return { log: [String(item?.value['text'])] };
      })
      .addEdge(START, 'only')
      .compile({ checkpointer: new MemorySaver(), store, name: 'reader', description: 'Reads.' });
    const app = durable(compiled, { db });
    expect(await app.run('run', {})).toMatchObject({ status: 'completed', values: { log: ['stored'] } });
    expect(app.graph.name).toBe('reader');
    expect(app.graph.description).toBe('Reads.');
  });

  test('has the same fingerprint as its builder', ({ db }) => {
    const builder = twoSteps();
    expect(durable(builder.compile(), { db }).fingerprint).toBe(durable(builder, { db }).fingerprint);
  });

  test('keeps the configuration that it was given', async ({ db }) => {
    const compiled = new StateGraph(OwnState)
      .addNode('only', (_state, { configurable, metadata }: LangGraphRunnableConfig) => ({
        log: [String(configurable?.['city']), String(metadata?.['from'])],
      }))
      .addEdge(START, 'only')
      .compile()
      .withConfig({ configurable: { city: 'SF' }, metadata: { from: 'a test' } });
    expect(await durable(compiled, { db }).run('run', {})).toMatchObject({
      values: { log: ['SF', 'a test'] },
    });
  });

  test('that stops before a node asks once where that node has a gate', async ({ db }) => {
    const compiled = twoSteps().compile({ interruptBefore: ['second'] });
    const app = durable(compiled, { db, gates: { second: ({ log }) => log } });
    const { gates } = await app.run('run', {});
    expect(only(gates)).toMatchObject({ kind: 'node_gate', artifact: ['first'] });
    await app.decide(only(gates), { approved: true, by: ada });
    expect(await app.run('run')).toMatchObject({ status: 'completed', values: { log: ['first', 'second'] } });
  });

  test('of a prebuilt agent answers as it does by LangGraph', async ({ db }) => {
    const agent = createReactAgent({ llm: new OneCallModel({}), tools: [weather], name: 'forecaster' });
    const input = { messages: [{ role: 'user', content: 'How is the weather?' }] };
    const told = (messages: readonly BaseMessage[]) => messages.map(({ type, content }) => [type, content]);
    const plain = await agent.invoke(input);
    const own = await durable(agent, { db }).run('run', input as never);
    expect(own.status).toBe('completed');
    expect(told((own.values as typeof plain).messages)).toEqual(told(plain.messages));
    expect(told(plain.messages).at(-1)).toEqual(['ai', 'It is sunny in SF.']);
    expect((own.values as typeof plain).messages.at(-1)).toBeInstanceOf(AIMessage);
  });
});

describe('an object that has an agent as its graph', () => {
  test('is taken by that, with its breakpoints', async ({ db }) => {
    const agent = { graph: twoSteps().compile({ interruptAfter: ['first'] }), options: {} };
    const app = durable(agent, { db });
    const { gates } = await app.run('run', {});
    expect(only(gates)).toMatchObject({ kind: 'interrupt', artifact: { breakpoint: { when: 'after' } } });
    await app.decide(only(gates), { value: null, by: ada });
    expect(await app.run('run')).toMatchObject({ status: 'completed', values: { log: ['first', 'second'] } });
  });
});

describe('what is no graph', () => {
  test('is refused', ({ db }) => {
    for (const nothing of [undefined, null, 'text', {}, () => {}]) {
      expect(() => durable(nothing as never, { db })).toThrow(
        'Expected a StateGraph, compiled or not, or an entrypoint.',
      );
    }
  });
});
