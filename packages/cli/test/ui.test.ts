import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished } from 'vitest';
import { callMain } from './support/callMain.ts';
import { finishShop } from './support/finishedProject.ts';
import { RUN_EMPTY, test } from './support/fixtures.ts';
import { driveShop } from './support/waitingProject.ts';

/** `devs ui` while it runs: what it printed, and what ends it. */
async function started(dir: string, flags: readonly string[] = [], isTTY = true) {
  const ending = new AbortController();
  let link = (_url: string): void => {};
  const printed: string[] = [];
  const first = new Promise<string>((resolve) => {
    link = resolve;
  });
  const ended = callMain(dir, ['ui', '--port', '0', '--by', 'ada', ...flags], {
    isTTY,
    signal: ending.signal,
    onWrite: (text) => {
      printed.push(text);
      const url = /http:\/\/localhost:\d+\/#code=[\w-]+\S*/.exec(text)?.[0];
      if (url !== undefined) link(url);
    },
  });
  onTestFinished(async () => {
    ending.abort();
    await ended;
  });
  const url = new URL(
    await Promise.race([first, ended.then(({ stderr }) => Promise.reject(new Error(stderr)))]),
  );
  const page = { 'sec-fetch-site': 'same-origin', origin: url.origin };
  const ask = async (path: string, init: RequestInit = {}) =>
    fetch(new URL(path, url), {
      ...init,
      headers: { ...page, 'content-type': 'application/json', ...init.headers },
    });
  const signIn = async (): Promise<Record<string, string>> => {
    const code = /#code=([\w-]+)/.exec(url.hash)?.[1];
    const answer = await ask('/api/session', { method: 'POST', body: JSON.stringify({ code }) });
    const { secret } = (await answer.json()) as { readonly secret: string };
    return { 'x-devs-session': secret };
  };
  return { url, ask, signIn, printed, ending, ended };
}

describe('devs ui', () => {
  test('serves the project until Ctrl-C, and records a decision as whoever started it', async ({ dir }) => {
    const { gates } = await driveShop(dir);
    const { ask, signIn, printed, ending, ended } = await started(dir);
    const headers = await signIn();
    const inbox = (await (await ask('/api/inbox', { headers })).json()) as { gates: { sessionId: string }[] };
    expect(inbox.gates.map(({ sessionId }) => sessionId)).toEqual(gates.map(({ sessionId }) => sessionId));
    expect(printed.filter((text) => text.includes('#code='))).toHaveLength(2);

    const [gate] = gates;
    const path = `/api/runs/shop/gates/${gate?.sessionId}/decision`;
    const decide = (artifactHash: string | undefined) =>
      ask(path, {
        method: 'POST',
        headers,
        body: JSON.stringify({ artifactHash, answer: { approved: true } }),
      });
    expect(await (await decide('0'.repeat(64))).json()).toMatchObject({
      error: { code: 'GATE_STALE', remedy: expect.any(String) },
    });
    expect((await decide(gate?.artifactHash)).status).toBe(200);
    expect(await (await decide(gate?.artifactHash)).json()).toMatchObject({
      error: { code: 'GATE_ALREADY_DECIDED', message: expect.stringContaining('ada') },
    });
    ending.abort();
    expect(await ended).toMatchObject({ exitCode: 0 });
    await expect(ask('/')).rejects.toThrow();
  });

  test('goes on with a run after a decision, as devs resume does, until its next gate', async ({ dir }) => {
    await callMain(dir, RUN_EMPTY);
    const { ask, signIn, ending, ended } = await started(dir);
    const headers = await signIn();
    const openGates = async () => {
      const { gates } = (await (await ask('/api/gates', { headers })).json()) as {
        gates: { sessionId: string; artifactHash: string; kind: string }[];
      };
      return gates;
    };
    const [gate] = await openGates();
    const post = (path: string, body: object) =>
      ask(path, { method: 'POST', headers, body: JSON.stringify(body) });
    const answer = { artifactHash: gate?.artifactHash, answer: { approved: true } };
    await post(`/api/runs/sum/gates/${gate?.sessionId}/decision`, answer);
    expect((await post('/api/runs/sum/drive', {})).status).toBe(200);
    await expect.poll(async () => (await openGates()).map(({ kind }) => kind)).toEqual(['dag_approval']);
    ending.abort();
    expect(await ended).toMatchObject({ exitCode: 0 });
  });

  test('executes nothing with --read, and nothing that was started without agents', async ({ dir }) => {
    await driveShop(dir);
    for (const [flags, code] of [
      [['--read'], 'READ_ONLY'],
      [[], 'CONFIG_INVALID'],
    ] as const) {
      const { ask, signIn, ending, ended } = await started(dir, flags);
      const headers = await signIn();
      const answer = await ask('/api/runs/shop/drive', { method: 'POST', headers, body: '{}' });
      expect(await answer.json()).toMatchObject({ error: { code } });
      ending.abort();
      await ended;
    }
  });

  test('a run or a gate is where the link leads', async ({ dir }) => {
    const { gates } = await driveShop(dir);
    const gate = gates[0]?.sessionId ?? '';
    for (const [name, path] of [
      ['shop', '/runs/shop'],
      [gate.slice(0, 8), `/runs/shop/gates/${gate}`],
    ] as const) {
      const { url, signIn, ending, ended } = await started(dir, [name]);
      expect(url.hash).toMatch(new RegExp(`^#code=[\\w-]+&at=${path}$`));
      await signIn();
      ending.abort();
      await ended;
    }
    expect(await callMain(dir, ['ui', 'nothing'])).toMatchObject({
      exitCode: 4,
      stderr: expect.stringContaining('GATE_NOT_FOUND'),
    });
    expect(await callMain(dir, ['ui', 'nothing', '--file', 'none.sqlite'])).toMatchObject({
      stderr: expect.stringContaining('STATE_IO'),
    });
    expect(existsSync(join(dir, 'none.sqlite'))).toBe(false);
  });

  test('shows what a commit has changed, and sets a run back with what it was started with', async ({
    dir,
  }) => {
    expect(await finishShop(dir)).toBe('completed');
    const { ask, signIn } = await started(dir);
    const headers = await signIn();
    const { tasks } = (await (await ask('/api/runs/shop', { headers })).json()) as {
      tasks: { gitHash: string }[];
    };
    const read = async (commit: string | undefined) =>
      (await ask(`/api/runs/shop/commits/${commit}`, { headers })).json();
    expect(await read(tasks[1]?.gitHash)).toEqual({
      code: { diff: expect.stringContaining('+implement 2, attempt 1'), unshown: [] },
    });
    expect(await read('0'.repeat(40))).toMatchObject({ error: { code: 'COMMIT_NOT_FOUND' } });

    const rewind = async (wish: object) =>
      (await ask('/api/runs/shop/rewind', { method: 'POST', headers, body: JSON.stringify(wish) })).json();
    expect(await rewind({ way: 'preview', task: 'T1' })).toMatchObject({
      plan: { undone: [{ label: 'T2' }] },
    });
    expect(await rewind({ way: 'back', task: 'T1', undone: ['T2'] })).toMatchObject({
      done: { commit: expect.stringMatching(/^[0-9a-f]{40}$/) },
    });
    expect((await callMain(dir, ['status', 'shop'])).stdout).toMatch(/rewound +to T1 by human:ada/);
    expect(await rewind({ way: 'undo' })).toMatchObject({ done: { kept: null } });
  });

  test('only reads where its link is printed to no terminal', async ({ dir }) => {
    const { gates } = await driveShop(dir);
    const { ask, signIn, printed } = await started(dir, [], false);
    const headers = await signIn();
    expect(await (await ask('/api/me', { headers })).json()).toMatchObject({ isReadOnly: true });
    const [gate] = gates;
    const body = JSON.stringify({ artifactHash: gate?.artifactHash, answer: { approved: true } });
    const refused = await ask(`/api/runs/shop/gates/${gate?.sessionId}/decision`, {
      method: 'POST',
      headers,
      body,
    });
    expect(refused.status).toBe(403);
    expect(await refused.json()).toMatchObject({ error: { code: 'READ_ONLY' } });
    expect(printed.join('')).toContain('Read-only');
  });

  test.for([
    ['missing', null, 'STATE_IO'],
    ['no state file', 'This is a text, and longer than a header.'.repeat(200), 'STATE_CORRUPT'],
  ] as const)('a file that is %s is told on the page, and left alone', async ([, text, code], { dir }) => {
    mkdirSync(join(dir, 'data'));
    const file = join(dir, 'data', 'posts.sqlite');
    if (text !== null) writeFileSync(file, text);
    const { ask, signIn } = await started(dir, ['--file', 'data/posts.sqlite']);
    const answer = await ask('/api/inbox', { headers: await signIn() });
    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({ error: { code, remedy: expect.stringMatching(/./) } });
    expect(readdirSync(join(dir, 'data'))).toEqual(text === null ? [] : ['posts.sqlite']);
    expect(existsSync(join(dir, '.devs'))).toBe(false);
  });

  test('names no place where there are no runs', async ({ dir }) => {
    expect(await callMain(dir, ['ui', 'shop'])).toMatchObject({
      stderr: expect.stringContaining('THREAD_NOT_FOUND'),
    });
    expect(existsSync(join(dir, '.devs'))).toBe(false);
  });

  test('says so where its port is taken, or is none', async ({ dir }) => {
    const other = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void other.close());
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const taken = await callMain(dir, ['ui', '--port', String(port)]);
    expect(taken).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining(`Cannot use port ${port}`),
    });
    for (const none of ['65536', 'http', '-1']) {
      expect(await callMain(dir, ['ui', `--port=${none}`])).toMatchObject({ exitCode: 2 });
    }
  });
});
