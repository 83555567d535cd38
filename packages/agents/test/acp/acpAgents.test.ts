import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Activity, AgentCall, StageAgents, TaskRequest, UsageReport } from '@devs/core';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { spawnTs } from '../../../core/test/support/spawnTs.ts';
import type { AcpProgram } from '../../src/acp/AcpProgram.ts';
import { type AcpAgentsOptions, acpAgents } from '../../src/acp/acpAgents.ts';
import { customSandbox } from '../../src/sandbox/customSandbox.ts';

const AGENT = fileURLToPath(new URL('agent.child.mjs', import.meta.url));

let base: string;
let dir: string;
const opened: StageAgents[] = [];
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'devs-acp-'));
  dir = join(base, 'work');
  mkdirSync(dir);
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map(async (agents) => agents.close?.()));
  vi.unstubAllEnvs();
  rmSync(base, { recursive: true, force: true, maxRetries: 3 });
});

const agent = (mode: string, more: Partial<AcpProgram> = {}): AcpProgram => ({
  name: 'agent',
  argv: [process.execPath, AGENT, mode, join(base, 'spawned')],
  ...more,
});

async function agentsOf(mode: string, more: Partial<AcpAgentsOptions> = {}): Promise<StageAgents> {
  const agents = await acpAgents({ agent: agent(mode), sandbox: null, ...more });
  opened.push(agents);
  return agents;
}

const request = (more: Partial<TaskRequest> = {}): TaskRequest => ({
  task: { taskId: 'sum:1', name: 'Add', description: 'A sum.', acceptanceCriteria: ['1 + 2 is 3'] },
  documents: [],
  attempt: 1,
  lastFailure: null,
  guidance: [],
  workspace: { dir, list: async () => [], read: async () => '' },
  ...more,
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

const spawned = (): readonly number[] =>
  readFileSync(join(base, 'spawned'), 'utf8').trim().split('\n').map(Number);

async function startedPids(): Promise<readonly number[]> {
  while (!existsSync(join(dir, 'pids'))) await sleep(20);
  await sleep(20);
  return readFileSync(join(dir, 'pids'), 'utf8').split(' ').map(Number);
}

/** A killed one stays a zombie until its new parent reaps it. */
const isGone = (pid: number): boolean =>
  !existsSync(`/proc/${pid}/stat`) || / Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));

async function gone(pid: number): Promise<void> {
  while (!isGone(pid)) await sleep(20);
}

describe('an agent over the protocol', () => {
  test('edits in place, and tells what it does', async () => {
    const { call, reports, told } = callWith();
    const result = await (await agentsOf('work')).implement(request(), call);
    expect(result).toEqual({ summary: 'It is done.', files: [] });
    expect(readFileSync(join(dir, 'sum.js'), 'utf8')).toBe('a\nc\n');
    expect(reports).toEqual([{ tokensIn: 100, tokensOut: 7, tokensCached: 80, costUsd: 0.25 }]);
    expect(told).toEqual([
      { kind: 'thought', text: 'Hm.' },
      { kind: 'plan', entries: [{ text: 'Add', state: 'pending' }] },
      { kind: 'text', text: 'I begin.' },
      { kind: 'tool', id: 't1', name: 'Edit sum.js', state: 'started', detail: 'sum.js' },
      { kind: 'tool', id: 't1', name: 'Edit sum.js', state: 'finished', detail: 'sum.js' },
      { kind: 'diff', path: 'sum.js', diff: '--- a/sum.js\n+++ b/sum.js\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n' },
      { kind: 'usage', usage: { costUsd: 0.25 } },
      { kind: 'text', text: 'It is ' },
      { kind: 'text', text: 'done.' },
      { kind: 'usage', usage: { tokensIn: 100, tokensOut: 7, costUsd: 0.25 } },
    ]);
  });

  test('answers with JSON; a wrong one is sent back once, in the same session, and only the rest is its cost', async () => {
    const { call, reports, told } = callWith();
    expect(await (await agentsOf('repaired')).review(request(), call)).toEqual({
      approved: false,
      comments: 'No.',
    });
    expect(reports).toMatchObject([{ costUsd: 0.5 }, { costUsd: 0.25 }]);
    expect(told.filter(({ kind }) => kind === 'usage').at(-1)).toMatchObject({ usage: { costUsd: 0.75 } });
    const stubborn = (await agentsOf('nonsense')).review(request(), callWith().call);
    await expect(stubborn).rejects.toMatchObject({ code: 'AGENT_INVALID_OUTPUT' });
  });

  test('stays warm from stage to stage, is another one for another kind of work or folder, and ends with the drive', async () => {
    const agents = await agentsOf('work');
    await agents.writeTest(request(), callWith().call);
    await agents.implement(request(), callWith().call);
    await agents.document(request(), callWith().call);
    expect(spawned()).toHaveLength(1);
    await agents.review(request(), callWith().call).catch(() => undefined);
    expect(spawned()).toHaveLength(2);
    const moved = join(base, 'moved');
    mkdirSync(moved);
    await agents.implement(request({ workspace: { ...request().workspace, dir: moved } }), callWith().call);
    expect(readFileSync(join(moved, 'sum.js'), 'utf8')).toBe('a\nc\n');
    expect(spawned()).toHaveLength(3);
    await agents.close?.();
    expect(spawned().filter((pid) => !isGone(pid))).toEqual([]);
    await agents.implement(request(), callWith().call);
    expect(spawned()).toHaveLength(4);
  });

  test('sees the named variables, and nothing else of its user', async () => {
    vi.stubEnv('MY_KEY', 'its-own-key');
    vi.stubEnv('OTHER_SECRET', 'not-for-it');
    const program = agent('environment', {
      env: ['MY_KEY'],
      settings: ({ readOnly }) => ({ MODE: `${readOnly}` }),
    });
    const agents = await agentsOf('', { agent: program, maxOutputBytes: 1e6 });
    vi.stubEnv('HOME', base);
    // The summary is cut at its front: the message is read whole from what was told.
    const { call, told } = callWith();
    await agents.implement(request(), call);
    const seen = JSON.parse(told.map((each) => (each.kind === 'text' ? each.text : '')).join('')) as Record<
      string,
      string
    >;
    expect(seen).toMatchObject({
      MY_KEY: 'its-own-key',
      MODE: 'false',
      HOME: expect.stringContaining('devs-agent-'),
    });
    expect(seen).not.toHaveProperty('OTHER_SECRET');
  });
});

describe('what it asks to be let to do', () => {
  const asks = (...tools: readonly object[]): TaskRequest =>
    request({ guidance: tools.map((tool) => `ASK ${JSON.stringify(tool)}`) });
  const at = (path: string) => ({ locations: [{ path }] });

  test('is let inside the folder of the run, and nowhere else; each is told', async () => {
    writeFileSync(join(dir, 'here.js'), '');
    symlinkSync(base, join(dir, 'link'));
    const agents = await agentsOf('permissions');
    const { call, told } = callWith();
    const { summary } = await agents.implement(
      asks(
        { kind: 'edit', ...at(join(dir, 'new/sum.js')) },
        { kind: 'edit', ...at('sum.js') },
        { kind: 'read', ...at(join(dir, 'here.js')) },
        { kind: 'read', ...at('/etc/passwd') },
        { kind: 'edit', ...at(join(dir, '../work-2/x')) },
        { kind: 'edit', ...at(join(dir, 'link/x')) },
        { kind: 'read', ...at(join(dir, 'link/spawned')) },
        { kind: 'edit', ...at(join(dir, '.git')) },
        { kind: 'edit', locations: [{ path: 'a' }, { path: '/b' }] },
        { kind: 'edit', rawInput: { file_path: '/etc/hosts' }, ...at('a') },
        { kind: 'edit', content: [{ type: 'diff', path: '/etc/hosts', newText: 'x' }], ...at('a') },
        { kind: 'edit' },
        { kind: 'execute', ...at(dir) },
        { kind: 'fetch' },
        { ...at('a') },
        { kind: 'edit', ...at('a'), options: [{ optionId: 'always', name: 'A', kind: 'allow_always' }] },
      ),
      call,
    );
    expect(summary).toBe(`yes yes yes ${'no '.repeat(12)}cancelled`);
    const permissions = told.filter(({ kind }) => kind === 'permission');
    expect(permissions).toHaveLength(16);
    expect(permissions[3]).toEqual({
      kind: 'permission',
      title: 'Something',
      granted: false,
      why: 'it leads out of the folder of the run',
    });
  });

  test('are commands only in a sandbox, and in a stage that reads neither they nor edits', async () => {
    const confined = await agentsOf('permissions', { sandbox: customSandbox(['env']) });
    const tools = [
      { kind: 'execute', title: 'npm test' },
      { kind: 'edit', ...at('a') },
      { kind: 'read', ...at(dir) },
    ];
    expect((await confined.implement(asks(...tools), callWith().call)).summary).toBe('yes yes yes');
    const { call, told } = callWith();
    await confined.review(asks(...tools), call).catch(() => undefined);
    const granted = told.flatMap((each) => (each.kind === 'permission' ? [each.granted] : []));
    expect(granted.slice(0, 3)).toEqual([false, false, true]);
  });
});

describe('an agent that misbehaves', () => {
  const fails = async (mode: string, more: Partial<AcpAgentsOptions> = {}) =>
    (await agentsOf(mode, more)).implement(request(), callWith().call);

  test.for([
    ['refusal', 'AGENT_INVALID_OUTPUT', /it refuses\. I will not\./],
    ['max_tokens', 'AGENT_INVALID_OUTPUT', /most tokens/],
    ['max_turn_requests', 'AGENT_INVALID_OUTPUT', /most requests/],
    ['cancelled', 'AGENT_FAILED', /nobody had cancelled it/],
    ['invented', 'AGENT_FAILED', /a reason nobody knows: because/],
    ['fails', 'AGENT_FAILED', /Internal error: overdrawn .*REDACTED/],
    ['dies', 'AGENT_FAILED', /ended with exit code 3: no login: Authorization: .*REDACTED/],
    ['newer', 'AGENT_FAILED', /speaks version 2 of the protocol/],
    ['pesters', 'AGENT_FAILED', /asked 65 things at once/],
  ] as const)('%s is %s in words', async ([mode, code, words]) => {
    const failed = fails(mode);
    await expect(failed).rejects.toMatchObject({ code });
    await expect(failed).rejects.toThrow(words);
    expect(spawned().filter((pid) => !isGone(pid))).toEqual([]);
  });

  test('is not believed where its tokens are known to be others', async () => {
    const { call, reports } = callWith();
    const program = { ...agent('work'), countsTokens: false };
    await (await agentsOf('', { agent: program })).implement(request(), call);
    expect(reports).toEqual([{ costUsd: 0.25 }]);
  });

  test('that is not logged in says how to', async () => {
    const program = agent('auth', { login: 'agent login', env: ['AGENT_KEY'] });
    await expect(fails('', { agent: program })).rejects.toMatchObject({
      code: 'AGENT_FAILED',
      remedy: 'Run `agent login` or set AGENT_KEY, then resume the run.',
    });
  });

  test('that is not installed is refused before anything runs, with what installs it', async () => {
    vi.stubEnv('PATH', dir);
    await expect(acpAgents({ agent: 'claude', sandbox: null })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      remedy: expect.stringContaining('npm install -g @agentclientprotocol/claude-agent-acp'),
    });
  });

  test('may print what is no message, answer what nobody asked, and twice: what counts is its first answer', async () => {
    const quiet = vi.spyOn(console, 'error');
    expect((await fails('garbage')).summary).toBe('Still here.');
    expect((await fails('twice')).summary).toBe('First.');
    expect(quiet).not.toHaveBeenCalled();
    quiet.mockRestore();
  });

  test('gets no files and no terminal by the protocol', async () => {
    expect((await fails('files')).summary).toBe('-32601 -32601 -32601 -32601');
    expect(existsSync(join(dir, 'sum.js'))).toBe(false);
  });

  test('reports an impossible usage as what is no figure', async () => {
    const { call, reports } = callWith();
    await (await agentsOf('impossible')).implement(request(), call);
    expect(reports).toEqual([{ tokensIn: Number.NaN, tokensOut: 7, tokensCached: 80, costUsd: -5 }]);
  });

  test.for([
    ['flood', /printed more than 67108864 bytes/],
    ['longLine', /16777216 byte limit/],
  ] as const)('without end (%s) is ended, and memory stays bounded', async ([mode, words]) => {
    const before = process.memoryUsage().rss;
    let most = 0;
    const watch = setInterval(() => {
      most = Math.max(most, process.memoryUsage().rss);
    }, 20);
    await expect(fails(mode, { maxOutputBytes: 64 * 1024 * 1024 })).rejects.toThrow(words);
    clearInterval(watch);
    expect(most - before).toBeLessThan(300 * 1024 * 1024);
    expect(spawned().filter((pid) => !isGone(pid))).toEqual([]);
  });

  test('that is silent from its start, or hangs, is ended at the time limit with what it started', async () => {
    await expect(fails('silent', { timeoutMs: 500 })).rejects.toThrow('was stopped after 500 ms');
    expect(spawned().filter((pid) => !isGone(pid))).toEqual([]);
  });

  test('that is aborted is told to cancel, and leaves nothing behind', async () => {
    const stop = new AbortController();
    const { call, reports } = callWith(stop.signal);
    const aborted = expect((await agentsOf('polite')).implement(request(), call)).rejects.toThrow('enough');
    const pids = await startedPids();
    stop.abort(new Error('enough'));
    await aborted;
    expect(existsSync(join(dir, 'cancelled'))).toBe(true);
    expect(reports).toEqual([{ costUsd: 0.5 }]);
    await Promise.all(pids.map(gone));
  });
});

test('no agent outlives a driver that is killed while it works', async () => {
  const driver = spawnTs('packages/agents/test/acp/driver.child.ts', [AGENT, dir, join(base, 'spawned')]);
  const pids = await startedPids();
  driver.child.kill('SIGKILL');
  await driver.finished;
  await gone(pids[0] ?? 0);
  expect(spawned()).toEqual([pids[0]]);
  process.kill(pids[1] ?? 0, 'SIGKILL');
});

test('an idle agent keeps nobody from ending, and ends with its driver', async () => {
  const driver = spawnTs('packages/agents/test/acp/driver.child.ts', [
    AGENT,
    dir,
    join(base, 'spawned'),
    'work',
  ]);
  expect(await driver.finished).toMatchObject({ code: 0, stdout: 'It is done.' });
  await Promise.all(spawned().map(gone));
});
