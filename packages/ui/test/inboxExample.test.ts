import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished } from 'vitest';
import { inbox } from '../../../examples/inbox/inbox.ts';
import { addPerson } from '../../../examples/inbox/people.ts';
import { listener } from '../src/node/listener.ts';
import type { InboxView } from '../src/views/inboxView.ts';
import { test, waitingRun } from './support/fixtures.ts';

/** The example on a free port: asks as its own page does, unless told otherwise. */
async function started(dir: string) {
  const people = join(dir, 'people.json');
  addPerson(people, 'ben', 'another one');
  addPerson(people, 'ada', 'correct horse');
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  });
  const { port } = server.address() as AddressInfo;
  const app = inbox({ dir, file: 'state.sqlite', people, hosts: [`localhost:${port}`] });
  server.on(
    'request',
    listener(async (request) => app.fetch(request)),
  );
  const origin = `http://localhost:${port}`;
  return (path: string, init: RequestInit = {}) =>
    fetch(origin + path, {
      redirect: 'manual',
      ...init,
      headers: { origin, 'sec-fetch-site': 'same-origin', ...init.headers },
    });
}

type Ask = Awaited<ReturnType<typeof started>>;

const signIn = async (ask: Ask, name: string, password: string) => {
  const answer = await ask('/login', { method: 'POST', body: new URLSearchParams({ name, password }) });
  return { status: answer.status, cookie: answer.headers.get('set-cookie')?.split(';')[0] ?? '' };
};

describe('the example of an inbox in Hono', () => {
  test('shows it to who has signed in, and records decisions in their name', async ({ dir }) => {
    const run = await waitingRun(dir);
    const ask = await started(dir);
    expect((await ask('/inbox/')).headers.get('location')).toBe('/login');
    expect((await ask('/inbox/api/inbox')).status).toBe(401);
    for (const [name, password] of [
      ['ada', 'wrong'],
      ['eve', 'correct horse'],
      ['__proto__', ''],
    ] as const)
      expect(await signIn(ask, name, password)).toEqual({ status: 401, cookie: '' });

    const { cookie } = await signIn(ask, 'ada', 'correct horse');
    const headers = { cookie, 'content-type': 'application/json' };
    const { gates } = (await (await ask('/inbox/api/inbox', { headers })).json()) as InboxView;
    const [gate] = gates;
    const at = `/inbox/api/runs/shop/gates/${gate?.sessionId}/decision`;
    const body = JSON.stringify({ artifactHash: gate?.artifactHash, answer: { approved: true } });
    const decide = (more: Record<string, string>) =>
      ask(at, { method: 'POST', headers: { ...headers, ...more }, body });
    expect((await decide({ cookie: '' })).status).toBe(401);
    expect((await decide({ origin: 'https://evil.example' })).status).toBe(403);
    expect((await decide({ 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await decide({ 'content-type': 'text/plain' })).status).toBe(415);
    expect(await run.gates()).toHaveLength(1);
    expect((await decide({})).status).toBe(200);
    expect(await run.closedGates()).toMatchObject([{ principal: 'human:ada', via: 'page' }]);

    await ask('/logout', { method: 'POST', headers: { cookie } });
    expect((await ask('/inbox/api/inbox', { headers: { cookie } })).status).toBe(401);
  });
});
