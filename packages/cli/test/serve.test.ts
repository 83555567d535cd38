import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, vi } from 'vitest';
import { moduleFile } from '../../core/test/support/programFile.ts';
import { callMain } from './support/callMain.ts';
import { test } from './support/fixtures.ts';
import { startBin } from './support/startBin.ts';

/** A project with graphs in TypeScript, ES modules and CommonJS. */
const PROJECT = fileURLToPath(new URL('fixtures/serve/', import.meta.url));

interface Serving {
  readonly url: string;
  readonly assistants: readonly string[];
  readonly notTaken: readonly string[];
}

const servingIn = (text: string): Serving | undefined =>
  text
    .split('\n')
    .filter((line) => line.startsWith('{"is":"serving"'))
    .map((line) => JSON.parse(line) as Serving)[0];

/** Asks a server for JSON. */
async function ask(url: string, path: string, body?: object, headers: Readonly<Record<string, string>> = {}) {
  const response = await fetch(`${url}${path}`, {
    headers: { 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
  });
  return { status: response.status, json: (await response.json()) as Record<string, unknown> };
}

/** The command as a process, over the project's graphs and the state in `dir`. */
async function serveProject(dir: string) {
  const { child, ended } = startBin(PROJECT, ['--dir', dir, 'serve', '--port', '0', '--json']);
  onTestFinished(() => void child.kill('SIGKILL'));
  let text = '';
  while (servingIn(text) === undefined && child.exitCode === null)
    text += String((await once(child.stdout ?? child, 'data'))[0]);
  const serving = servingIn(text);
  if (serving === undefined) throw new Error((await ended).stderr);
  return { child, ended, serving };
}

describe('devs serve in a folder with a langgraph.json', () => {
  test('serves its graphs as the file names them; a question outlives kill -9, and no message answers it', async ({
    dir,
  }) => {
    const first = await serveProject(dir);
    const { serving } = first;
    expect(serving.assistants).toEqual(['agent', 'made', 'plain']);
    expect(serving.notTaken).toEqual(['auth', 'http', 'store.index', 'the Python graph old']);
    const wait = (url: string, path: string, body: object) => ask(url, `${path}/runs/wait`, body);
    expect(await wait(serving.url, '', { assistant_id: 'made', input: { number: 4 } })).toMatchObject({
      json: { number: 5 },
    });
    const messages = [{ role: 'user', content: 'hi' }];
    expect(await wait(serving.url, '', { assistant_id: 'plain', input: { messages } })).toMatchObject({
      json: { tone: 'calm', messages: [{ content: 'hi' }, { content: 'told' }] },
    });
    const { json: thread } = await ask(serving.url, '/threads', {});
    const path = `/threads/${String(thread['thread_id'])}`;
    expect(await wait(serving.url, path, { assistant_id: 'agent', input: { name: 'Ada' } })).toMatchObject({
      json: { text: 'Good evening, Ada.', __interrupt__: [{ value: 'Good evening, Ada.' }] },
    });
    first.child.kill('SIGKILL');
    await first.ended;

    const second = await serveProject(dir);
    const { url } = second.serving;
    expect(await wait(url, path, { assistant_id: 'agent', input: { name: 'yes' } })).toMatchObject({
      status: 422,
      json: { code: 'INPUT_NOT_TAKEN' },
    });
    expect(await wait(url, path, { assistant_id: 'agent', command: { resume: 'yes' } })).toMatchObject({
      json: { name: 'Ada', sent: true },
    });
    second.child.kill('SIGINT');
    expect(await second.ended).toMatchObject({ exitCode: 0, stderr: '' });
  });

  test.for([
    ['no file', [], 'langgraph.json does not exist'],
    ['a port that is none', ['--port', '70000'], 'not a port'],
    ['every origin', ['--origin', '*'], '--origin "*" is invalid'],
    ['an origin that is no page', ['--origin', 'file:///etc'], 'is invalid'],
    ['no run at a time', ['--concurrency', '0'], '--concurrency "0" is invalid'],
    ['nobody', ['--by', ' '], '--by is empty'],
  ] as const)('refuses %s', async ([, flags, said], { dir }) => {
    expect(await callMain(dir, ['serve', ...flags])).toMatchObject({
      exitCode: 2,
      stdout: '',
      stderr: expect.stringContaining(said),
    });
  });

  test('refuses an empty key: what was protected must not become open', async ({ dir }) => {
    expect(await callMain(dir, ['serve'], { env: { DEVS_SERVER_KEY: '' } })).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('DEVS_SERVER_KEY is empty'),
    });
  });

  test.for([
    ['a module that is not there', './none.mjs:graph', 'cannot be loaded'],
    ['an export that is not there', './graphs.mjs:other', 'has no export other'],
    ['what is no graph', './graphs.mjs:text', 'graph g cannot be served'],
    ['a factory that fails', './graphs.mjs:failing', 'factory of the graph g failed: no key'],
  ] as const)('refuses %s, before anything is served', async ([, path, said], { dir }) => {
    const graphs = `export const text = 'hello'; export const failing = () => { throw new Error('no key'); };`;
    writeFileSync(join(dir, 'graphs.mjs'), graphs);
    writeFileSync(join(dir, 'langgraph.json'), JSON.stringify({ graphs: { g: path } }));
    expect(await callMain(dir, ['serve', '--port', '0'])).toMatchObject({
      exitCode: 2,
      stdout: '',
      stderr: expect.stringContaining(said),
    });
  });
});

test('loads TypeScript whose tsconfig.json extends a package that is not installed', async ({ dir }) => {
  const { stackTraceLimit } = Error; // jiti shows longer ones
  onTestFinished(() => {
    Error.stackTraceLimit = stackTraceLimit;
  });
  writeFileSync(
    join(dir, 'graph.ts'),
    `enum Word { Hello = 'hello' }\nexport const text: string = Word.Hello;`,
  );
  writeFileSync(join(dir, 'tsconfig.json'), JSON.stringify({ extends: '@tsconfig/recommended' }));
  writeFileSync(join(dir, 'langgraph.json'), JSON.stringify({ graphs: { g: './graph.ts:text' } }));
  expect(await callMain(dir, ['serve', '--port', '0'])).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('graph g cannot be served'),
  });
});

describe('devs serve with a module', () => {
  /** The apps of a module, served by this process until the test ends. They can be opened once in a process. */
  async function serveModule(dir: string) {
    vi.stubEnv('GREETER_FILE', join(dir, 'state.sqlite'));
    const ending = new AbortController();
    let text = '';
    let tell = (_serving: Serving): void => {};
    const told = new Promise<Serving>((resolve) => {
      tell = resolve;
    });
    const module = moduleFile(new URL('support/fileGreeter.ts', import.meta.url));
    const flags = ['--port', '0', '--json', '--by', 'ada', '--origin', 'http://localhost:3000/chat'];
    const ended = callMain(dir, ['serve', module, ...flags], {
      env: { DEVS_SERVER_KEY: 'correct horse' },
      signal: ending.signal,
      onWrite: (piece) => {
        text += piece;
        const serving = servingIn(text);
        if (serving !== undefined) tell(serving);
      },
    });
    onTestFinished(async () => {
      ending.abort();
      await ended;
      vi.unstubAllEnvs();
    });
    const failed = ended.then(({ stderr }) => Promise.reject(new Error(stderr)));
    return { serving: await Promise.race([told, failed]), ending, ended, printed: () => text };
  }

  test('serves its apps to whoever has the key and a page that was named, with its own page at /ui, until Ctrl-C', async ({
    dir,
  }) => {
    const { serving, ending, ended, printed } = await serveModule(dir);
    const { url } = serving;
    expect(serving).toMatchObject({ assistants: ['hello', 'bye', 'later'], page: `${url}/ui` });

    const given = (headers: Readonly<Record<string, string>>) =>
      ask(url, '/runs/wait', { assistant_id: 'hello', input: { name: 'Ada' } }, headers);
    expect((await given({})).status).toBe(401);
    expect((await given({ 'x-api-key': 'correct hors' })).status).toBe(401);
    const key = { 'x-api-key': 'correct horse' };
    expect(await given(key)).toMatchObject({ status: 200, json: { greeting: 'Hello, Ada' } });
    expect((await given({ authorization: 'Bearer correct horse' })).status).toBe(200);

    const from = async (headers: Readonly<Record<string, string>>) => {
      const answer = await fetch(`${url}/info`, { headers: { ...key, ...headers } });
      return [answer.status, answer.headers.get('access-control-allow-origin')];
    };
    expect(await from({ origin: 'http://localhost:3000' })).toEqual([200, 'http://localhost:3000']);
    expect((await from({ origin: 'http://localhost:3001' }))[0]).toBe(403);
    expect((await from({ 'sec-fetch-site': 'cross-site' }))[0]).toBe(403);

    const page = await fetch(`${url}/ui`, { redirect: 'manual' });
    expect([page.status, page.headers.get('location')]).toEqual([308, '/ui/']);
    const link = /"url":"([^"]*#code=[^"]*)","readOnly":true/.exec(printed())?.[1] ?? '';
    const code = new URL(link).hash.slice('#code='.length);
    const browser = { origin: new URL(link).origin, 'sec-fetch-site': 'same-origin' };
    expect(await ask(url, '/ui/api/inbox', undefined, browser)).toMatchObject({ status: 401 });
    const session = await ask(url, '/ui/api/session', { code }, browser);
    const signedIn = { ...browser, 'x-devs-session': String(session.json['secret']) };
    const runs = await ask(url, '/ui/api/inbox', undefined, signedIn);
    expect(runs).toMatchObject({ status: 200, json: { gates: [] } });

    ending.abort();
    expect(await ended).toMatchObject({ exitCode: 0, stderr: '' });
    await expect(fetch(`${url}/ok`)).rejects.toThrow();
  });

  const app = (graph: string): string =>
    `{ queue: { graph: '${graph}', fingerprint: 'f' }, runs: null, file: 'x.sqlite', events: { on() {} }, close: async () => {}, work: async () => {} }`;

  test.for([
    ['two apps of one name', [app(''), app('')], 'Two apps of'],
    ['an app without a name beside another one', [app(''), app('hello')], 'createServer: '],
  ] as const)('refuses %s', async ([, apps, said], { dir }) => {
    writeFileSync(join(dir, 'app.mjs'), `export const apps = [${apps.join(', ')}];`);
    expect(await callMain(dir, ['serve', 'app.mjs', '--port', '0'])).toMatchObject({
      exitCode: 2,
      stdout: '',
      stderr: expect.stringContaining(said),
    });
  });
});
