import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Orchestrator } from '@devs/core';
import { MemoryWorkspace, scriptedChecks } from '@devs/core/testing';
import { expect, onTestFinished, test, vi } from 'vitest';
import { ChatServer, stageView } from '../../../core/test/support/ChatServer.ts';
import { sumModel } from '../../../core/test/support/sumModel.ts';
import { modelAgents } from '../../src/models/modelAgents.ts';

const STAGES = [
  'write the failing test of one task',
  'implement one task',
  'document one finished task',
  'review the work on one task',
];

test('small work is four paid stages of a model and one gate, and then a commit', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'devs-quick-'));
  const server = await ChatServer.start(sumModel);
  onTestFinished(async () => {
    await server.stop();
    rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
  });
  vi.stubEnv('OPENAI_API_KEY', 'key');
  onTestFinished(() => void vi.unstubAllEnvs());
  const settings = { configuration: { baseURL: server.url } };
  const devs = await Orchestrator.open({
    dir: join(dir, '.devs'),
    agents: await modelAgents({ model: 'openai:scripted', settings }),
    workspace: new MemoryWorkspace(),
    checks: scriptedChecks(),
  });
  onTestFinished(() => devs.close());

  const run = await devs.start({ brief: 'Add numbers\n\n- add(2, 2), 4\n', quick: {} });
  const { gates, cost } = await run.resume();
  expect(gates.map(({ kind }) => kind)).toEqual(['review']);
  const asked = server.requests.map(
    (request) => /^Stage: ([\w ]+)/m.exec(String(stageView(request).messages[0]?.content))?.[1],
  );
  expect(new Set(asked)).toEqual(new Set(STAGES));
  expect(cost).toMatchObject({ calls: STAGES.length, tokensIn: 100 * server.requests.length });

  const paid = server.requests.length;
  for (const gate of gates) await run.decide(gate, { approved: true, by: { kind: 'human', id: 'ada' } });
  expect(await run.resume()).toMatchObject({ status: 'completed', commits: [{ subject: 'Add numbers' }] });
  expect(server.requests).toHaveLength(paid);
});
