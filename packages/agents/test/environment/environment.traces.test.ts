import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Orchestrator, type PipelineResult } from '@devs/core';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { NODE_TESTS } from '../../../core/test/support/nodeTests.ts';
import { tried } from '../../../core/test/support/tried.ts';
import { UserCheckout } from '../../../core/test/support/UserCheckout.ts';
import { CommandChecks } from '../../src/checks/CommandChecks.ts';
import { commandAgents } from '../../src/command/commandAgents.ts';
import { bubblewrap } from '../../src/sandbox/bubblewrap.ts';
import { customSandbox, type Sandbox } from '../../src/sandbox/Sandbox.ts';
import { GitWorkspace } from '../../src/workspace/GitWorkspace.ts';
import { readCli } from '../command/readCli.ts';
import { Spy } from './Spy.ts';
import { SECRETS } from './secrets.ts';

const CLI = fileURLToPath(new URL('../command/codingCli.mjs', import.meta.url));
const NODE = `'${process.execPath}'`;

let base: string;
let spy: Spy;

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'devs-environment-'));
  spy = new Spy(base);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(base, { recursive: true, force: true, maxRetries: 3 });
});

/** The user's project: a repository with one commit. */
function repository(): UserCheckout {
  const dir = join(base, 'project');
  mkdirSync(dir);
  const user = UserCheckout.create(dir);
  user.write('index.js', 'export {};\n');
  user.git('add', '.');
  user.git('commit', '-q', '-m', 'First');
  return user;
}

/** A coding CLI and checks that are watched. */
async function watched(sandbox: Sandbox | null) {
  const checks = new CommandChecks({
    argv: [spy.on('check', NODE), ...NODE_TESTS.slice(1)],
    sandbox,
    env: ['FOR_CHECKS'],
  });
  const command = { argv: [spy.on('agent', `${NODE} '${CLI}' work`)], env: ['AGENT_API_KEY'] };
  const agents = await commandAgents({ command: { name: 'cli', read: readCli, ...command }, sandbox });
  return { agents, checks };
}

function plant(): void {
  for (const [name, value] of Object.entries({ ...SECRETS, ...ALLOWED })) vi.stubEnv(name, value);
}

/** A run from its brief to its commit, whose git and setup are watched too. */
async function drive(dir: string): Promise<PipelineResult> {
  spy.on('git', `'${execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim()}'`);
  const setup = new CommandChecks({ argv: [spy.on('setup', 'true')] });
  vi.stubEnv('PATH', `${spy.bin}${delimiter}${process.env['PATH']}`);
  plant();
  const workspace = new GitWorkspace({ dir, repository: dir, setup });
  const devs = await Orchestrator.open({ dir: join(dir, '.devs'), workspace, ...(await watched(null)) });
  try {
    const gates = { design: 'auto', dag: 'auto' } as const;
    return await (await devs.start({ id: 'sum', brief: '# Sum\n\nAdd.', gates })).resume();
  } finally {
    devs.close();
  }
}

/** Values that are named for one kind of command. */
const ALLOWED = { AGENT_API_KEY: 'planted-for-the-agent', FOR_CHECKS: 'planted-for-checks' };

/** Names of the planted variables of which a kind of command, started so often at least, saw the value anywhere. */
function seenBy(program: string, times: number): readonly string[] {
  const starts = spy.starts.filter((start) => start.program === program);
  expect(starts.length, program).toBeGreaterThanOrEqual(times);
  const text = starts.map(({ given }) => given).join('');
  return Object.entries({ ...SECRETS, ...ALLOWED })
    .filter(([, value]) => text.includes(value))
    .map(([name]) => name);
}

test('of twenty secrets in its environment no command of a run sees one', async ({ task }) => {
  expect(Object.keys(SECRETS)).toHaveLength(20);
  const user = repository();
  expect(await drive(user.root)).toMatchObject({ status: 'completed', commits: { length: 1 } });
  expect(seenBy('git', 20)).toEqual([]);
  expect(seenBy('setup', 1)).toEqual([]);
  expect(seenBy('check', 3)).toEqual(['FOR_CHECKS']);
  expect(seenBy('agent', 7)).toEqual(['AGENT_API_KEY']);
  tried(task, { ways: spy.starts.length * Object.keys(SECRETS).length });
  user.assertUntouched();
}, 60_000);

test('nor does a sandbox, in its arguments or its environment, or what runs in it', async ({ task }) => {
  const sandbox = customSandbox([spy.on('sandbox', 'env'), 'WORKSPACE={workspace}', 'SCRATCH={scratch}']);
  plant();
  const { agents, checks } = await watched(sandbox);
  const signal = AbortSignal.timeout(20_000);
  await agents.design(
    { brief: '# Sum', attempt: 1, documents: [], feedback: null },
    { idempotencyKey: 'k', signal, usage: () => undefined },
  );
  expect(seenBy('sandbox', 1)).toEqual(['AGENT_API_KEY']);
  expect(seenBy('agent', 1)).toEqual(['AGENT_API_KEY']);
  await checks.run({ dir: repository().root, signal });
  expect(seenBy('sandbox', 2)).toEqual(['AGENT_API_KEY', 'FOR_CHECKS']);
  expect(seenBy('check', 1)).toEqual(['FOR_CHECKS']);
  tried(task, { ways: spy.starts.length * Object.keys(SECRETS).length });
  const place = { workspace: base, dir: base, scratch: base, network: true };
  const argv = bubblewrap({ project: base }).prefix(place).join('\0');
  expect(Object.values({ ...SECRETS, ...ALLOWED }).filter((value) => argv.includes(value))).toEqual([]);
}, 60_000);
