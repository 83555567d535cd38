import type { AgentCall, StageAgents, TaskRequest } from '@devs/core';
import { afterEach, expect, test } from 'vitest';
import { ChatServer, callOf, type Reply } from '../../../core/test/support/ChatServer.ts';
import { modelAgents } from '../../src/models/modelAgents.ts';

const servers: ChatServer[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});

async function serve(script: readonly Reply[]): Promise<ChatServer> {
  const server = await ChatServer.start(script);
  servers.push(server);
  return server;
}

function agentsOn(server: ChatServer, prompts?: string): Promise<StageAgents> {
  const settings = { apiKey: 'sk-canary-0123456789abcdef', configuration: { baseURL: server.url } };
  return modelAgents({ model: 'openai:scripted', settings, ...(prompts !== undefined && { prompts }) });
}

const CALL: AgentCall = {
  idempotencyKey: 'run/visit/step',
  signal: new AbortController().signal,
  usage: () => undefined,
  conversation: 'run/1',
};
const FINISH = callOf('finish', { summary: 'Done.' });
const RED = { passed: false, exitCode: 1, timedOut: false, output: 'not ok 1', command: 'npm test' };
const FILES: Readonly<Record<string, string>> = {
  'src/sum.js': 'export const addAll = () => 0;\n',
  'README.md': `# Sum\n\n${'Words.\n\n'.repeat(500)}## addAll\n\nAdds nothing.\n`,
};
const TASK: TaskRequest = {
  task: {
    taskId: 'sum:1',
    name: 'Add',
    description: 'Make `addAll` add.',
    acceptanceCriteria: ['2 + 2 is 4'],
  },
  documents: [],
  attempt: 1,
  lastFailure: null,
  guidance: [],
  workspace: { dir: '/w', list: async () => Object.keys(FILES), read: async (path) => FILES[path] ?? '' },
};
const WITH_TEST: TaskRequest = { ...TASK, test: { files: ['a.test.js'], red: RED } };
const WITH_CODE: TaskRequest = {
  ...TASK,
  diff: '+ code',
  files: [{ path: 'src/sum.js', added: 1, removed: 1 }],
};
const SOURCE = '<file path="src/sum.js" from_line="1">\nexport const addAll = () => 0;\n</file>';
const SECTION = '<file path="README.md" from_line="1003">\n## addAll\n\nAdds nothing.\n</file>';
const HEADINGS = '<headings path="README.md">\n1: # Sum\n1003: ## addAll\n</headings>';

/** The last message of each request. */
const askedOf = ({ requests }: ChatServer): readonly string[] =>
  requests.map(({ messages }) => String(messages.at(-1)?.content));

test('stages are shown what the project has of the task, which is recorded as read', async () => {
  const server = await serve([FINISH, FINISH, FINISH]);
  const agents = await agentsOn(server);
  expect(await agents.writeTest(TASK, CALL)).toMatchObject({
    read: [{ path: 'src/sum.js', fromLine: 1, lines: 1 }],
  });
  await agents.implement(WITH_TEST, CALL);
  expect(await agents.document(WITH_CODE, CALL)).toMatchObject({
    read: [{ path: 'README.md', fromLine: 1003, lines: 3 }],
  });
  const [first, second, third] = askedOf(server);
  expect(first).toContain(`${SOURCE}\n\nStage: write the failing test`);
  expect(second).not.toContain('<file path');
  expect(third).toContain(`${SECTION}\n\n${HEADINGS}`);
});

test('no passage is shown a second time, and all of them again in another process', async () => {
  const reading = callOf('read_file', { path: 'README.md', from_line: 1003 });
  const server = await serve([reading, FINISH, FINISH, FINISH, FINISH]);
  const agents = await agentsOn(server);
  await agents.writeTest(TASK, CALL);
  await agents.implement(WITH_TEST, CALL);
  await agents.document(WITH_CODE, CALL);
  await (await agentsOn(server)).document(WITH_CODE, CALL);
  const [going, again] = askedOf(server).slice(-2);
  expect(going).toContain(HEADINGS);
  expect(going).not.toContain('<file path');
  expect(again).toContain(SECTION);
});

test('where no test is written, the code is shown it; prompts of before show nothing', async () => {
  const server = await serve([FINISH, FINISH]);
  await (await agentsOn(server)).implement(TASK, CALL);
  await (await agentsOn(server, 'v3')).writeTest(TASK, CALL);
  const [now, before] = askedOf(server);
  expect(now).toContain(SOURCE);
  expect(before).not.toContain('<file path');
});

test('a review has the code around its changes, with the prompts of before as it was', async () => {
  const lines = Array.from({ length: 9 }, (_, at) => `line ${at + 1}`);
  const workspace = {
    ...TASK.workspace,
    list: async () => ['a.js'],
    read: async () => `${lines.join('\n')}\n`,
  };
  const diff = '--- a/a.js\n+++ b/a.js\n@@ -5 +5 @@\n-five\n+line 5\n';
  const verdict = callOf('submit_review', { approved: false, comments: 'No.' });
  const server = await serve([verdict, verdict]);
  await (await agentsOn(server)).review({ ...TASK, workspace, diff }, CALL);
  await (await agentsOn(server, 'v3')).review({ ...TASK, workspace, diff }, CALL);
  const [now, before] = askedOf(server);
  expect(now).toContain('@@ -1,9 +1,9 @@\n line 1\n');
  expect(before).toContain(diff.trim());
});

test('tools are offered in few words', async () => {
  const server = await serve([FINISH]);
  await (await agentsOn(server)).writeTest(TASK, CALL);
  const tools = JSON.stringify(server.requests[0]?.tools);
  expect(tools).toContain('"from_line":{"type":"integer","exclusiveMinimum":0,"description"');
  expect(tools).not.toMatch(/\$schema|additionalProperties|9007199254740991/);
});
