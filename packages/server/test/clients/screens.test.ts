import { describe, expect } from 'vitest';
import { QUESTION } from '../programs/graphs.ts';
import { test } from '../support/fixtures.ts';

// Agent Chat UI and Agent Inbox are pages of Next.js, and not on the registry: this client sends what they send, in their order.

interface Thread {
  readonly thread_id: string;
  readonly status: string;
  readonly values?: Readonly<Record<string, unknown>>;
  readonly interrupts?: Readonly<
    Record<string, readonly { readonly id?: string; readonly value: unknown }[]>
  >;
}
interface State {
  readonly values: Readonly<Record<string, unknown>>;
  readonly next: readonly string[];
  readonly tasks: readonly {
    readonly interrupts: readonly { readonly id: string; readonly value: unknown }[];
  }[];
  readonly checkpoint: { readonly checkpoint_id: string };
  readonly parent_checkpoint: { readonly checkpoint_id: string } | null;
}

function clientOf(url: string) {
  const send = async (method: string, path: string, body?: object) => {
    const init = body === undefined ? {} : { body: JSON.stringify(body) };
    return fetch(url + path, { method, headers: { 'content-type': 'application/json' }, ...init });
  };
  const json = async <Body>(method: string, path: string, body?: object): Promise<Body> => {
    const response = await send(method, path, body);
    expect(response.ok, `${method} ${path}: ${response.status} ${await response.clone().text()}`).toBe(true);
    return (await response.json()) as Body;
  };
  return { send, json };
}

/** The names of the events of a stream. */
const eventsOf = (text: string): readonly string[] =>
  [...text.matchAll(/^event: ?(.*)$/gm)].flatMap(([, name]) => name ?? []);

describe('what Agent Chat UI sends', () => {
  test('a look at the server, a thread, a stream, a list, a page that comes back, an answer', async ({
    served,
  }) => {
    const { send, json } = clientOf(served.url);
    expect((await send('GET', '/info')).ok).toBe(true);
    expect(await json('POST', '/assistants/search', { limit: 10, offset: 0 })).toEqual(
      expect.arrayContaining([expect.objectContaining({ graph_id: 'post' })]),
    );
    const { thread_id } = await json<Thread>('POST', '/threads', { metadata: {} });
    const streamed = await send('POST', `/threads/${thread_id}/runs/stream`, {
      assistant_id: 'post',
      input: { messages: [{ id: 'm1', type: 'human', content: [{ type: 'text', text: 'hi' }] }] },
      stream_mode: ['values', 'messages-tuple', 'updates'],
      stream_subgraphs: true,
      stream_resumable: true,
      on_disconnect: 'continue',
    });
    expect(streamed.headers.get('content-type')).toContain('text/event-stream');
    expect(streamed.headers.get('content-location')).toMatch(
      new RegExp(`^/threads/${thread_id}/runs/[^/]+$`),
    );
    expect(streamed.headers.get('location')).toContain('/stream');
    const names = eventsOf(await streamed.text());
    expect(names[0]).toBe('metadata');
    expect(new Set(names)).toEqual(new Set(['metadata', 'values', 'messages', 'updates']));

    // The list at the side, which is by the assistant.
    const listed = await send('POST', '/threads/search', {
      metadata: { graph_id: 'post' },
      limit: 100,
    });
    expect(listed.headers.get('x-pagination-total')).toBe('1');
    expect(await listed.json()).toMatchObject([{ thread_id, status: 'interrupted' }]);

    const history = await json<readonly State[]>('POST', `/threads/${thread_id}/history`, { limit: 1000 });
    expect(history[0]?.tasks[0]?.interrupts[0]?.value).toEqual({
      question: QUESTION,
      draft: 'the first draft',
    });
    const run = streamed.headers.get('content-location') ?? '';
    expect(await json(`GET`, run)).toMatchObject({
      thread_id,
      status: expect.stringMatching(/success|interrupted/),
    });
    // As it comes back: to where the answer said.
    const location = new URL(streamed.headers.get('location') ?? '', served.url);
    const again = await fetch(location, { headers: { 'last-event-id': '-1' } });
    expect(eventsOf(await again.text()).filter((name) => name !== 'messages')).toEqual(
      names.filter((name) => name !== 'messages'),
    );

    const answered = await send('POST', `/threads/${thread_id}/runs/stream`, {
      assistant_id: 'post',
      input: null,
      command: { resume: true },
      stream_mode: ['values'],
    });
    expect(eventsOf(await answered.text()).at(-1)).toBe('values');
    expect((await json<State>('GET', `/threads/${thread_id}/state`)).values).toMatchObject({
      url: 'https://posts.example/1',
    });
    expect(served.calls).toEqual(['model', 'published the first draft']);
  });

  test('stop, edit of an earlier message by a fork, and a thread that is thrown away', async ({ served }) => {
    const { send, json } = clientOf(served.url);
    const { thread_id } = await json<Thread>('POST', '/threads', {});
    const wait = `/threads/${thread_id}/runs/wait`;
    const say = (content: string, more: object = {}) =>
      json<State['values']>('POST', wait, {
        assistant_id: 'chat',
        input: { messages: [{ type: 'human', content }] },
        ...more,
      });
    await say('hi');
    await say('again');
    const history = await json<readonly State[]>('POST', `/threads/${thread_id}/history`, { limit: 100 });
    // As a page does: from before the state that has the message first.
    const first = history.findLast(({ values }) => (values['messages'] as readonly unknown[]).length === 3);
    const { messages } = await say('else', { checkpoint: first?.parent_checkpoint });
    expect((messages as readonly { readonly content: string }[]).map(({ content }) => content)).toEqual([
      'hi',
      'hello to you',
      'else',
      'hello once more',
    ]);
    expect((await send('DELETE', `/threads/${thread_id}`)).status).toBe(204);
    expect((await send('GET', `/threads/${thread_id}`)).status).toBe(404);
  });
});

describe('what Agent Inbox sends', () => {
  async function inbox(url: string, assistant_id: 'agent' | 'declared' = 'agent') {
    const { send, json } = clientOf(url);
    const { thread_id } = await json<Thread>('POST', '/threads', {});
    await json('POST', `/threads/${thread_id}/runs/wait`, {
      assistant_id,
      input: { messages: [{ type: 'human', content: 'mail ada' }], text: 'say it' },
    });
    const found = await json<readonly Thread[]>('POST', '/threads/search', {
      status: 'interrupted',
      limit: 10,
      offset: 0,
      sort_by: 'created_at',
      sort_order: 'desc',
    });
    const [thread] = found;
    const [interrupt] = Object.values(thread?.interrupts ?? {}).flat();
    return { send, json, thread_id, found, interrupt };
  }

  test('a list of what waits, the question, a decision', async ({ served }) => {
    const { json, thread_id, found, interrupt } = await inbox(served.url);
    expect(found.map((thread) => thread.thread_id)).toEqual([thread_id]);
    expect(interrupt?.value).toMatchObject({
      // As LangChain.js writes it.
      actionRequests: [{ name: 'send_mail', args: { to: 'ada' } }],
      reviewConfigs: [{ actionName: 'send_mail' }],
      // As Agent Chat UI, Deep Agents UI and Agent Inbox read it.
      action_requests: [{ name: 'send_mail', args: { to: 'ada' } }],
      review_configs: [{ action_name: 'send_mail', allowed_decisions: ['approve', 'edit', 'reject'] }],
      action_request: { action: 'send_mail', args: { to: 'ada' } },
      config: { allow_accept: true, allow_edit: true, allow_respond: true, allow_ignore: true },
    });
    expect((await json<State>('GET', `/threads/${thread_id}/state`)).next).toHaveLength(1);
    await json('POST', `/threads/${thread_id}/runs`, {
      assistant_id: 'agent',
      command: { resume: { decisions: [{ type: 'approve' }] } },
    });
    await expect.poll(async () => (await json<Thread>('GET', `/threads/${thread_id}`)).status).toBe('idle');
    expect(served.calls).toEqual(['model', 'mail to ada', 'model']);
  });

  test.for([
    [
      'a decision in the name of Python',
      { decisions: [{ type: 'edit', edited_action: { name: 'send_mail', args: { to: 'eve' } } }] },
      ['mail to eve'],
    ],
    ['an edit', [{ type: 'edit', args: { action: 'send_mail', args: { to: 'eve' } } }], ['mail to eve']],
    ['a yes', [{ type: 'accept', args: null }], ['mail to ada']],
    ['a text', [{ type: 'response', args: 'not now' }], []],
    ['a no', [{ type: 'ignore', args: null }], []],
  ] as const)("%s answers LangChain's middleware", async ([, resume, mails], { served }) => {
    const { json, thread_id } = await inbox(served.url);
    await json('POST', `/threads/${thread_id}/runs/wait`, { assistant_id: 'agent', command: { resume } });
    expect(served.calls).toEqual(['model', ...mails, 'model']);
  });

  test("an answer that LangChain's middleware would throw at is refused, and the question stays", async ({
    served,
  }) => {
    const { send, json, thread_id, interrupt } = await inbox(served.url);
    const refused = await send('POST', `/threads/${thread_id}/runs`, {
      assistant_id: 'agent',
      command: { resume: 'publish nothing yet' },
    });
    expect(refused.status).toBe(422);
    const { interrupts } = await json<Thread>('GET', `/threads/${thread_id}`);
    expect(Object.values(interrupts ?? {}).flat()).toEqual([interrupt]);
    expect(served.calls).toEqual(['model']);
  });

  test('ignore: it ends, nothing is sent, and who did it is known', async ({ served }) => {
    const { send, json, thread_id } = await inbox(served.url);
    const ignored = await send('POST', `/threads/${thread_id}/state`, { values: null, as_node: '__end__' });
    expect(ignored.status).toBe(200);
    await expect
      .poll(async () => (await json<Thread>('GET', `/threads/${thread_id}`)).status)
      .not.toMatch(/busy|interrupted/);
    expect(served.calls.filter((call) => call.startsWith('mail'))).toEqual([]);
  });

  test.for([
    ['decisions', { decisions: [{ type: 'approve' }] }, ['echo say it']],
    ['a response of the older form', [{ type: 'accept', args: null }], ['echo say it']],
    ['a rejection', { decisions: [{ type: 'reject', message: 'not now' }] }, []],
  ] as const)(
    'a gate that the app declares has both forms of a question, and takes %s',
    async ([, resume, calls], { served }) => {
      const { json, thread_id, interrupt } = await inbox(served.url, 'declared');
      expect(interrupt?.value).toMatchObject({
        action_requests: [{ args: { text: 'say it' } }],
        review_configs: [{ allowed_decisions: expect.arrayContaining(['approve', 'reject']) }],
        action_request: { args: { text: 'say it' } },
        config: { allow_accept: true },
      });
      await json('POST', `/threads/${thread_id}/runs/wait`, {
        assistant_id: 'declared',
        command: { resume: { [interrupt?.id ?? '']: resume } },
      });
      expect(served.calls).toEqual(calls);
    },
  );
});
