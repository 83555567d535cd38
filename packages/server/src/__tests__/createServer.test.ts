import type { Principal } from '@devs/core';
import { durable } from '@devs/core/langgraph';
import { Annotation, END, interrupt, START, StateGraph } from '@langchain/langgraph';
import { test as base, expect, vi } from 'vitest';
import { makeStateFile, test as withFile } from '../../../core/test/support/fixtures.ts';
import type { Authorize } from '../access/Access.ts';
import { createServer, type ServerHandler, type ServerOptions } from '../createServer.ts';

const State = Annotation.Root({ topic: Annotation<string>(), ok: Annotation<unknown>() });
const echoGraph = new StateGraph(State)
  .addNode('echo', ({ topic }) => ({ ok: topic }))
  .addEdge(START, 'echo')
  .addEdge('echo', END);
const askGraph = new StateGraph(State)
  .addNode('ask', () => ({ ok: interrupt({ sure: true }) }))
  .addEdge(START, 'ask')
  .addEdge('ask', END);

const ADA: Principal = { kind: 'human', id: 'ada' };
const HOST = 'api.example.org';
const OWN: Authorize = ({ kind, id }, _action, run) => run === null || run.owner['by'] === `${kind}:${id}`;

interface Api {
  readonly handler: ServerHandler;
  readonly apps: ServerOptions['apps'];
  /** Asks as somebody, and reads the JSON of the answer. */
  ask(
    method: string,
    path: string,
    body?: unknown,
    as?: string,
  ): Promise<{ readonly status: number; readonly body: never }>;
}

interface Fixtures {
  readonly start: (options?: Partial<ServerOptions>) => Api;
}

const test = withFile.extend<Fixtures>({
  start: async ({ dbPath }, use) => {
    makeStateFile(dbPath);
    const apps = {
      echo: durable(echoGraph, {
        ...{ file: dbPath, name: 'echo', store: 'file' },
        webhooks: { team: { url: 'http://127.0.0.1:9/', secret: 'a secret of the receiver', events: [] } },
      }),
      ask: durable(askGraph, { file: dbPath, name: 'ask', store: 'file' }),
    };
    const handlers: ServerHandler[] = [];
    await use((options = {}) => {
      const identify = ({ headers }: Request): Principal | null => {
        const id = headers.get('x-person');
        return id === null ? null : { kind: id === 'bot' ? 'agent' : 'human', id };
      };
      const handler = createServer({ apps, identify, authorize: OWN, hosts: [HOST], work: true, ...options });
      handlers.push(handler);
      return { handler, apps, ask: askWith(handler) };
    });
    for (const handler of handlers) await handler.close();
    for (const app of Object.values(apps)) app.close();
  },
});

const askWith =
  (handler: ServerHandler): Api['ask'] =>
  async (method, path, body, as = 'ada') => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const init = { method, headers: { 'x-person': as }, ...(body !== undefined && { body: text }) };
    const response = await handler(new Request(`https://${HOST}${path}`, init));
    const answer = await response.text();
    return { status: response.status, body: (answer === '' ? null : JSON.parse(answer)) as never };
  };

base('options that do not fit are refused when the server is created', () => {
  const app = durable(echoGraph, { file: ':memory:', name: 'echo' });
  const identify = () => ADA;
  const good = { apps: { echo: app }, identify, authorize: () => true, hosts: [HOST] };
  expect(() => createServer({ ...good, apps: {} })).toThrow('at least one app');
  expect(() => createServer({ ...good, hosts: [] })).toThrow('`hosts`');
  expect(() => createServer({ ...good, authorize: undefined as never })).toThrow('`authorize`');
  expect(() => createServer({ ...good, identify: undefined as never })).toThrow('`identify`');
  expect(() => createServer({ ...good, origin: ['https://a.example'] } as never)).toThrow(
    'unknown option "origin"',
  );
  app.close();
});

test('apps without names cannot share a file', ({ dbPath }) => {
  makeStateFile(dbPath);
  const apps = { a: durable(echoGraph, { file: dbPath }), b: durable(askGraph, { file: dbPath }) };
  expect(() => createServer({ apps, identify: () => ADA, authorize: () => true, hosts: [HOST] })).toThrow(
    '`name`',
  );
  for (const app of Object.values(apps)) app.close();
});

test('a request under another name, or of a page elsewhere, is refused before it is looked at', async ({
  start,
}) => {
  const { handler } = start({ origins: ['https://chat.example.org'] });
  const sent = (url: string, headers: Record<string, string>) =>
    handler(new Request(url, { headers: { 'x-person': 'ada', ...headers } }));
  const info = `https://${HOST}/info`;
  expect((await sent('https://evil.example/info', {})).status).toBe(403);
  expect((await sent(info, { host: 'evil.example' })).status).toBe(403);
  expect((await sent(info, { origin: 'https://evil.example' })).status).toBe(403);
  expect((await sent(info, { origin: 'null' })).status).toBe(403);
  expect((await sent(info, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
  const answer = await sent(info, { origin: 'https://chat.example.org' });
  expect(answer.status).toBe(200);
  expect(answer.headers.get('access-control-allow-origin')).toBe('https://chat.example.org');
  expect((await sent(info, { origin: `https://${HOST}` })).status).toBe(200);
  const asked = await handler(
    new Request(info, { method: 'OPTIONS', headers: { origin: 'https://chat.example.org' } }),
  );
  expect(asked.status).toBe(204);
  expect((await handler(new Request(info))).status).toBe(401);
  expect((await handler(new Request(`https://${HOST}/ok`))).status).toBe(200);
});

test('a body that is too long, no JSON or has __proto__ is refused, and nothing is recorded', async ({
  start,
}) => {
  const { ask } = start({ limits: { bodyBytes: 1000 } });
  expect((await ask('POST', '/threads', { metadata: { text: 'x'.repeat(1000) } })).status).toBe(413);
  expect((await ask('POST', '/threads', '{"metadata":')).status).toBe(422);
  expect((await ask('POST', '/threads', '{"metadata":{"a":{"__proto__":{"b":1}}}}')).status).toBe(422);
  expect((await ask('POST', '/threads', '{"\\u005f_proto__":1}')).status).toBe(422);
  expect((await ask('POST', '/threads', { thread_id: 'a b' })).status).toBe(422);
  expect((await ask('POST', '/threads', { thread_id: 'a\u200bb' })).status).toBe(422);
  expect((await ask('POST', '/threads/search', {})).body).toEqual([]);
});

test('what is not offered is 501 with a sentence, before anything is recorded', async ({ start }) => {
  const { ask } = start();
  const echo = { assistant_id: 'echo', input: { topic: 'a' } };
  const refused: readonly (readonly [string, string, object?])[] = [
    ['GET', '/threads/t/stream/events'],
    ['POST', '/threads/t/stream/events', { channels: ['values', 'tasks'] }],
    ['POST', '/runs/batch', [] as object],
    ['POST', '/assistants', {}],
    ['POST', '/threads/t/copy', {}],
    ['PATCH', '/runs/crons/c', {}],
    ['POST', '/runs/crons', { ...echo, schedule: '* * * * *', on_run_completed: 'delete' }],
    ['POST', '/runs/crons', { ...echo, schedule: '* * * * *', enabled: false }],
    ['POST', '/runs', { ...echo, after_seconds: 5 }],
    ['POST', '/runs', { ...echo, interrupt_before: ['echo'] }],
    ['POST', '/runs', { ...echo, multitask_strategy: 'rollback' }],
  ];
  for (const [method, path, body] of refused) {
    const answer = await ask(method, path, body);
    expect(answer, path).toMatchObject({
      status: 501,
      body: { code: 'NOT_OFFERED', message: expect.stringMatching(/\.$/) },
    });
  }
  const inject = { id: 1, method: 'input.inject', params: { namespace: [], message: { content: 'hi' } } };
  expect((await ask('POST', '/threads/t/commands', inject)).body).toMatchObject({
    ...{ type: 'error', id: 1, error: 'not_supported', message: expect.stringMatching(/\.$/) },
  });
  expect((await ask('POST', '/threads/search', {})).body).toEqual([]);
  expect((await ask('GET', '/nowhere')).status).toBe(404);
});

test('a run that is sent twice is one run', async ({ start }) => {
  const { ask } = start();
  const run = { assistant_id: 'echo', input: { topic: 'once' }, if_not_exists: 'create', run_id: 'r1' };
  const both = await Promise.all([
    ask('POST', '/threads/t1/runs/wait', run),
    ask('POST', '/threads/t1/runs/wait', run),
  ]);
  expect(both.map(({ body }) => body)).toEqual([
    { topic: 'once', ok: 'once' },
    { topic: 'once', ok: 'once' },
  ]);
  expect((await ask('GET', '/threads/t1/runs')).body).toMatchObject([{ run_id: 'r1', status: 'success' }]);
  expect((await ask('POST', '/threads/t1/runs', { ...run, input: { topic: 'other' } })).status).toBe(422);
});

test('a run behind a question keeps nobody waiting, and begins when the question is answered', async ({
  start,
}) => {
  const { ask } = start();
  const run = { assistant_id: 'ask', input: { topic: 'first' }, if_not_exists: 'create', run_id: 'r1' };
  const asked = (await ask('POST', '/threads/t1/runs/wait', run)).body as { __interrupt__: { id: string }[] };
  const next = { ...run, input: { topic: 'next' }, run_id: 'r2' };
  expect((await ask('POST', '/threads/t1/runs/wait', next)).status).toBe(422);
  const queued = await ask('POST', '/threads/t1/runs/wait', { ...next, multitask_strategy: 'enqueue' });
  expect(queued.body).toMatchObject({ topic: 'first' });
  const runs = async () => (await ask('GET', '/threads/t1/runs')).body;
  expect(await runs()).toMatchObject([
    { run_id: 'r2', status: 'pending' },
    { run_id: 'r1', status: 'interrupted' },
  ]);
  const resume = { [asked.__interrupt__[0]?.id ?? '']: 'yes' };
  await ask('POST', '/threads/t1/runs/wait', { assistant_id: 'ask', command: { resume } });
  expect((await ask('GET', '/threads/t1/runs/r2/join')).body).toMatchObject({ topic: 'next' });
  expect(await runs()).toMatchObject([{ status: 'interrupted' }, { run_id: 'r1', status: 'success' }]);
});

test('threads are found by metadata, status and assistant, by their owner alone, in pages', async ({
  start,
}) => {
  const { ask } = start();
  for (const id of ['a', 'b', 'c'])
    await ask('POST', '/threads', { thread_id: id, metadata: { graph_id: 'echo', deep: { id } } });
  await ask('POST', '/threads', { thread_id: 'of-bob', metadata: { graph_id: 'echo' } }, 'bob');
  await ask('POST', '/threads/waits/runs/wait', {
    assistant_id: 'ask',
    input: { topic: 'x' },
    if_not_exists: 'create',
  });
  const ids = async (search: object, as?: string) =>
    ((await ask('POST', '/threads/search', search, as)).body as { thread_id: string }[]).map(
      (each) => each.thread_id,
    );
  expect((await ids({})).toSorted()).toEqual(['a', 'b', 'c', 'waits']);
  expect(await ids({ metadata: { deep: { id: 'b' } } })).toEqual(['b']);
  expect(await ids({ metadata: { graph_id: 'ask' } })).toEqual(['waits']);
  expect(await ids({ status: 'interrupted' })).toEqual(['waits']);
  expect(await ids({ status: 'idle', sort_by: 'thread_id', sort_order: 'asc', limit: 2, offset: 1 })).toEqual(
    ['b', 'c'],
  );
  expect(await ids({ ids: ['c', 'of-bob', 'none'] })).toEqual(['c']);
  expect(await ids({}, 'bob')).toEqual(['of-bob']);
  expect((await ask('POST', '/threads/count', { status: 'idle' })).body).toBe(3);
  expect((await ask('POST', '/threads', { thread_id: 'of-bob', if_exists: 'do_nothing' })).status).toBe(409);
});

test('the threads of all apps of a file are found by one list of it', async ({ start }) => {
  const { ask, apps } = start();
  for (const graph_id of ['echo', 'ask', 'echo'])
    await ask('POST', '/threads', { metadata: { graph_id, user: 'u1' } });
  const lists = Object.values(apps).map((app) => vi.spyOn(app, 'list'));
  const { body } = await ask('POST', '/threads/search', { metadata: { user: 'u1' } });
  expect((body as { metadata: { graph_id: string } }[]).map(({ metadata }) => metadata.graph_id)).toEqual([
    'echo',
    'ask',
    'echo',
  ]);
  expect(lists.flatMap(({ mock }) => mock.calls)).toHaveLength(1);
});

test('an answer in a verdict is a filter, and a new thread gets its fields', async ({ start }) => {
  const authorize: Authorize = ({ id }) => ({ owner: { team: id.split('-')[0] ?? '' } });
  const { ask } = start({ authorize });
  await ask('POST', '/threads', { thread_id: 't1', metadata: { team: 'blue' } }, 'red-ada');
  expect((await ask('GET', '/threads/t1', undefined, 'red-bob')).status).toBe(200);
  expect((await ask('GET', '/threads/t1', undefined, 'blue-eve')).status).toBe(404);
  await ask('PATCH', '/threads/t1', { metadata: { team: 'blue', owner: { team: 'blue' } } }, 'red-bob');
  expect((await ask('POST', '/threads/search', {}, 'blue-eve')).body).toEqual([]);
  expect((await ask('POST', '/threads/search', {}, 'red-bob')).body).toHaveLength(1);
  expect((await ask('POST', '/store/items/search', { namespace_prefix: [] }, 'red-bob')).status).toBe(403);
});

test('the store of the apps is read and written as far as it is allowed', async ({ start }) => {
  const authorize: Authorize = ({ id }, action, _run, { namespace }) =>
    !action.startsWith('store:') || namespace?.[0] === id;
  const { ask } = start({ authorize });
  const item = { namespace: ['ada', 'facts'], key: 'k', value: { text: 'likes tea' } };
  expect((await ask('PUT', '/store/items', item)).status).toBe(204);
  expect((await ask('GET', '/store/items?namespace=ada.facts&key=k')).body).toMatchObject({
    value: item.value,
  });
  expect((await ask('POST', '/store/items/search', { namespace_prefix: ['ada'] })).body).toMatchObject({
    items: [{ key: 'k' }],
  });
  expect((await ask('POST', '/store/namespaces', { prefix: ['ada'] })).body).toEqual({
    namespaces: [['ada', 'facts']],
  });
  expect((await ask('GET', '/store/items?namespace=ada.facts&key=k', undefined, 'bob')).status).toBe(403);
  expect((await ask('PUT', '/store/items', { ...item, namespace: ['ada', ''] })).status).toBe(422);
  expect((await ask('DELETE', '/store/items', { namespace: ['ada', 'facts'], key: 'k' })).status).toBe(204);
  expect((await ask('GET', '/store/items?namespace=ada.facts&key=k')).body).toBeNull();
});

test('the API can have a path of its own', async ({ start }) => {
  const { ask } = start({ base: '/api' });
  expect((await ask('GET', '/api/info')).status).toBe(200);
  expect((await ask('GET', '/info')).status).toBe(404);
});

test('more streams than one reader may have are refused, and a closed server has none', async ({ start }) => {
  const { handler } = start({ limits: { streamsEach: 2 } });
  const open = () =>
    handler(
      new Request(`https://${HOST}/threads/later/stream/events`, {
        method: 'POST',
        headers: { 'x-person': 'ada' },
        body: JSON.stringify({ channels: ['values'] }),
      }),
    );
  const [one, two] = [await open(), await open()];
  expect((await open()).status).toBe(429);
  await one.body?.cancel();
  const three = await open();
  expect(three.status).toBe(200);
  await handler.close();
  expect(await two.text()).toContain(': connected');
  expect(await three.text()).toContain(': connected');
});

test('a webhook is the name of a configured one; an address, or one of another assistant, is refused', async ({
  start,
}) => {
  const { ask } = start({ work: false });
  const echo = { assistant_id: 'echo', input: { topic: 'a' } };
  for (const refused of [
    { ...echo, webhook: 'https://a.example' },
    { ...echo, webhook: '__proto__' },
    { ...echo, assistant_id: 'ask', webhook: 'team' },
    { assistant_id: 'echo', command: { resume: 1 }, webhook: 'team' },
  ]) {
    const { status, body } = await ask('POST', '/runs', refused);
    expect({ status, body }).toMatchObject({ status: 422, body: { message: expect.stringMatching(/\.$/) } });
  }
  expect((await ask('POST', '/threads/search', {})).body).toEqual([]);
  const run = { ...echo, webhook: 'team', run_id: 'r1' };
  expect(await ask('POST', '/runs', run)).toMatchObject({ status: 200 });
});

test('a cron is a schedule: created, found by its owner, and deleted', async ({ start }) => {
  const { ask } = start({ work: false });
  const cron = {
    assistant_id: 'echo',
    input: { topic: 'a' },
    schedule: '0 8 * * *',
    timezone: 'Europe/Berlin',
  };
  const made = await ask('POST', '/runs/crons', {
    ...cron,
    end_time: '2999-01-01T00:00:00Z',
    webhook: 'team',
  });
  expect(made).toMatchObject({
    status: 200,
    body: {
      assistant_id: 'echo',
      schedule: '0 8 * * *',
      thread_id: null,
      payload: { input: { topic: 'a' } },
    },
  });
  const { cron_id: id } = made.body as { readonly cron_id: string };
  await ask('POST', '/threads', { thread_id: 't1', metadata: { graph_id: 'echo' } });
  expect(await ask('POST', '/threads/t1/runs/crons', cron)).toMatchObject({ body: { thread_id: 't1' } });
  expect((await ask('POST', '/threads/t1/runs/crons', cron, 'bob')).status).toBe(404);
  expect((await ask('POST', '/runs/crons/count', {})).body).toBe(2);
  expect((await ask('POST', '/runs/crons/search', { thread_id: 't1' })).body).toHaveLength(1);
  expect((await ask('POST', '/runs/crons/search', { assistant_id: 'ask' })).body).toEqual([]);
  expect((await ask('POST', '/runs/crons/search', {}, 'bob')).body).toEqual([]);
  expect((await ask('DELETE', `/runs/crons/${id}`, undefined, 'bob')).status).toBe(404);
  expect((await ask('DELETE', `/runs/crons/${id}`)).status).toBe(200);
  expect((await ask('DELETE', `/runs/crons/${id}`)).status).toBe(404);
  for (const odd of [
    { schedule: 'daily' },
    { schedule: '* * * * * *' },
    { timezone: 'Mars' },
    { command: { resume: 1 } },
  ])
    expect((await ask('POST', '/runs/crons', { ...cron, ...odd })).status).toBe(422);
  expect((await ask('POST', '/runs/crons/count', {})).body).toBe(1);
});
