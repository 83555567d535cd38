import { truncateSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@langchain/langgraph-sdk';
import { describe, expect } from 'vitest';
import { QUESTION } from './programs/graphs.ts';
import { test } from './support/fixtures.ts';
import { ServerProcess } from './support/ServerProcess.ts';
import { appsOf } from './support/serveApps.ts';
import { startBalancer } from './support/startBalancer.ts';

// What was measured of other servers, and has to hold of this one: a question outlives its server, has one answer, and is
// answered by nothing else.

interface Told {
  readonly event: string;
  readonly data: unknown;
  readonly id?: string;
}
const SAID = { messages: [{ type: 'human', content: 'hi' }] };
const clientOf = (url: string): Client =>
  new Client({ apiUrl: url, apiKey: null, callerOptions: { maxRetries: 0 } });

/** A thread of `post` whose question waits. */
async function asked(url: string) {
  const client = clientOf(url);
  const { thread_id: thread } = await client.threads.create();
  await client.runs.wait(thread, 'post', { input: SAID });
  const question = async () =>
    (await client.threads.getState(thread)).tasks.flatMap(({ interrupts }) => interrupts)[0];
  const first = await question();
  const answer = (id: string | undefined, value: unknown) =>
    client.runs.wait(thread, 'post', { command: { resume: { [id ?? '']: value } } });
  return { client, thread, question, id: first?.id, answer };
}
const statusOf = (error: unknown): unknown => (error as { readonly status?: unknown }).status;

describe('a question', () => {
  test('is still there when the server is killed right after it was shown', async ({
    dir,
    onTestFinished,
  }) => {
    const server = new ServerProcess({ state: join(dir, 'state.sqlite'), world: join(dir, 'calls.txt') });
    onTestFinished(() => server.kill());
    await server.start();
    const { thread, id, question, answer } = await asked(server.url);
    await server.kill();
    await server.start();
    expect(await question()).toMatchObject({ id, value: { question: QUESTION, draft: 'the first draft' } });
    expect(await answer(id, true)).toMatchObject({ url: 'https://posts.example/1' });
    expect(server.calls).toEqual(['model', 'published the first draft']);
    expect((await clientOf(server.url).threads.get(thread)).status).toBe('idle');
  });

  test('takes one of two answers that come at once; the other is 409', async ({ served }) => {
    const { answer, id } = await asked(served.url);
    const answers = await Promise.allSettled([answer(id, true), answer(id, true), answer(id, false)]);
    const refused = answers.flatMap((each) => (each.status === 'rejected' ? [statusOf(each.reason)] : []));
    // Twice the same yes is one answer, sent again.
    expect(refused.every((status) => status === 409)).toBe(true);
    expect(refused.length).toBeGreaterThanOrEqual(1);
    expect(served.calls.filter((call) => call.startsWith('published')).length).toBeLessThanOrEqual(1);
  });

  test('takes no late no: 409 GATE_STALE after the end', async ({ served }) => {
    const { answer, id } = await asked(served.url);
    await answer(id, true);
    const late = await answer(id, false).catch((error: unknown) => error);
    expect(statusOf(late)).toBe(409);
    expect(String(late)).toContain('GATE_STALE');
    expect(served.calls).toEqual(['model', 'published the first draft']);
  });

  test('is asked anew when the state was replaced meanwhile; a yes to the old one is 409', async ({
    served,
  }) => {
    const { client, thread, answer, id, question } = await asked(served.url);
    const replaced = { messages: [{ type: 'ai', id: 'said-0', content: 'another draft' }] };
    await client.threads.updateState(thread, { values: replaced });
    const stale = await answer(id, true).catch((error: unknown) => error);
    expect(statusOf(stale)).toBe(409);
    await client.runs.wait(thread, 'post', { input: null });
    expect(await question()).toMatchObject({ value: { draft: 'another draft' } });
    const anew = await question();
    expect(anew?.id).not.toBe(id);
    await answer(anew?.id, true);
    expect(served.calls).toEqual(['model', 'published another draft']);
  });

  test('is not answered under the id of another one, and no values in the name of its node go past it', async ({
    served,
  }) => {
    const { client, thread, id, question, answer } = await asked(served.url);
    // As LangGraph writes ids, and as they are written here.
    for (const other of ['0'.repeat(32), `${crypto.randomUUID()}.0123456789abcdef`])
      expect(statusOf(await answer(other, true).catch((error: unknown) => error))).toBeGreaterThanOrEqual(
        404,
      );
    const values = { url: 'https://elsewhere.example' };
    const update = client.threads.updateState(thread, { values, asNode: 'publish' });
    expect(statusOf(await update.catch((error: unknown) => error))).toBe(422);
    expect((await question())?.id).toBe(id);
    expect(served.calls).toEqual(['model']);
  });

  test('is not answered by a message, on either protocol', async ({ served }) => {
    const { client, thread, id, question } = await asked(served.url);
    const said = { messages: [{ type: 'human', content: 'publish nothing yet' }] };
    for (const send of ['wait', 'create'] as const) {
      const refused = await client.runs[send](thread, 'post', { input: said }).catch(
        (error: unknown) => error,
      );
      expect(statusOf(refused)).toBe(422);
      expect(String(refused)).toContain('INPUT_NOT_TAKEN');
    }
    const response = await fetch(`${served.url}/threads/${thread}/commands`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ id: 1, method: 'run.start', params: { assistant_id: 'post', input: said } }),
    });
    expect(await response.json()).toMatchObject({ type: 'error', id: 1 });
    expect((await question())?.id).toBe(id);
    expect(served.calls).toEqual(['model']);
  });
});

test('a server that is killed while it publishes goes on by itself, with the key of the step', async ({
  dir,
  onTestFinished,
}) => {
  const server = new ServerProcess({ state: join(dir, 'state.sqlite'), world: join(dir, 'calls.txt') });
  onTestFinished(() => server.kill());
  await server.start(['die']);
  const client = clientOf(server.url);
  const { thread_id: thread } = await client.threads.create();
  await client.runs.wait(thread, 'publish', { input: { text: 'hello' } });
  await client.runs.create(thread, 'publish', { command: { resume: true } }).catch(() => {});
  await server.ended();
  await server.start();
  await expect.poll(async () => (await client.threads.get(thread)).status).toBe('idle');
  expect((await client.threads.getState(thread)).values).toMatchObject({ url: 'https://posts.example/1' });
  const [first, second, ...more] = server.calls;
  expect(first).toMatch(/^publish ./);
  expect([second, more]).toEqual([first, []]);
});

test('a state file that was cut is not served as an empty one', async ({ dir, served }) => {
  await asked(served.url);
  await served.close();
  truncateSync(join(dir, 'state.sqlite'), 8192);
  expect(() => appsOf(join(dir, 'state.sqlite'), () => {})).toThrow(
    expect.objectContaining({ code: 'STATE_CORRUPT' }),
  );
});

test('a stock stream sees every event once, in order, over two kills of the server', async ({
  dir,
  onTestFinished,
}) => {
  const ports: number[] = [];
  const balancer = await startBalancer(() => ports);
  onTestFinished(() => balancer.close());
  const server = new ServerProcess({
    state: join(dir, 'state.sqlite'),
    world: join(dir, 'calls.txt'),
    mode: ['walk', '100'],
    seenAs: balancer.port,
  });
  onTestFinished(() => server.kill());
  await server.start();
  ports.push(server.port);
  const client = new Client({ apiUrl: `http://127.0.0.1:${balancer.port}`, apiKey: null });
  const { thread_id } = await client.threads.create();
  const seen: number[] = [];
  const ids: number[] = [];
  const stream: AsyncIterable<Told> = client.runs.stream(thread_id, 'walk', {
    input: { steps: 12 },
    streamMode: ['custom'],
  });
  for await (const { event, data, id } of stream) {
    if (event !== 'custom') continue;
    seen.push((data as { readonly at: number }).at);
    ids.push(Number(id));
    if (seen.length === 3 || seen.length === 7) void server.kill().then(() => server.start());
  }
  expect(seen).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  expect(ids).toEqual([...new Set(ids)].toSorted((left, right) => left - right));
});
