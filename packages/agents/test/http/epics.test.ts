import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Orchestrator, type PipelineResult } from '@devs/core';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ChatRequest, ChatServer, stageView, USAGE } from '../../../core/test/support/ChatServer.ts';
import { NODE_TESTS } from '../../../core/test/support/nodeTests.ts';
import { sumModel } from '../../../core/test/support/sumModel.ts';
import { CommandChecks } from '../../src/checks/CommandChecks.ts';
import { modelAgents } from '../../src/models/modelAgents.ts';
import { GitWorkspace } from '../../src/workspace/GitWorkspace.ts';

const BRIEF = '# Sum\n\nAdd numbers, then double them.\n';

/** What a task of this model takes: its stages, each with the requests of its conversation. */
const TASK = [
  ...Array<string>(3).fill('write the failing test'),
  ...Array<string>(4).fill('implement'),
  ...Array<string>(2).fill('document'),
  ...Array<string>(2).fill('review'),
];

let dir: string;
let server: ChatServer;
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'devs-epics-'));
  server = await ChatServer.start(sumModel);
});
afterEach(async () => {
  await server.stop();
  rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
});

/** Opens the project as a process that has just begun would, and drives its run. */
async function drive(epic: string, approve: readonly string[]): Promise<PipelineResult> {
  const settings = { apiKey: 'key', configuration: { baseURL: server.url } };
  const devs = await Orchestrator.open({
    dir: join(dir, '.devs'),
    agents: await modelAgents({ model: 'openai:scripted', settings }),
    workspace: new GitWorkspace({ dir }),
    checks: new CommandChecks({ argv: NODE_TESTS }),
  });
  try {
    const run = await devs.start({ id: 'sum', brief: BRIEF });
    let now = await run.resume({ epic });
    for (const kind of approve) {
      expect(now).toMatchObject({ status: 'waiting', gates: [{ kind }] });
      for (const gate of now.gates)
        await run.decide(gate, { approved: true, by: { kind: 'human', id: 'ada' } });
      now = await run.resume({ epic });
    }
    return now;
  } finally {
    devs.close();
  }
}

const stageOf = (request: ChatRequest): string =>
  /^Stage: (research|design|distill|write the failing test|implement|review|document)/m.exec(
    String(stageView(request).messages[0]?.content),
  )?.[1] ?? '';

/** What all that was asked has cost. */
const costOf = (requests: readonly ChatRequest[]) => ({
  tokensIn: requests.length * USAGE.prompt_tokens,
  tokensOut: requests.length * USAGE.completion_tokens,
});

/** The commits of the run's branch, newest first, each with the files it added. */
function history(): readonly string[] {
  const args = ['log', '--format=%x00%s', '--name-only', '--diff-filter=A'];
  const log = execFileSync('git', args, { cwd: join(dir, '.devs-work', 'sum'), encoding: 'utf8' });
  return log
    .split('\0')
    .slice(1)
    .map((commit) => commit.trim().split(/\n+/).join(' '));
}

const ADD = 'Add numbers docs/add.md package.json src/add.js test/add.test.js';
const DOUBLE = 'Double a number docs/double.md src/double.js test/double.test.js';

test('a model does one epic, and after a restart the other; nothing is asked twice', async () => {
  const first = await drive('E1', ['design_approval', 'dag_approval']);
  expect(first).toMatchObject({ status: 'paused', reason: 'E1 is finished' });
  expect(server.requests.map(stageOf)).toEqual(['research', 'design', 'distill', ...TASK]);
  expect(history()).toEqual([ADD]);
  expect(first.cost).toMatchObject({ ...costOf(server.requests), calls: 7 });

  const asked = server.requests.length;
  expect(await drive('E1', [])).toEqual(first);
  expect(server.requests).toHaveLength(asked);

  const second = await drive('E2', []);
  expect(second).toMatchObject({
    status: 'completed',
    commits: [{ subject: 'Add numbers' }, { subject: 'Double a number' }],
  });
  expect(server.requests.slice(asked).map(stageOf)).toEqual(TASK);
  expect(history()).toEqual([DOUBLE, ADD]);
  expect(second.cost).toMatchObject({ ...costOf(server.requests), calls: 11 });
  const questions = server.requests.map(({ messages }) => JSON.stringify(messages));
  expect(new Set(questions).size).toBe(questions.length);
}, 60_000);
