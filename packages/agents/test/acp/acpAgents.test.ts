import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StageAgents, TaskRequest } from '@devs/core';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { howMany } from '../../../core/test/support/howMany.ts';
import { spawnProgram } from '../../../core/test/support/spawnTs.ts';
import type { AcpProgram } from '../../src/acp/AcpProgram.ts';
import { type AcpAgentsOptions, acpAgents } from '../../src/acp/acpAgents.ts';
import { customSandbox, type Sandbox } from '../../src/sandbox/Sandbox.ts';
import { Bench, callWith, gone, isGone } from '../coding/Bench.ts';

const MIB = 1024 * 1024;

/** What an agent may print in the tests of those that do not stop. */
const FLOOD_BYTES = howMany('DEVS_FLOOD_MIB', 20) * MIB;

let bench: Bench;
beforeEach(() => {
  bench = new Bench();
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await bench.clear();
});

const agentsOf = (mode: string, more: Partial<AcpAgentsOptions> = {}): Promise<StageAgents> =>
  bench.acp(bench.program(mode), more);
const left = (): readonly number[] => bench.spawned().filter((pid) => !isGone(pid));

describe('an agent over the protocol', () => {
  test('edits in place, and tells what it does', async () => {
    const { call, reports, told } = callWith();
    const result = await (await agentsOf('work')).implement(bench.request(), call);
    expect(result).toEqual({ summary: 'It is done.', files: [] });
    expect(readFileSync(join(bench.dir, 'sum.js'), 'utf8')).toBe('a\nc\n');
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

  test('is sent back a wrong answer in the same session, and only the rest is its cost', async () => {
    const { call, reports, told } = callWith();
    expect(await (await agentsOf('dearly')).review(bench.request(), call)).toEqual({
      approved: false,
      comments: 'No.',
    });
    expect(reports).toMatchObject([{ costUsd: 0.5 }, { costUsd: 0.25 }]);
    expect(told.filter(({ kind }) => kind === 'usage').at(-1)).toMatchObject({ usage: { costUsd: 0.75 } });
  });

  test('does test, code and documentation of a task in one session, each told once and paid for once', async () => {
    const agents = await agentsOf('remembers');
    const said: string[] = [];
    const costs: unknown[] = [];
    const stage = async (
      name: 'writeTest' | 'implement' | 'document',
      conversation: string,
    ): Promise<void> => {
      const { call, reports } = callWith();
      const { summary } = await agents[name](bench.request(), { ...call, conversation });
      said.push(summary);
      costs.push(...reports.map((report) => ('costUsd' in report ? report.costUsd : null)));
    };
    await stage('writeTest', 'run/1');
    await stage('implement', 'run/1');
    await stage('document', 'run/1');
    // Asked again after it was said, in another attempt, or without the stage before it: from the beginning.
    await stage('document', 'run/1');
    await stage('writeTest', 'run/2');
    await stage('implement', 'run/1');
    expect(said.map((text) => text.replace(' with its task', ' +'))).toEqual([
      '1: write +',
      '1: write implement',
      '1: write implement document',
      '2: document +',
      '3: write +',
      '4: implement +',
    ]);
    expect(costs).toEqual([0.25, 0.25, 0.25, 0.25, 0.25, 0.25]);
    expect(bench.spawned()).toHaveLength(1);
    await agents.close?.();
  });

  test('keeps the session of a task through checks of half an hour, and an idle process for a minute', async () => {
    const agents = await agentsOf('remembers');
    const stage = async (name: 'writeTest' | 'implement' | 'document'): Promise<string> =>
      (await agents[name](bench.request(), { ...callWith().call, conversation: 'run/1' })).summary;
    const after = async (minutes: number, name: 'writeTest' | 'implement' | 'document'): Promise<void> => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      try {
        await stage(name);
        await vi.advanceTimersByTimeAsync(minutes * 60_000);
      } finally {
        vi.useRealTimers();
      }
    };
    await after(29, 'writeTest');
    expect(await stage('implement')).toBe('1: write implement');
    await after(31, 'writeTest');
    await Promise.all(bench.spawned().map(gone));
    await stage('writeTest');
    await stage('implement');
    await after(1.1, 'document');
    await Promise.all(bench.spawned().map(gone));
  });

  test('stays warm from stage to stage, is another one for another kind of work or folder, and ends with the drive', async () => {
    const agents = await agentsOf('work');
    await agents.writeTest(bench.request(), callWith().call);
    await agents.implement(bench.request(), callWith().call);
    await agents.document(bench.request(), callWith().call);
    expect(bench.spawned()).toHaveLength(1);
    await agents.review(bench.request(), callWith().call).catch(() => undefined);
    expect(bench.spawned()).toHaveLength(2);
    const moved = join(bench.base, 'moved');
    mkdirSync(moved);
    await agents.implement(
      bench.request({ workspace: { ...bench.request().workspace, dir: moved } }),
      callWith().call,
    );
    expect(readFileSync(join(moved, 'sum.js'), 'utf8')).toBe('a\nc\n');
    expect(bench.spawned()).toHaveLength(3);
    await agents.close?.();
    expect(left()).toEqual([]);
    await agents.implement(bench.request(), callWith().call);
    expect(bench.spawned()).toHaveLength(4);
  });

  test('is told what kind of stage it is started for', async () => {
    const settings: AcpProgram['settings'] = ({ confined, readOnly }) => ({
      MODE: `${confined} ${readOnly}`,
    });
    const modeOf = async (stage: 'implement' | 'review', sandbox: Sandbox | null): Promise<string> => {
      const { call, told } = callWith();
      const agents = await bench.acp(bench.program('mode', { settings }), { sandbox });
      await agents[stage](bench.request(), call).catch(() => undefined);
      return told.flatMap((each) => (each.kind === 'text' ? [each.text] : []))[0] ?? '';
    };
    expect(await modeOf('implement', null)).toBe('false false');
    expect(await modeOf('review', customSandbox(['env']))).toBe('true true');
  });
});

describe('what it asks to be let to do', () => {
  const asks = (...tools: readonly object[]): TaskRequest =>
    bench.request({ guidance: tools.map((tool) => `ASK ${JSON.stringify(tool)}`) });
  const at = (path: string) => ({ locations: [{ path }] });

  test('is let inside the folder of the run, and nowhere else; each is told', async () => {
    writeFileSync(join(bench.dir, 'here.js'), '');
    symlinkSync(bench.base, join(bench.dir, 'link'));
    const agents = await agentsOf('permissions');
    const { call, told } = callWith();
    const { summary } = await agents.implement(
      asks(
        { kind: 'edit', ...at(join(bench.dir, 'new/sum.js')) },
        { kind: 'edit', ...at('sum.js') },
        { kind: 'read', ...at(join(bench.dir, 'here.js')) },
        { kind: 'read', ...at('/etc/passwd') },
        { kind: 'edit', ...at(join(bench.dir, '../work-2/x')) },
        { kind: 'edit', ...at(join(bench.dir, 'link/x')) },
        { kind: 'read', ...at(join(bench.dir, 'link/spawned')) },
        { kind: 'edit', ...at(join(bench.dir, '.git')) },
        { kind: 'edit', locations: [{ path: 'a' }, { path: '/b' }] },
        { kind: 'edit', rawInput: { file_path: '/etc/hosts' }, ...at('a') },
        { kind: 'edit', content: [{ type: 'diff', path: '/etc/hosts', newText: 'x' }], ...at('a') },
        { kind: 'edit' },
        { kind: 'execute', ...at(bench.dir) },
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
      why: 'outside the folder of the run',
    });
  });

  test('are commands only in a sandbox, and in a stage that reads neither they nor edits', async () => {
    const confined = await agentsOf('permissions', { sandbox: customSandbox(['env']) });
    const tools = [
      { kind: 'execute', title: 'npm test' },
      { kind: 'edit', ...at('a') },
      { kind: 'read', ...at(bench.dir) },
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
    (await agentsOf(mode, { graceMs: 200, ...more })).implement(bench.request(), callWith().call);

  test.for([
    ['refusal', 'AGENT_INVALID_OUTPUT', /it refuses\. I will not\./],
    ['max_tokens', 'AGENT_INVALID_OUTPUT', /token limit/],
    ['max_turn_requests', 'AGENT_INVALID_OUTPUT', /request limit/],
    ['cancelled', 'AGENT_FAILED', /without a request/],
    ['invented', 'AGENT_FAILED', /an unknown reason: because/],
    ['fails', 'AGENT_FAILED', /Internal error: overdrawn .*REDACTED/],
    ['newer', 'AGENT_FAILED', /speaks version 2 of the protocol/],
    ['pesters', 'AGENT_FAILED', /sent 65 requests at once/],
  ] as const)('%s is %s in words', async ([mode, code, words]) => {
    const failed = fails(mode);
    await expect(failed).rejects.toMatchObject({ code });
    await expect(failed).rejects.toThrow(words);
    expect(left()).toEqual([]);
  });

  test('is not believed where its tokens are known to be others', async () => {
    const { call, reports } = callWith();
    const program = bench.program('work', { countsTokens: false });
    const agents = await bench.acp(program);
    expect(agents.reports).toEqual([{ name: 'agent', tokens: false, cost: false, undeclared: true }]);
    await agents.implement(bench.request(), call);
    expect(reports).toEqual([{ costUsd: 0.25 }]);
  });

  test.each([
    [{}, { tokens: false, cost: false, undeclared: true }],
    [{ countsTokens: true }, { tokens: true, cost: false, undeclared: true }],
    [
      { countsTokens: true, countsCost: false },
      { tokens: true, cost: false },
    ],
    [
      { countsTokens: true, countsCost: true },
      { tokens: true, cost: true },
    ],
  ])('is believed to report what is declared, and no more: %j', async (declared, known) => {
    const { reports } = await bench.acp(bench.program('work', declared));
    expect(reports).toEqual([{ name: 'agent', ...known }]);
  });

  test('that is not logged in says how to', async () => {
    const program = bench.program('auth', { login: 'agent login', env: ['AGENT_KEY'] });
    const failed = (await bench.acp(program)).implement(bench.request(), callWith().call);
    await expect(failed).rejects.toMatchObject({
      code: 'AGENT_FAILED',
      remedy: 'Run `agent login` or set AGENT_KEY, then resume the run.',
    });
  });

  test('that is not installed is refused before anything runs, with what installs it', async () => {
    vi.stubEnv('PATH', bench.dir);
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
    expect(existsSync(join(bench.dir, 'sum.js'))).toBe(false);
  });

  test('reports an impossible usage as what is no figure', async () => {
    const { call, reports } = callWith();
    await (await agentsOf('impossible')).implement(bench.request(), call);
    expect(reports).toEqual([{ tokensIn: Number.NaN, tokensOut: 7, tokensCached: 80, costUsd: -5 }]);
  });

  test('does not undo a failed tool by calling it finished', async () => {
    const { call, told } = callWith();
    await (await agentsOf('denies')).implement(bench.request(), call);
    expect(told).toEqual([
      { kind: 'tool', id: 't1', name: 'Edit sum.js', state: 'failed' },
      { kind: 'text', text: 'I have edited it.' },
    ]);
  });

  test('speaks and asks for another session: nothing of it is heard or let', async () => {
    const { call, told } = callWith();
    const { summary } = await (await agentsOf('otherSession')).implement(bench.request(), call);
    expect(summary).toBe('cancelled cancelled');
    expect(told).toEqual([{ kind: 'text', text: 'cancelled cancelled' }]);
  });

  test('is ended when it opens a session without a name, or answers with no reason', async () => {
    await expect(fails('nameless')).rejects.toThrow('opened a session without an id');
    await expect(fails('reasonless')).rejects.toThrow('ended its turn without a reason');
    expect(left()).toEqual([]);
  });

  test.for([
    ['words', /printed more than \d+ bytes/, 600_000],
    ['tools', /printed more than \d+ bytes/, 600_000],
    ['diffs', /printed more than \d+ bytes/, 600_000],
    ['line', /16777216 byte limit/, 600_000],
    ['errors', /was stopped after/, 500],
  ] as const)(
    'without end (%s) is ended, and memory stays bounded',
    async ([kind, words, timeoutMs], { annotate }) => {
      const before = process.memoryUsage().rss;
      let most = 0;
      const watch = setInterval(() => {
        most = Math.max(most, process.memoryUsage().rss);
      }, 20);
      const agents = await agentsOf(`flood:${kind}`, {
        maxOutputBytes: FLOOD_BYTES,
        timeoutMs,
        graceMs: 200,
      });
      const call = { ...callWith().call, onActivity: () => undefined };
      await expect(agents.implement(bench.request(), call)).rejects.toThrow(words);
      clearInterval(watch);
      expect(most - before).toBeLessThan(400 * MIB);
      expect(left()).toEqual([]);
      await annotate(`${Math.round((most - before) / MIB)} MiB more`);
    },
  );

  test('that is aborted is told to cancel, and leaves nothing behind', async () => {
    const stop = new AbortController();
    const { call, reports } = callWith(stop.signal);
    const aborted = expect((await agentsOf('polite')).implement(bench.request(), call)).rejects.toThrow(
      'enough',
    );
    const pids = await bench.startedPids();
    stop.abort(new Error('enough'));
    await aborted;
    expect(existsSync(join(bench.dir, 'cancelled'))).toBe(true);
    expect(reports).toEqual([{ costUsd: 0.5 }]);
    await Promise.all(pids.map(gone));
  });
});

/** What keeps this process from ending. */
const held = (): number =>
  process.getActiveResourcesInfo().filter((name) => /^(?:ProcessWrap|PipeWrap)$/.test(name)).length;
const heldByNobody = held();

test('an idle agent keeps nobody from ending', async () => {
  await expect.poll(held).toBe(heldByNobody); // the agents of the tests before this one are gone
  const agents = await agentsOf('work');
  const work = agents.implement(bench.request(), callWith().call);
  await expect.poll(held, { interval: 5 }).toBeGreaterThan(heldByNobody);
  await work;
  expect(left()).toHaveLength(1);
  expect(held()).toBeLessThanOrEqual(heldByNobody);
});

test('no agent outlives a driver that is killed, neither one at work nor an idle one', async () => {
  const [, file = '', , log = ''] = bench.program('').argv;
  const driver = spawnProgram('packages/agents/test/acp/driver.child.ts', [bench.dir, file, log]);
  const [working = 0, deaf = 0] = await bench.startedPids();
  driver.child.kill('SIGKILL');
  await driver.finished;
  await Promise.all(bench.spawned().map(gone));
  expect(bench.spawned()).toEqual([expect.any(Number), working]);
  process.kill(deaf, 'SIGKILL');
});
