import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  type Activity,
  type AgentCall,
  Orchestrator,
  type StageAgents,
  type TaskRequest,
  type UsageReport,
} from '@devs/core';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { CommandChecks } from '../../src/checks/CommandChecks.ts';
import type { CommandRecipe } from '../../src/command/CommandRecipe.ts';
import { type CommandAgentsOptions, commandAgents } from '../../src/command/commandAgents.ts';
import { customSandbox } from '../../src/sandbox/customSandbox.ts';
import { GitWorkspace } from '../../src/workspace/GitWorkspace.ts';
import { readCli } from './readCli.ts';

const CLI = fileURLToPath(new URL('codingCli.mjs', import.meta.url));

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'devs-command-'));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
});

const cli = (mode: string, more: Partial<CommandRecipe> = {}): CommandRecipe => ({
  name: 'cli',
  argv: [process.execPath, CLI, mode, ...(more.argv ?? [])],
  ...(more.env && { env: more.env }),
  ...(more.home && { home: more.home }),
  ...(more.read && { read: more.read }),
});

const agentsOf = (command: CommandRecipe, more: Partial<CommandAgentsOptions> = {}): Promise<StageAgents> =>
  commandAgents({ command, sandbox: null, ...more });

const request = (): TaskRequest => ({
  task: { taskId: 'sum:1', name: 'Add', description: 'A sum.', acceptanceCriteria: ['1 + 2 is 3'] },
  documents: [],
  attempt: 1,
  lastFailure: null,
  guidance: [],
  workspace: { dir, list: async () => [], read: async () => '' },
});

function callWith(signal: AbortSignal = new AbortController().signal) {
  const reports: UsageReport[] = [];
  const told: Activity[] = [];
  const call: AgentCall = {
    idempotencyKey: 'k',
    signal,
    usage: (report) => reports.push(report),
    onActivity: (activity) => told.push(activity),
  };
  return { call, reports, told };
}

/** Resolves with the ids that the hanging command wrote. */
async function startedPids(): Promise<readonly number[]> {
  while (!existsSync(join(dir, 'pids'))) await sleep(20);
  await sleep(20);
  return readFileSync(join(dir, 'pids'), 'utf8').split(' ').map(Number);
}

/** Resolves once no process has the id any more; a killed one stays a zombie until its new parent reaps it. */
async function gone(pid: number): Promise<void> {
  for (;;) {
    const file = `/proc/${pid}/stat`;
    if (!existsSync(file) || / Z /.test(readFileSync(file, 'utf8'))) return;
    await sleep(20);
  }
}

describe('a coding CLI', () => {
  test('edits in place; its summary and what it says it cost are taken, no files', async () => {
    const { call, reports } = callWith();
    const result = await (await agentsOf(cli('work', { read: readCli }))).implement(request(), call);
    expect(result).toEqual({ summary: 'Done: implement.', files: [] });
    expect(existsSync(join(dir, 'sum.js'))).toBe(true);
    expect(reports).toEqual([{ tokensIn: 100, tokensOut: 7, tokensCached: 80, costUsd: 0.25 }]);
  });

  test('tells what it prints while it runs, and what it cost', async () => {
    const { call, told } = callWith();
    const go = join(dir, 'go');
    const onActivity = (activity: Activity): void => {
      told.push(activity);
      if (activity.kind === 'output') writeFileSync(go, '');
    };
    const script = `process.stdout.write('begun \\u00e4'); const at = setInterval(() => {
      if (!require('node:fs').existsSync('go')) return;
      clearInterval(at); process.stderr.write('warned'); }, 5);`;
    const read = (text: string) => ({ text, usage: { costUsd: 0.5 }, problem: null });
    const recipe = { name: 'cli', argv: [process.execPath, '-e', script], read };
    const result = await (await agentsOf(recipe)).implement(request(), { ...call, onActivity });
    expect(result.summary).toBe('begun ä');
    expect(told).toEqual([
      { kind: 'output', text: 'begun ä' },
      { kind: 'output', text: 'warned' },
      { kind: 'usage', usage: { costUsd: 0.5 } },
    ]);
  });

  test('is told the stage, the task and how to end, on stdin or in a file', async () => {
    const { call } = callWith();
    const { summary } = await (await agentsOf(cli('prompt'))).implement(request(), call);
    const inFile = await (await agentsOf(cli('file', { argv: ['{promptFile}'] }))).implement(request(), call);
    expect(summary).toMatch(/in\s+place/);
    expect(summary).toContain('1 + 2 is 3');
    expect(inFile.summary).toBe(summary);
  });

  test('answers with JSON; an answer of the wrong shape is sent back once', async () => {
    const { call, reports } = callWith();
    const agents = await agentsOf(cli('repaired', { read: readCli }));
    expect(await agents.review(request(), call)).toEqual({ approved: false, comments: 'No.' });
    expect(reports).toHaveLength(2);
    const stubborn = await agentsOf(cli('nonsense', { read: readCli }));
    await expect(stubborn.review(request(), call)).rejects.toMatchObject({ code: 'AGENT_INVALID_OUTPUT' });
  });

  test('sees the named variables and files of its user, and nothing else', async () => {
    vi.stubEnv('HOME', join(dir, 'home'));
    vi.stubEnv('MY_KEY', 'its-own-key');
    vi.stubEnv('OTHER_SECRET', 'not-for-it');
    mkdirSync(join(dir, 'home', '.agent'), { recursive: true });
    writeFileSync(join(dir, 'home', '.agent', 'login.json'), '{"user":"ada"}');
    const { call } = callWith();
    const environment = await agentsOf(cli('environment', { env: ['MY_KEY'] }));
    const seen = JSON.parse((await environment.implement(request(), call)).summary) as Record<string, string>;
    expect(seen).toMatchObject({ MY_KEY: 'its-own-key', HOME: expect.stringContaining('devs-agent-') });
    expect(seen).not.toHaveProperty('OTHER_SECRET');
    const login = await agentsOf(cli('login', { home: ['.agent/login.json', '.agent/none.json'] }));
    expect((await login.implement(request(), call)).summary).toBe('{"user":"ada"}');
  });

  test('that fails is an error with its masked last words', async () => {
    const { call } = callWith();
    const failed = (await agentsOf(cli('fail'))).implement(request(), call);
    await expect(failed).rejects.toMatchObject({ code: 'AGENT_FAILED' });
    await expect(failed).rejects.toThrow(/exit code 3: no login: Authorization: .*REDACTED/);
    const reported = (await agentsOf(cli('reports', { read: readCli }))).implement(request(), call);
    await expect(reported).rejects.toThrow(/failed: The key .*REDACTED.* is invalid/);
    const refused = (await agentsOf(cli('refused', { read: readCli }))).implement(request(), call);
    await expect(refused).rejects.toThrow(/exit code 1: Invalid API key$/);
  });

  test('in a sandbox is called with the arguments it has for one', async () => {
    const [node = '', ...script] = cli('work').argv;
    const recipe = { ...cli('fail', { read: readCli }), argvInSandbox: [node, ...script] };
    const sandbox = customSandbox(['env']);
    const { summary } = await (await agentsOf(recipe, { sandbox })).implement(request(), callWith().call);
    expect(summary).toBe('Done: implement.');
    await expect((await agentsOf(recipe)).implement(request(), callWith().call)).rejects.toThrow('no login');
  });

  test.for([
    [true, {}],
    [false, { network: false }],
  ] as const)('has a network in a sandbox unless its recipe needs none: %j', async ([network, more]) => {
    const argv = [process.execPath, '-e', 'console.log(process.env.NETWORK)'];
    const sandbox = customSandbox(['env', 'NETWORK={network}']);
    const agents = await agentsOf({ name: 'mine', argv, ...more }, { sandbox });
    const { summary } = await agents.implement(request(), callWith().call);
    expect(summary.trim()).toBe(network ? 'on' : 'off');
  });

  test('that is not installed is refused before anything runs', async () => {
    const missing = agentsOf({ name: 'x', argv: ['no-such-coding-cli'] });
    await expect(missing).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
    vi.stubEnv('PATH', dir);
    await expect(commandAgents({ command: 'aider', sandbox: null })).rejects.toThrow('"aider" was not found');
  });

  test('that hangs is ended at the time limit, with what it started', async () => {
    const agents = await agentsOf(cli('hang'), { timeoutMs: 5_000 });
    const failed = expect(agents.implement(request(), callWith().call)).rejects.toThrow(
      'was stopped after 5000 ms',
    );
    const pids = await startedPids();
    await failed;
    await Promise.all(pids.map(gone));
    expect(pids).toHaveLength(2);
  });

  test('that is aborted leaves nothing behind', async () => {
    const stop = new AbortController();
    const agents = await agentsOf(cli('hang'));
    const aborted = expect(agents.implement(request(), callWith(stop.signal).call)).rejects.toThrow('enough');
    const pids = await startedPids();
    stop.abort(new Error('enough'));
    await aborted;
    await Promise.all(pids.map(gone));
  });

  test('may print more than memory holds: the end is read, and marked as such', async () => {
    const call = { ...callWith().call, onActivity: () => undefined };
    const before = process.memoryUsage().rss;
    const { summary } = await (await agentsOf(cli('flood', { argv: ['128'] }))).implement(request(), call);
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1024 * 1024);
    expect(summary).toMatch(/^… truncated\nx+/);
    expect(summary).toContain('The end.');
  });
});

test('a coding CLI takes a brief to a commit', async () => {
  const agents = await agentsOf(cli('work', { read: readCli }));
  const checks = new CommandChecks({ argv: [process.execPath, '--test'] });
  const devs = await Orchestrator.open({
    dir: join(dir, '.devs'),
    agents,
    workspace: new GitWorkspace({ dir }),
    checks,
  });
  const run = await devs.start({ brief: '# Sum\n\nAdd.', id: 'sum', gates: { design: 'auto', dag: 'auto' } });
  const result = await run.drive();
  devs.close();
  expect(result).toMatchObject({ status: 'completed', commits: [{ subject: 'Add two numbers' }] });
  expect(result.cost).toMatchObject({ costUsd: 1.75, tokensIn: 700 });
});
