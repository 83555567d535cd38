import type { BaseEvent } from '@ag-ui/client';
import { LangGraphAgent } from '@ag-ui/langgraph';
import { LangSmithDeploymentTransport } from '@ai-sdk/langchain';
import { RemoteGraph } from '@langchain/langgraph/remote';
import type { UIMessage, UIMessageChunk } from 'ai';
import { describe, expect } from 'vitest';
import { QUESTION } from '../programs/graphs.ts';
import { test } from '../support/fixtures.ts';

describe("AG-UI's agent, which CopilotKit uses", () => {
  test('gets words, the question, and the answer is taken by its id', async ({ served }) => {
    const agent = new LangGraphAgent({
      deploymentUrl: served.url,
      graphId: 'post',
      emitInterruptOutcome: true,
    });
    agent.threadId = crypto.randomUUID();
    agent.messages = [{ id: 'm1', role: 'user', content: 'hi' }];
    const events: BaseEvent[] = [];
    const subscriber = { onEvent: ({ event }: { event: BaseEvent }) => void events.push(event) };
    await agent.runAgent({}, subscriber);
    const types = events.map(({ type }) => String(type));
    expect(types).toEqual(
      expect.arrayContaining(['RUN_STARTED', 'TEXT_MESSAGE_CONTENT', 'STATE_SNAPSHOT', 'RUN_FINISHED']),
    );
    const finished = events.at(-1) as BaseEvent & {
      readonly outcome?: { readonly interrupts?: readonly { readonly id: string }[] };
    };
    const interruptId = finished.outcome?.interrupts?.[0]?.id;
    expect(JSON.stringify(finished)).toContain(QUESTION);
    expect(interruptId).toBeDefined();

    events.length = 0;
    await agent.runAgent(
      { resume: [{ interruptId: interruptId ?? '', status: 'resolved', payload: true }] },
      subscriber,
    );
    expect(events.at(-1)?.type).toBe('RUN_FINISHED');
    expect(agent.state).toMatchObject({ url: 'https://posts.example/1' });
    expect(served.calls).toEqual(['model', 'published the first draft']);
  });
});

describe('RemoteGraph of @langchain/langgraph', () => {
  test('is called and streamed like a graph of this process', async ({ served }) => {
    const echo = new RemoteGraph({ graphId: 'echo', url: served.url });
    expect(await echo.invoke({ text: 'hello' })).toMatchObject({ text: 'hello', said: ['hello'] });
    const steps = new RemoteGraph({ graphId: 'steps', url: served.url });
    const chunks: unknown[] = [];
    for await (const chunk of await steps.stream({ text: 'x' }, { streamMode: 'updates' }))
      chunks.push(chunk);
    expect(chunks).toEqual([
      { one: { said: ['one'] } },
      { two: { said: ['two'] } },
      { three: { said: ['three'] } },
    ]);
  });

  test('has the state of a thread; at a question it throws, as against every server', async ({ served }) => {
    const post = new RemoteGraph({ graphId: 'post', url: served.url });
    const thread_id = crypto.randomUUID();
    await served.apps.post.create(thread_id);
    const config = { configurable: { thread_id } };
    await expect(post.invoke({ messages: [{ type: 'human', content: 'hi' }] }, config)).rejects.toThrow(
      QUESTION,
    );
    const { next, tasks } = await post.getState(config);
    expect(next).toEqual(['publish']);
    expect(tasks.flatMap(({ interrupts }) => interrupts)).toMatchObject([
      { value: { question: QUESTION, draft: 'the first draft' } },
    ]);
    expect(served.calls).toEqual(['model']);
  });
});

describe("the AI SDK's transport", () => {
  async function chunksOf(url: string, graphId: string): Promise<readonly UIMessageChunk[]> {
    const transport = new LangSmithDeploymentTransport<UIMessage>({ graphId, url });
    const stream = await transport.sendMessages({
      trigger: 'submit-message',
      chatId: crypto.randomUUID(),
      messageId: undefined,
      messages: [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'hi' }] }],
      abortSignal: undefined,
    });
    const chunks: UIMessageChunk[] = [];
    for await (const chunk of stream as unknown as AsyncIterable<UIMessageChunk>) chunks.push(chunk);
    return chunks;
  }
  const textOf = (chunks: readonly UIMessageChunk[]): readonly string[] =>
    chunks.flatMap((chunk) => (chunk.type === 'text-delta' ? [chunk.delta] : []));

  test('gets the words of a model', async ({ served }) => {
    const chunks = await chunksOf(served.url, 'chat');
    expect(textOf(chunks)).toEqual(['hello', ' to', ' you']);
    expect(chunks.at(-1)?.type).toBe('finish');
  });

  test('ends in an error at a question, which is its own limit, and publishes nothing', async ({
    served,
  }) => {
    const chunks = await chunksOf(served.url, 'post');
    expect(textOf(chunks).join('')).toBe('the first draft');
    expect(chunks.at(-1)?.type).toBe('error');
    expect(served.calls).toEqual(['model']);
  });
});
