import { unstable_createLangGraphStream, useLangGraphMessages } from '@assistant-ui/react-langgraph';
import type { BaseMessage } from '@langchain/core/messages';
import { Client, type Message } from '@langchain/langgraph-sdk';
import { useStream } from '@langchain/langgraph-sdk/react';
import { useMessageMetadata, useStream as useThreadStream } from '@langchain/react';
import { describe, expect, vi } from 'vitest';
import { QUESTION } from '../programs/graphs.ts';
import { test } from '../support/fixtures.ts';
import { mount } from '../support/mount.ts';

// Pages as people write them: the hooks of the stock clients, pinned, over HTTP.

interface Post extends Record<string, unknown> {
  messages: Message[];
  url?: string | null;
}
const human = (content: string) => ({ type: 'human' as const, content });
/** Shown before all of it had come. */
const isPartOf = (text: string, whole: string): boolean =>
  text !== '' && text !== whole && whole.startsWith(text);
const PUBLISHED = 'https://posts.example/1';

describe('useStream of @langchain/langgraph-sdk', () => {
  test('shows the question of a gate, and a yes publishes once', async ({ served, onTestFinished }) => {
    const page = await mount(() => useStream<Post>({ apiUrl: served.url, assistantId: 'post' }));
    onTestFinished(page.unmount);
    await page.now.submit({ messages: [human('hi')] } as never);
    const asked = await page.until(({ interrupt }) => interrupt !== undefined, 'the question');
    expect(asked.interrupt?.value).toEqual({ question: QUESTION, draft: 'the first draft' });
    expect(asked.messages.map(({ type, content }) => [type, content])).toEqual([
      ['human', 'hi'],
      ['ai', 'the first draft'],
    ]);

    await page.now.submit(undefined, { command: { resume: true } });
    const done = await page.until((now) => !now.isLoading && now.values.url != null, 'the address');
    expect(done.values.url).toBe(PUBLISHED);
    expect(done.interrupt).toBeUndefined();
    expect(served.calls).toEqual(['model', 'published the first draft']);
  });

  test('streams the words of a model as they come, and has the turns after a reload', async ({
    served,
    onTestFinished,
  }) => {
    const seen = new Set<string>();
    let threadId: string | null = null;
    const options = {
      apiUrl: served.url,
      assistantId: 'chat',
      onThreadId: (id: string) => {
        threadId = id;
      },
    };
    const page = await mount(() => {
      const stream = useStream<Post>(options);
      for (const { type, content } of stream.messages) if (type === 'ai') seen.add(String(content));
      return stream;
    });
    onTestFinished(page.unmount);
    await page.now.submit({ messages: [human('hi')] } as never);
    await page.until((now) => !now.isLoading && now.messages.length === 2, 'the answer');
    expect([...seen].filter((text) => isPartOf(text, 'hello to you'))).not.toEqual([]);
    await page.now.submit({ messages: [human('again')] } as never);
    await page.until((now) => !now.isLoading && now.messages.length === 4, 'the second answer');

    const later = await mount(() => useStream<Post>({ ...options, threadId }));
    onTestFinished(later.unmount);
    const { messages } = await later.until((now) => now.messages.length === 4, 'both turns');
    expect(messages.map(({ content }) => content)).toEqual([
      'hi',
      'hello to you',
      'again',
      'hello once more',
    ]);
  });

  test('a message that is sent while the question waits is an error, and answers nothing', async ({
    served,
    onTestFinished,
  }) => {
    // It prints every error, too.
    const error = vi.spyOn(console, 'error').mockReturnValue();
    onTestFinished(() => error.mockRestore());
    const page = await mount(() => useStream<Post>({ apiUrl: served.url, assistantId: 'post' }));
    onTestFinished(page.unmount);
    await page.now.submit({ messages: [human('hi')] } as never);
    await page.until(({ interrupt }) => interrupt !== undefined, 'the question');
    await page.now.submit({ messages: [human('publish nothing yet')] } as never).catch(() => {});
    await page.until((now) => now.error !== undefined, 'the refusal');
    const { gates } = await served.apps.post.openGates();
    expect(gates[0]?.artifact).toEqual({ question: QUESTION, draft: 'the first draft' });
    expect(served.calls).toEqual(['model']);
  });
});

describe('useStream of @langchain/react', () => {
  const textsOf = (messages: readonly BaseMessage[]) => messages.map(({ type, text }) => [type, text]);

  test('shows the question of a gate, and respond() publishes once', async ({ served, onTestFinished }) => {
    const page = await mount(() => useThreadStream<Post>({ apiUrl: served.url, assistantId: 'post' }));
    onTestFinished(page.unmount);
    void page.now.submit({ messages: [human('hi')] } as never);
    const asked = await page.until(({ interrupt }) => interrupt !== undefined, 'the question');
    expect(asked.interrupt?.value).toEqual({ question: QUESTION, draft: 'the first draft' });
    await page.until(({ messages }) => messages.length === 2, 'the draft');
    expect(textsOf(page.now.messages)).toEqual([
      ['human', 'hi'],
      ['ai', 'the first draft'],
    ]);

    await page.now.respond(true);
    await page.until((now) => !now.isLoading && now.values['url'] === PUBLISHED, 'the address');
    expect(page.now.interrupts).toEqual([]);
    expect(served.calls).toEqual(['model', 'published the first draft']);
  });

  test('a message that is sent while the question waits answers nothing', async ({
    served,
    onTestFinished,
  }) => {
    const page = await mount(() => useThreadStream<Post>({ apiUrl: served.url, assistantId: 'post' }));
    onTestFinished(page.unmount);
    void page.now.submit({ messages: [human('hi')] } as never);
    // The page has heard of both: a person does not send within the same milliseconds.
    await page.until(({ interrupt, isLoading }) => interrupt !== undefined && !isLoading, 'the question');
    void page.now.submit({ messages: [human('publish nothing yet')] } as never).catch(() => {});
    await page.until(({ error }) => error !== undefined, 'the refusal');
    expect((await served.apps.post.openGates()).gates).toHaveLength(1);
    expect(served.calls).toEqual(['model']);
  });

  test('goes on over turns, word by word, and knows where a message can be edited', async ({
    served,
    onTestFinished,
  }) => {
    const seen = new Set<string>();
    let editedAt: string | undefined;
    const page = await mount(() => {
      const stream = useThreadStream<Post>({ apiUrl: served.url, assistantId: 'chat' });
      for (const { type, text } of stream.messages) if (type === 'ai') seen.add(text);
      // The checkpoint before the first one with the message; this release of the client puts later ones in its place.
      const at = useMessageMetadata(stream, stream.messages[2]?.id);
      editedAt ??= at?.parentCheckpointId;
      return stream;
    });
    onTestFinished(page.unmount);
    await page.now.submit({ messages: [human('hi')] } as never);
    await page.until((now) => !now.isLoading && now.messages.length === 2, 'the answer');
    await page.now.submit({ messages: [human('again')] } as never);
    await page.until((now) => !now.isLoading && now.messages.length === 4, 'the second answer');
    expect(textsOf(page.now.messages).map(([, text]) => text)).toEqual([
      'hi',
      'hello to you',
      'again',
      'hello once more',
    ]);
    const parts = [...seen].filter(
      (text) => isPartOf(text, 'hello to you') || isPartOf(text, 'hello once more'),
    );
    expect(parts).not.toEqual([]);

    // The checkpoint that takes the second message in.
    const at = { checkpointId: editedAt ?? '' };
    const { values, next } = await served.apps.chat.getState(page.now.threadId ?? '', at);
    expect([values.messages.length, next]).toEqual([2, ['__start__']]);
  });
});

describe('useLangGraphMessages of @assistant-ui/react-langgraph', () => {
  test('shows the question of a gate, and a command answers it', async ({ served, onTestFinished }) => {
    // It prints that it does not know one of the events of the mode that it asks for.
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    onTestFinished(() => warn.mockRestore());
    const client = new Client({ apiUrl: served.url, apiKey: null });
    const { thread_id } = await client.threads.create();
    const over = unstable_createLangGraphStream({ client: client as never, assistantId: 'post' });
    const initialize = () => Promise.resolve({ remoteId: thread_id, externalId: thread_id });
    const page = await mount(() =>
      useLangGraphMessages<{ id?: string; type: string; content: unknown }>({
        // Its own way to a thread needs the runtime's provider.
        stream: (messages, config) => over(messages as never, { ...config, initialize }) as never,
      }),
    );
    onTestFinished(page.unmount);
    await page.now.sendMessage([human('hi')], {});
    const asked = await page.until(({ interrupt }) => interrupt !== undefined, 'the question');
    expect(asked.interrupt?.value).toEqual({ question: QUESTION, draft: 'the first draft' });
    expect(asked.messages.map(({ type }) => type)).toEqual(['human', 'ai']);

    await page.now.sendMessage([], { command: { resume: true as never } });
    await page.until(({ interrupt }) => interrupt === undefined, 'the end');
    expect((await client.threads.getState<Post>(thread_id)).values.url).toBe(PUBLISHED);
    expect(served.calls).toEqual(['model', 'published the first draft']);
  });
});
