import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  type ChatRequest,
  ChatServer,
  callOf,
  type Reply,
  stageView,
} from '../../../core/test/support/ChatServer.ts';
import { sumModel } from '../../../core/test/support/sumModel.ts';
import { spawnAgents } from '../support/spawnAgents.ts';

let dir: string;
let server: ChatServer;
/** Called for each request before it is answered. */
let onRequest: (request: ChatRequest) => void;

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'devs-running-checks-'));
  onRequest = () => undefined;
  server = await ChatServer.start((request) => {
    onRequest(request);
    if (stageOf(request) === 'implement') return implementation(request);
    return stageOf(request) === 'write the failing test' ? countedTest(request) : sumModel(request);
  });
});

afterEach(async () => {
  await server.stop();
  rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
});

const stageOf = (request: ChatRequest): string =>
  /^Stage: (implement|write the failing test|review|document|distill)/m.exec(
    String(stageView(request).messages[0]?.content),
  )?.[1] ?? '';

const spoken = ({ messages }: ChatRequest): number =>
  messages.filter(({ role }) => role === 'assistant').length;

const lastOf = ({ messages }: ChatRequest): string => String(messages.at(-1)?.content);

/** The test of sums, which leaves a mark whenever it runs. */
function countedTest(request: ChatRequest): Reply {
  const content = `import assert from 'node:assert';
import { appendFileSync } from 'node:fs';
import { test } from 'node:test';

appendFileSync(${JSON.stringify(join(dir, 'ran'))}, 'x');
const { add } = await import('../src/add.js');
test('add', () => assert.equal(add(2, 2), 4));
`;
  const files = [
    { name: 'write_file', arguments: JSON.stringify({ path: 'test/add.test.js', content }) },
    { name: 'write_file', arguments: '{"path":"package.json","content":"{ \\"type\\": \\"module\\" }\\n"}' },
  ];
  if (spoken(request) === 0) return { kind: 'calls', calls: files };
  return callOf('finish', { summary: 'A test of add.' });
}

/** Writes what is wrong, reads so in the output of the checks, and mends it. */
function implementation(request: ChatRequest): Reply {
  const steps: readonly Reply[] = [
    callOf('write_file', { path: 'src/add.js', content: 'export const add = (a, b) => a * b + 1;\n' }),
    callOf('run_checks', {}),
    callOf('edit_file', { path: 'src/add.js', find: 'a * b + 1', replace: 'a + b' }),
    callOf('run_checks', {}),
    callOf('finish', { summary: 'Sums are right.' }),
  ];
  return steps[spoken(request)] ?? { kind: 'status', status: 400, message: 'Nothing more to say.' };
}

const drive = () =>
  spawnAgents(new URL('modelRun.child.ts', import.meta.url), [dir, server.url, 'first'], {
    OPENAI_API_KEY: 'key',
  });

const timesRun = (): number => {
  const marks = join(dir, 'ran');
  return existsSync(marks) ? readFileSync(marks, 'utf8').length : 0;
};

test('a model runs the checks, reads what is red, mends it; killed in between, no run is made twice', async () => {
  const killed = drive();
  onRequest = (request) => {
    if (stageOf(request) === 'implement' && spoken(request) === 2) killed.child.kill('SIGKILL');
  };
  expect((await killed.finished).signal).toBe('SIGKILL');
  expect(timesRun(), 'the red check, and the first run of the model').toBe(2);

  onRequest = () => undefined;
  const { code, stdout, stderr } = await drive().finished;
  expect(code, stderr).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ commits: ['Add numbers'] });
  expect(timesRun(), 'the second run of the model, and the green check').toBe(4);

  const told = server.requests.filter((request) => stageOf(request) === 'implement');
  const [red, , green] = told.slice(-3).map(lastOf);
  expect(red).toMatch(
    /--input-type=module -e\s[^\]]* failed \(exit code 1\)\.[\s\S]*5 == 4[\s\S]*\[2 runs are left in this stage\.\]/,
  );
  expect(green).toMatch(/--input-type=module -e\s[^\]]* passed\.[\s\S]*\[1 run is left in this stage\.\]/);

  const offering = server.requests.filter(({ tools }) =>
    tools.some((tool) => tool.function.name === 'run_checks'),
  );
  expect([...new Set(offering.map(stageOf))].sort()).toEqual([
    'document',
    'implement',
    'review',
    'write the failing test',
  ]);
}, 60_000);
