import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ChatServer } from '../../../core/test/support/ChatServer.ts';
import { done } from '../../../core/test/support/readme/world.ts';
import { sumModel } from '../../../core/test/support/sumModel.ts';
import { callMain } from '../support/callMain.ts';
import { effects } from './readme/world.ts';

const README = new URL('../../../../README.md', import.meta.url);
const BLOCK = /^```ts\n([\s\S]*?)^```$/gm;

/** What a program has beside the page: where it takes from what the page leaves to the reader. */
const OF_THE_WORLD = /^import .* from '\.\/world\.ts';\n/m;

/** Beside the package that has LangChain's agents. */
const AGENT = '../../../core/test/support/readme/agent.ts';

let dir: string;
let before: string;

beforeEach(() => {
  before = process.cwd();
  dir = mkdtempSync(join(tmpdir(), 'devs-readme-'));
  process.chdir(dir);
});

afterEach(() => {
  process.chdir(before);
  vi.unstubAllEnvs();
  rmSync(dir, { recursive: true, force: true });
});

test('the programs of README.md are those that are compiled and run here', () => {
  const shown = [...readFileSync(README, 'utf8').matchAll(BLOCK)].map(([, text]) => text);
  const compiled = ['readme/graph.ts', AGENT, 'readme/brief.ts'].map((path) =>
    readFileSync(new URL(path, import.meta.url), 'utf8').replace(OF_THE_WORLD, ''),
  );
  expect(shown).toEqual(compiled);
});

test('the graph of README.md pays once and publishes once', async () => {
  await import('./readme/graph.ts');
  expect(effects.map((effect) => effect.split(' ')[0])).toEqual(['model', 'publish']);
});

test('the agent of README.md asks before it sends a mail, and does each thing once', async () => {
  await import('../../../core/test/support/readme/agent.ts');
  expect(done).toEqual(['model 0', 'weather here', 'send_mail It rains.', 'model 1']);
});

test('the brief of README.md is driven from its design to its plan', async () => {
  const server = await ChatServer.start(sumModel);
  vi.stubEnv('OPENAI_BASE_URL', server.url);
  vi.stubEnv('OPENAI_API_KEY', 'plain-words-as-a-key');
  await import('./readme/brief.ts');
  await server.stop();
  const { stdout } = await callMain(dir, ['gates', '--json']);
  expect(JSON.parse(stdout)).toMatchObject([{ kind: 'dag_approval', threadId: 'csv-export' }]);
});
