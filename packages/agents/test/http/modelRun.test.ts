import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Orchestrator } from '@devs/core';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ChatRequest, ChatServer, stageView } from '../../../core/test/support/ChatServer.ts';
import { sumModel } from '../../../core/test/support/sumModel.ts';
import { spawnAgents } from '../support/spawnAgents.ts';

/** Without a shape that any rule knows: only its registration can mask it. */
const KEY = 'plain-words-as-a-canary';
/** Only the driver has the key; this process may be that of other test files, too. */
const NAME = 'OPENAI_API_KEY';

interface Ended {
  readonly status: string;
  readonly reason: string | null;
  readonly commits: readonly string[];
  readonly cost: { readonly tokensIn: number; readonly tokensOut: number };
}

let dir: string;
let server: ChatServer;
/** Called for each request before it is answered. */
let onRequest: (request: ChatRequest) => void;

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'devs-model-run-'));
  onRequest = () => undefined;
  server = await ChatServer.start((request, index) => {
    onRequest(request);
    // A provider that repeats the key in its first answer, which is an error that may pass by itself.
    if (index === 0) return { kind: 'status', status: 500, message: `Cannot serve ${KEY} now.` };
    return sumModel(request);
  });
});

afterEach(async () => {
  await server.stop();
  rmSync(dir, { recursive: true, force: true });
});

const startDriver = () =>
  spawnAgents(new URL('modelRun.child.ts', import.meta.url), [dir, server.url], { [NAME]: KEY });

/** Approves the next gate the driver waits at, in this process. */
async function approveNext(devs: Orchestrator, kind: string): Promise<void> {
  const run = await devs.run('sum');
  await expect
    .poll(async () => (await run.gates()).map((gate) => gate.kind), { timeout: 40_000 })
    .toEqual([kind]);
  for (const gate of await run.gates())
    await run.decide(gate, { approved: true, by: { kind: 'human', id: 'ada' } });
}

/** Drives the run through both gates and kills the driver when it asks for the last round of the implementation. */
async function driveUntilKilled(): Promise<void> {
  const { child, finished } = startDriver();
  onRequest = ({ messages }) => {
    const isImplementing = String(messages[0]?.content).includes('Stage: implement');
    if (isImplementing && messages.filter(({ role }) => role === 'assistant').length === 3)
      child.kill('SIGKILL');
  };
  await expect.poll(() => server.requests.length).toBeGreaterThan(0);
  const devs = await Orchestrator.open({ dir: join(dir, '.devs') });
  await approveNext(devs, 'design_approval');
  await approveNext(devs, 'dag_approval');
  devs.close();
  expect((await finished).signal).toBe('SIGKILL');
  onRequest = () => undefined;
}

async function driveToTheEnd(): Promise<Ended> {
  const { code, stdout, stderr } = await startDriver().finished;
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout) as Ended;
}

const stageNameOf = (request: ChatRequest): string | undefined =>
  /^Stage: ([\w ]+)/m.exec(String(stageView(request).messages[0]?.content))?.[1];

/** What a request asks: equal texts are the same question. */
const questionOf = ({ messages }: ChatRequest): string => JSON.stringify(messages);

function everythingIn(folder: string): string {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return files.map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1')).join('\n');
}

test('a model takes a brief through both gates and a kill -9 to tested commits, an epic after the other', async () => {
  await driveUntilKilled();
  const killedAt = server.requests.length;
  const end = await driveToTheEnd();

  expect(end).toMatchObject({ status: 'completed', commits: ['Add numbers', 'Double a number'] });
  const folder = join(dir, '.devs-work', 'sum');
  const files = execFileSync('git', ['ls-files'], { cwd: folder, encoding: 'utf8' }).trim().split('\n');
  expect(files).toEqual([
    'docs/add.md',
    'docs/double.md',
    'package.json',
    'src/add.js',
    'src/double.js',
    'test/add.test.js',
    'test/double.test.js',
  ]);

  // Only the stage that was in flight is asked again, from its beginning; what was recorded is not. What was said before it
  // was lost with its process: its conversation begins with what was recorded.
  const questions = server.requests.map(questionOf);
  const repeated = questions.flatMap((text, index) => (questions.indexOf(text) < index ? [index] : []));
  expect(repeated).toEqual([1]);
  const afterwards = server.requests.slice(killedAt);
  expect(afterwards.slice(0, 5).map(stageNameOf)).toEqual([
    ...Array.from({ length: 4 }, () => 'implement one task'),
    'document one finished task',
  ]);
  const [anew] = afterwards;
  expect(anew?.messages).toHaveLength(2);
  expect(String(anew?.messages[1]?.content)).toMatch(/<test_diff>[\s\S]+<check_without_the_code>/);

  // One request failed, and four were spent on the attempt that was killed.
  expect(end.cost).toMatchObject({ tokensIn: 100 * (server.requests.length - 5) });
  expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
  const kept = everythingIn(dir);
  expect(kept).toContain('500 Cannot serve [');
  expect(kept).not.toContain(KEY);
}, 120_000);
