import { connect } from 'node:net';
import type { Principal } from '@devs/core';
import { describe, expect } from 'vitest';
import { howMany } from '../../core/test/support/howMany.ts';
import { tried } from '../../core/test/support/tried.ts';
import { test as base } from './support/fixtures.ts';
import { type Served, serveApps } from './support/serveApps.ts';

// Requests of pages, people and programs that may not do what they ask for.

/** Streams that one program tries to hold open. */
const STREAMS = howMany('DEVS_OPEN_STREAMS', 300);
const LIMITS = { bodyBytes: 65_536, streams: 40, streamsEach: 20 };

/** Who asks is what the header says; everybody sees what is theirs. */
const personOf = ({ headers }: Request): Principal | null => {
  const id = headers.get('x-person');
  return id === null ? null : { kind: headers.get('x-kind') === 'agent' ? 'agent' : 'human', id };
};

interface Fixtures {
  readonly guarded: Served;
}

const test = base.extend<Fixtures>({
  guarded: async ({ dir }, use) => {
    const served = await serveApps(dir, {
      identify: personOf,
      authorize: ({ kind, id }, _action, run) =>
        run === null || kind === 'agent' || run.owner['by'] === `human:${id}`,
      limits: LIMITS,
      origins: ['https://chat.example.org'],
    });
    await use(served);
    await served.close();
  },
});

const JSON_TYPE = { 'content-type': 'application/json' };
const as = (person: string, more: Readonly<Record<string, string>> = {}) => ({
  ...JSON_TYPE,
  'x-person': person,
  ...more,
});
const post = (body: unknown, headers: Readonly<Record<string, string>> = as('ada')): RequestInit => ({
  method: 'POST',
  headers,
  body: typeof body === 'string' ? body : JSON.stringify(body),
});

/** A thread of Ada whose question waits. */
async function askedThread({
  ask,
}: Served): Promise<{ readonly id: string; readonly run: string; readonly interrupt: string }> {
  const { thread_id: id } = (await (await ask('/threads', post({}))).json()) as {
    readonly thread_id: string;
  };
  const input = { messages: [{ type: 'human', content: 'hi' }] };
  const reply = await ask(`/threads/${id}/runs/wait`, post({ assistant_id: 'post', input }));
  const run = reply.headers.get('content-location')?.split('/').at(-1) ?? '';
  await reply.text();
  const state = (await (await ask(`/threads/${id}/state`, { headers: as('ada') })).json()) as {
    readonly tasks: readonly { readonly interrupts: readonly { readonly id: string }[] }[];
  };
  return { id, run, interrupt: state.tasks[0]?.interrupts[0]?.id ?? '' };
}

/** What every part of the API is asked with, by somebody who may not. */
const REQUESTS = (
  thread: string,
  run: string,
  interrupt: string,
): readonly (readonly [string, string, unknown?])[] => [
  ['GET', `/threads/${thread}`],
  ['PATCH', `/threads/${thread}`, { metadata: { topic: 'mine' } }],
  ['DELETE', `/threads/${thread}`],
  ['GET', `/threads/${thread}/state`],
  ['POST', `/threads/${thread}/state`, { values: { url: 'mine' } }],
  ['POST', `/threads/${thread}/state`, { values: null, as_node: '__end__' }],
  ['POST', `/threads/${thread}/state/checkpoint`, { checkpoint: {} }],
  ['POST', `/threads/${thread}/history`, {}],
  ['GET', `/threads/${thread}/runs`],
  ['GET', `/threads/${thread}/runs/${run}`],
  ['GET', `/threads/${thread}/runs/${run}/join`],
  ['GET', `/threads/${thread}/runs/${run}/stream`],
  ['POST', `/threads/${thread}/runs/${run}/cancel`, {}],
  ['POST', `/threads/${thread}/runs`, { assistant_id: 'post', command: { resume: { [interrupt]: true } } }],
  ['POST', `/threads/${thread}/runs/wait`, { assistant_id: 'post', command: { resume: true } }],
  ['POST', `/threads/${thread}/runs/stream`, { assistant_id: 'post', command: { resume: true } }],
  [
    'POST',
    `/threads/${thread}/commands`,
    { id: 1, method: 'input.respond', params: { interrupt_id: interrupt, namespace: [], response: true } },
  ],
  ['POST', `/threads/${thread}/commands`, { id: 1, method: 'state.get', params: {} }],
  ['POST', `/threads/${thread}/stream/events`, { channels: ['values'] }],
];

const initOf = (method: string, headers: Readonly<Record<string, string>>, body?: unknown): RequestInit =>
  body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) };

describe('who may not', () => {
  test('a person without a name, and one whose thread it is not, get nothing of it and change nothing', async ({
    guarded,
    task,
  }) => {
    const { id, run, interrupt } = await askedThread(guarded);
    const requests = REQUESTS(id, run, interrupt);
    tried(task, { ways: requests.length * 2 });
    for (const [method, path, body] of requests) {
      const nobody = await guarded.ask(path, initOf(method, JSON_TYPE, body));
      expect(nobody.status, `${method} ${path}`).toBe(401);
      const other = await guarded.ask(path, initOf(method, as('eve'), body));
      const text = await other.text();
      const isRefused =
        other.status === 404 || other.status === 403 || (other.ok && text.includes('"type":"error"'));
      expect(isRefused, `${method} ${path}: ${other.status} ${text}`).toBe(true);
      expect(text).not.toContain('the first draft');
    }
    const list = await guarded.ask('/threads/search', post({}, as('eve')));
    expect(await list.json()).toEqual([]);
    expect(list.headers.get('x-pagination-total')).toBe('0');
    expect(guarded.calls).toEqual(['model']);
    expect(await guarded.apps.post.gates(id)).toHaveLength(1);
  });

  test('a client cannot make a thread its own by what it writes into metadata', async ({ guarded, task }) => {
    const { id } = await askedThread(guarded);
    const owners = [{ by: 'human:eve' }, { owner: { by: 'human:eve' } }, { 'owner.by': 'human:eve' }];
    tried(task, { ways: owners.length });
    for (const metadata of owners) {
      await guarded.ask(`/threads/${id}`, { ...post({ metadata }), method: 'PATCH' });
      await guarded.ask('/threads', post({ thread_id: id, metadata, if_exists: 'do_nothing' }, as('eve')));
      const seen = await guarded.ask(`/threads/${id}`, { headers: as('eve') });
      expect(seen.status).toBe(404);
    }
    expect((await guarded.ask(`/threads/${id}`, { headers: as('ada') })).status).toBe(200);
  });

  test('an agent answers no question, forks nothing and changes no state', async ({ guarded, task }) => {
    const { id, interrupt } = await askedThread(guarded);
    const agent = as('bot', { 'x-kind': 'agent' });
    const attempts = [
      ['runs/wait', { assistant_id: 'post', command: { resume: true } }],
      ['runs/wait', { assistant_id: 'post', command: { resume: { [interrupt]: true } } }],
      [
        'commands',
        {
          id: 1,
          method: 'input.respond',
          params: { interrupt_id: interrupt, namespace: [], response: true },
        },
      ],
      ['state', { values: { url: 'mine' } }],
      ['state', { values: null, as_node: '__end__' }],
    ] as const;
    tried(task, { ways: attempts.length });
    for (const [path, body] of attempts) {
      const reply = await guarded.ask(`/threads/${id}/${path}`, post(body, agent));
      const text = await reply.text();
      const isRefused = reply.status === 403 || (reply.ok && text.includes('"type":"error"'));
      expect(isRefused, `${path}: ${reply.status} ${text}`).toBe(true);
    }
    expect(await guarded.apps.post.gates(id)).toHaveLength(1);
    expect(guarded.calls).toEqual(['model']);
  });
});

describe('where a request comes from', () => {
  test('a foreign origin, a rebound name and a page of another site are refused', async ({
    guarded,
    task,
  }) => {
    const port = new URL(guarded.url).port;
    const raw = (head: string): Promise<string> =>
      new Promise((resolve, reject) => {
        const socket = connect(Number(port), '127.0.0.1');
        let text = '';
        socket.on('data', (data) => {
          text += data.toString();
          socket.destroy();
        });
        socket.on('close', () => resolve(text.split('\r\n', 1)[0] ?? ''));
        socket.on('error', reject);
        socket.write(`GET /threads HTTP/1.1\r\n${head}\r\nx-person: ada\r\n\r\n`);
      });
    const own = `Host: 127.0.0.1:${port}`;
    const heads = [
      'Host: evil.example',
      `Host: evil.example:${port}`,
      `Host: localhost.evil.example:${port}`,
      `${own}\r\nOrigin: https://evil.example`,
      `${own}\r\nOrigin: null`,
      `${own}\r\nOrigin: https://chat.example.org.evil.example`,
      `${own}\r\nSec-Fetch-Site: cross-site`,
    ];
    tried(task, { ways: heads.length });
    for (const head of heads) expect(await raw(head), head).toMatch(/ 40[03] /);
  });

  test('the page of a named origin may ask, and no other one is told so', async ({ guarded }) => {
    const preflight = (origin: string) =>
      guarded.ask('/threads/search', {
        method: 'OPTIONS',
        headers: {
          origin,
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'x-person',
        },
      });
    const named = await preflight('https://chat.example.org');
    expect(named.headers.get('access-control-allow-origin')).toBe('https://chat.example.org');
    const other = await preflight('https://evil.example');
    expect(other.headers.get('access-control-allow-origin')).toBeNull();
    const read = await guarded.ask(
      '/threads/search',
      post({}, as('ada', { origin: 'https://evil.example' })),
    );
    expect(read.status).toBe(403);
    expect(read.headers.get('access-control-allow-origin')).toBeNull();
  });
});

describe('what a request holds', () => {
  const PROTO = [
    '{"__proto__":{"x":1}}',
    '{"metadata":{"__proto__":{"x":1}}}',
    '{"input":{"a":{"__proto__":{"approved":true}}}}',
  ];

  test('a member called __proto__ is refused in every body, or changes nothing', async ({
    guarded,
    task,
  }) => {
    const { id, run, interrupt } = await askedThread(guarded);
    const paths = REQUESTS(id, run, interrupt).flatMap(([method, path, body]) =>
      body === undefined || method === 'DELETE' ? [] : [[method, path] as const],
    );
    const all = [
      ...paths,
      ['POST', '/threads'],
      ['POST', '/threads/search'],
      ['POST', '/assistants/search'],
      ['PUT', '/store/items'],
      ['POST', '/store/items/search'],
      ['POST', '/runs/wait'],
      ['POST', '/runs/stream'],
    ] as const;
    tried(task, { ways: all.length * PROTO.length });
    for (const [method, path] of all)
      for (const body of PROTO) {
        const { status } = await guarded.ask(path, { method, headers: as('ada'), body });
        expect(status, `${method} ${path} ${body}`).toBe(422);
      }
    expect(Reflect.get({}, 'x')).toBeUndefined();
    expect(Reflect.get({}, 'approved')).toBeUndefined();
    expect(guarded.calls).toEqual(['model']);
  });

  test('ids, bodies and numbers that do not fit get an answer below 500', async ({ guarded, task }) => {
    const ids = [
      '%00',
      '..%2f..%2fetc',
      '%e2%80%ae',
      '__proto__',
      'constructor',
      'a'.repeat(5_000),
      '%F0%9F',
      "'%20OR%201=1",
      '*',
    ];
    const bodies = [
      '',
      'null',
      '[]',
      '"x"',
      '1',
      '{',
      '{"limit":-1}',
      '{"limit":1e9}',
      '{"offset":1.5}',
      '{"metadata":"x"}',
      '{"sort_by":"; drop"}',
      `{"x":${'['.repeat(5_000)}${']'.repeat(5_000)}}`,
    ];
    tried(task, { ways: ids.length * 2 + bodies.length * 3 });
    for (const id of ids)
      for (const path of [`/threads/${id}`, `/threads/${id}/state`]) {
        const { status } = await guarded.ask(path, { headers: as('ada') });
        expect(status, path.slice(0, 60)).toBeGreaterThanOrEqual(400);
        expect(status, path.slice(0, 60)).toBeLessThan(500);
      }
    for (const body of bodies)
      for (const path of ['/threads/search', '/threads', '/runs/wait']) {
        const { status } = await guarded.ask(path, post(body));
        expect(status, `${path} ${body.slice(0, 40)}`).toBeLessThan(500);
      }
  });

  test('a body that is too long is refused without being kept', async ({ guarded }) => {
    let sent = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 16_384;
        controller.enqueue(new Uint8Array(16_384).fill(0x20));
      },
    });
    const init = { method: 'POST', headers: as('ada'), body: endless, duplex: 'half' } as RequestInit;
    expect((await guarded.ask('/threads/search', init)).status).toBe(413);
    expect(sent).toBeLessThan(LIMITS.bodyBytes * 4);
  });
});

test('streams that are held open are bounded, by person and in all, and are free again when they end', async ({
  guarded,
  task,
}) => {
  const { id, run } = await askedThread(guarded);
  const open = (person: string): Promise<Response> => {
    const headers = as(person, { 'x-kind': person === 'ada' ? 'human' : 'agent' });
    return guarded.ask(`/threads/${id}/stream/events`, post({ channels: ['values'] }, headers));
  };
  const replies: Response[] = [];
  for (let each = 0; each < STREAMS; each += 1) replies.push(await open('ada'));
  tried(task, { ways: STREAMS });
  const ok = (all: readonly Response[]) => all.filter(({ status }) => status === 200);
  expect(ok(replies)).toHaveLength(LIMITS.streamsEach);
  expect(replies.at(-1)?.status).toBe(429);
  const others: Response[] = [];
  for (let each = 0; each < LIMITS.streams * 2; each += 1) others.push(await open(`bot-${each % 4}`));
  expect(ok(others)).toHaveLength(LIMITS.streams - LIMITS.streamsEach);
  // Whoever only asks is still answered.
  expect((await guarded.ask(`/threads/${id}/runs/${run}`, { headers: as('ada') })).status).toBe(200);

  for (const { body } of ok([...replies, ...others])) await body?.cancel();
  await expect.poll(async () => (await open('ada')).status).toBe(200);
});
