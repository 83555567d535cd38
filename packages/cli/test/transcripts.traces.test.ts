import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, vi } from 'vitest';
import { ChatServer, callOf } from '../../core/test/support/ChatServer.ts';
import { sumModel } from '../../core/test/support/sumModel.ts';
import { callMain } from './support/callMain.ts';
import { BRIEF, test } from './support/fixtures.ts';
import { Silence } from './support/Silence.ts';

const AGENT = fileURLToPath(new URL('fixtures/talkingAgent.mjs', import.meta.url));

/** What the agents say, without its beginning. */
const CANARY = 'm7Q'.repeat(12);

/** Longer than a person may be left without a sign, ms. */
const PAUSE = 2_300;

/** Without the first call of a tool, and its answer. */
const withoutFirst = <Message>(messages: readonly Message[]): readonly Message[] => [
  ...messages.slice(0, 2),
  ...messages.slice(4),
];

afterEach(() => vi.unstubAllEnvs());

test('what a model, an agent over the protocol and a command say is read while it is said and afterwards, masked', async ({
  dir,
}) => {
  let reviews = 0;
  const server = await ChatServer.start((request) => {
    const isReview = /^Stage: review/m.test(String(request.messages[0]?.content));
    reviews += isReview ? 1 : 0;
    return reviews === 1 && isReview
      ? callOf('search_text', { text: `ghp_${CANARY}` })
      : sumModel({ ...request, messages: isReview ? withoutFirst(request.messages) : request.messages });
  });
  vi.stubEnv('OPENAI_API_KEY', 'plain-words-as-a-key');
  vi.stubEnv('OPENAI_BASE_URL', server.url);
  const agents = [
    'openai:scripted',
    `implement=acp:node ${AGENT} acp ${PAUSE}`,
    `document=command:node ${AGENT} command`,
  ].flatMap((name) => ['--agents', name]);
  const about = ['--id', 'sum', '--check', 'node --test', '--no-sandbox', '--no-repository', '--yes'];
  let silence: Silence | null = null; // from the first line: until then modules are loaded
  const { stdout: screen } = await callMain(dir, ['run', BRIEF, ...agents, ...about, '--epic', 'E1', '-v'], {
    isTTY: true,
    onWrite: () => {
      silence ??= new Silence();
      silence.broken();
    },
  });
  expect((silence as Silence | null)?.end()).toBeLessThan(PAUSE);
  await server.stop();

  const said: Record<string, string> = {};
  for (const stage of ['research', 'T1.implement', 'T1.document', 'T1.review'])
    said[stage] = (await callMain(dir, ['log', 'sum', '--stage', stage])).stdout;
  for (const place of [screen, said['T1.implement']]) {
    expect(place).toContain('│ I code with [REDACTED:github]');
    expect(place).toContain('│ ✓ Edit src/add.js');
    expect(place).toContain('│   +export const add');
  }
  expect(said['research']).toContain('│ * submit_documents');
  expect(said['research']).toContain('│ used: openai:scripted, 100 tokens in, 10 out');
  expect(said['T1.implement']).toContain('│ used: 20 tokens in, 7 out');
  expect(said['T1.document']).toContain('│ I document with [REDACTED:github]');
  expect(said['T1.review']).toContain('│ * search_text [REDACTED:github]');
  expect(JSON.stringify([screen, said])).not.toContain(CANARY);
  const sent = (await callMain(dir, ['log', 'sum', '--stage', 'T1.review', '--prompt'])).stdout;
  expect(sent).toContain('Stage: review');
  expect(sent).toContain('<check>\nnode --test: 1 passed');
  expect(sent).toContain('+export const add');
  expect(sent).not.toContain('submit_review {');
  expect(said['T1.review']).toMatch(/│ > sent: \d+ characters; --prompt prints them/);
  for (const name of ['state.sqlite', 'state.sqlite-wal']) {
    const path = join(dir, '.devs', name);
    if (existsSync(path)) expect(readFileSync(path).includes(CANARY), name).toBe(false);
  }
});
