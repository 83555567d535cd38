import { randomUUID } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Gate,
  type LogEntry,
  Orchestrator,
  type PipelineResult,
  type PipelineRunInfo,
} from '@devs/core';
import { describe, expect } from 'vitest';
import { callMain } from './support/callMain.ts';
import { AGENTS, BRIEF, CHECK_SUM, RUN_SUM, test } from './support/fixtures.ts';
import { finishedSum, waitingSum } from './support/sumProject.ts';

const documentOf = <T>({ stdout }: { readonly stdout: string }): T => JSON.parse(stdout) as T;

const VERBS =
  'init run show edit ask approve reject resume pr docs log status rm trust serve ui compact admin'.split(
    ' ',
  );

async function onlyGate(dir: string): Promise<Gate> {
  const [gate, ...others] = documentOf<Gate[]>(await callMain(dir, ['gates', '--json']));
  if (gate === undefined || others.length > 0) throw new RangeError('Expected exactly one open gate.');
  return gate;
}

describe('devs run', () => {
  test('goes through both gates by declared policy with --yes, and records that', async ({ dir }) => {
    const run = await callMain(dir, [...RUN_SUM, '--yes', '--json']);
    expect(run.exitCode, run.stderr).toBe(0);
    expect(documentOf<PipelineResult>(run)).toMatchObject({
      status: 'completed',
      commits: [{ subject: 'Add two numbers' }],
    });
    const log = await callMain(dir, ['log', 'sum']);
    expect(log.stdout).toContain('gate approved: design, by policy:design_approval=auto');
    expect(log.stdout).toContain('gate approved: plan, by policy:dag_approval=auto');
  });

  test('is the same run the second time, whose gates stay as they were declared', async ({ dir }) => {
    await waitingSum(dir);
    const again = await callMain(dir, [...RUN_SUM, '--yes']);
    expect(again.exitCode).toBe(75);
    expect(again.stderr).toContain('--yes was ignored');
    expect(documentOf<PipelineRunInfo[]>(await callMain(dir, ['status', '--json']))).toHaveLength(1);
  });

  test('labels a new run, which status and gates find by its labels', async ({ dir }) => {
    const run = (...labels: readonly string[]) => callMain(dir, [...RUN_SUM, ...labels]);
    const bad = await run('--metadata', 'size:=five');
    expect([bad.exitCode, bad.stderr]).toEqual([2, expect.stringContaining('has no JSON scalar')]);
    expect(existsSync(join(dir, '.devs', 'state.sqlite'))).toBe(false);

    const labels = ['--metadata', 'tenant=acme', '--metadata', 'size:=5', '--tag', 'nightly'];
    expect((await run(...labels)).exitCode).toBe(75);
    const idsOf = async (...argv: readonly string[]) =>
      documentOf<PipelineRunInfo[]>(await callMain(dir, ['status', ...argv, '--json'])).map(({ id }) => id);
    expect(await idsOf('--metadata', 'tenant=acme', '--metadata', 'size:=5')).toEqual(['sum']);
    expect(await idsOf('--metadata', 'size=5')).toEqual([]);
    const gates = await callMain(dir, ['gates', '--tag', 'nightly', '--json']);
    expect(documentOf<Gate[]>(gates)).toMatchObject([{ threadId: 'sum' }]);

    expect((await run(...labels)).stderr).not.toContain('ignored');
    for (const other of [
      ['--metadata', 'tenant=other'],
      ['--tag', 'daily'],
    ])
      expect((await run(...other)).stderr).toContain('--metadata and --tag were ignored');
    expect(await idsOf('--metadata', 'tenant=acme', '--tag', 'nightly')).toEqual(['sum']);
  });

  test('tells what happens, whose words they are, and how to go on', async ({ dir }) => {
    const { stdout } = await callMain(dir, RUN_SUM);
    expect(stdout).toContain(`agents: sum (scripted)\nchecks: ${CHECK_SUM}\nsandbox: none, `);
    expect(stdout).toMatch(/^ {2,}\d+\.\ds {2}design written$/m);
    expect(stdout).toMatch(/^read: {4}devs show [0-9a-f]{8}$/m);
    expect(stdout).toMatch(/^then: {4}devs resume sum$/m);
  });

  test('reads the brief from stdin and walks the stages without agents', async ({ dir }) => {
    const stdin = (async function* () {
      yield '# Nothing\n\nOnly the stages.\n';
    })();
    const run = await callMain(dir, ['run', '-', '--agents', 'none', '--yes'], { stdin });
    expect(run.exitCode, run.stderr).toBe(0);
    expect(run.stdout).toContain('agents: none');
    expect(existsSync(join(dir, '.devs-work'))).toBe(false);
  });

  test.for([
    ['without agents', ['run', BRIEF], /--agents replay:FILE .* or --agents none/],
    ['with unknown agents', ['run', BRIEF, '--agents', 'gpt'], /Unknown agents "gpt"/],
    [
      'with a recording that is not there',
      ['run', BRIEF, '--agents', 'replay:x.jsonl', '--no-sandbox'],
      /Cannot read the recording .*x\.jsonl/,
    ],
    ['with a brief that is not there', ['run', 'x.md', '--agents', 'none'], /Cannot read the brief .*x\.md/],
    [
      'with an id that names no folder',
      ['run', BRIEF, '--agents', 'none', '--id', '../x'],
      /A run id has at most/,
    ],
    ['with an empty brief', ['run', '-', '--agents', 'none'], /The brief is empty/],
    [
      'with an unfinished check',
      ['run', BRIEF, '--agents', AGENTS, '--check', "npm 'test"],
      /is not a command/,
    ],
  ] as const)('is refused %s', async ([, argv, message], { dir }) => {
    const run = await callMain(dir, argv);
    expect(run).toMatchObject({ exitCode: 2, stdout: '' });
    expect(run.stderr).toMatch(/^CONFIG_INVALID: .*\n {2}→ /);
    expect(run.stderr).toMatch(message);
  });

  test.for([
    ['not UTF-8', Buffer.from('# Caf\xe9\n', 'latin1')],
    ['binary', Buffer.from('# A\0B\n')],
  ] as const)('refuses a brief that is %s', async ([, bytes], { dir }) => {
    writeFileSync(join(dir, 'brief.md'), bytes);
    const run = await callMain(dir, ['run', 'brief.md', '--agents', 'none']);
    expect(run).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('CONFIG_INVALID: Cannot read the brief brief.md'),
    });
    expect(existsSync(join(dir, '.devs', 'state.sqlite'))).toBe(false);
  });

  test('refuses another brief under the same id', async ({ dir }) => {
    await waitingSum(dir);
    writeFileSync(join(dir, 'other.md'), '# Other\n');
    const run = await callMain(dir, ['run', 'other.md', '--id', 'sum', '--agents', AGENTS, '--no-sandbox']);
    expect(run).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('THREAD_EXISTS') });
  });

  test('takes the project folder from --dir and says so in what is to be copied', async ({ dir }) => {
    const run = await callMain('/', [...RUN_SUM, '--dir', dir]);
    expect(existsSync(join(dir, '.devs', 'state.sqlite'))).toBe(true);
    expect(run.stdout).toContain(`then:    devs --dir ${dir} resume sum`);
  });
});

describe('devs show, approve and reject', () => {
  test('show all that is approved, documents and plan', async ({ dir }) => {
    await waitingSum(dir);
    const design = await callMain(dir, ['show', 'sum']);
    expect(design.stdout).toContain('── PRD: Sum (version 1)\n# Sum\n\nOne function adds two numbers.');
    await callMain(dir, ['approve', 'sum']);
    await callMain(dir, ['resume', 'sum']);
    const plan = await callMain(dir, ['show', 'sum']);
    expect(plan.stdout).toContain('T1    -      REQ-1         Add two numbers');
    expect(plan.stdout).toContain('- sum(2, 3) is 5');
    expect(await onlyGate(dir)).toMatchObject({ kind: 'dag_approval', threadId: 'sum' });
  });

  test('a gate is named by its run, its id, or four characters of it', async ({ dir }) => {
    await waitingSum(dir);
    const { sessionId } = await onlyGate(dir);
    for (const name of ['sum', sessionId, sessionId.slice(0, 4)]) {
      expect(documentOf<Gate>(await callMain(dir, ['show', name, '--json']))).toMatchObject({ sessionId });
    }
    expect(await callMain(dir, ['show', sessionId.slice(0, 3)])).toMatchObject({ exitCode: 4 });
  });

  test('a run that has no open gate and an unknown name are not found', async ({ dir }) => {
    await finishedSum(dir);
    for (const name of ['sum', 'ffffffff']) {
      const shown = await callMain(dir, ['show', name]);
      expect(shown).toMatchObject({ exitCode: 4, stderr: expect.stringContaining('GATE_NOT_FOUND') });
    }
  });

  test('approve binds to the hash that was read', async ({ dir }) => {
    await waitingSum(dir);
    const { artifactHash } = await onlyGate(dir);
    const other = artifactHash.startsWith('00000000') ? '11111111' : '00000000';
    expect(await callMain(dir, ['approve', 'sum', '--hash', other])).toMatchObject({
      exitCode: 6,
      stderr: expect.stringContaining('GATE_STALE'),
    });
    expect(await callMain(dir, ['approve', 'sum', '--hash', artifactHash.slice(0, 7)])).toMatchObject({
      exitCode: 2,
    });
    expect(await callMain(dir, ['approve', 'sum', '--by', ' '])).toMatchObject({ exitCode: 2 });
    const approved = await callMain(dir, [
      'approve',
      'sum',
      '--hash',
      artifactHash.slice(0, 8),
      '--by',
      'ada',
      '--json',
    ]);
    expect(documentOf(approved)).toMatchObject({
      threadId: 'sum',
      run: 'sum',
      kind: 'design_approval',
      artifactHash,
      decision: { approved: true },
      principal: { kind: 'human', id: 'ada' },
    });
  });

  test('a gate is decided once: the second to decide hears who was first', async ({ dir }) => {
    await waitingSum(dir);
    const { sessionId } = await onlyGate(dir);
    await callMain(dir, ['approve', sessionId, '--by', 'ada']);
    const second = await callMain(dir, ['reject', sessionId.slice(0, 8), '--feedback', 'no']);
    expect(second).toMatchObject({ exitCode: 6, stdout: '' });
    expect(second.stderr).toMatch(/^GATE_ALREADY_DECIDED: .*human:ada/);
    const past = await callMain(dir, ['show', sessionId]);
    expect(past).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('ada') });
    const status = await callMain(dir, ['status', 'sum']);
    expect(status.stdout).toContain('decided, ready to resume');
  });

  test('a rejection sends the design back with feedback', async ({ dir }) => {
    await callMain(dir, RUN_SUM);
    await callMain(dir, ['reject', 'sum', '--feedback', 'Say what it does in a comment.']);
    expect(await callMain(dir, ['resume', 'sum'])).toMatchObject({ exitCode: 75 });
    const shown = await callMain(dir, ['show', 'sum']);
    expect(shown.stdout).toContain('(version 2)\n# Sum\n\nOne function adds two numbers and says so');
    await callMain(dir, ['reject', 'sum', '--feedback', 'Again.']);
    const miss = await callMain(dir, ['resume', 'sum']);
    expect(miss).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('REPLAY_MISS') });
  });

  test('a rejection without a reason is refused', async ({ dir }) => {
    await waitingSum(dir);
    expect(await callMain(dir, ['reject', 'sum'])).toMatchObject({ exitCode: 2 });
    const blank = await callMain(dir, ['reject', 'sum', '--feedback', ' ']);
    expect(blank).toMatchObject({ exitCode: 6, stderr: expect.stringContaining('FEEDBACK_REQUIRED') });
  });

  test('a name of two gates is refused with both of them', async ({ dir }) => {
    const newId = (): string => `abcd${randomUUID().slice(4)}`;
    const devs = await Orchestrator.open({ dir: join(dir, '.devs'), newId });
    for (const id of ['one', 'two']) await (await devs.start({ id, brief: '# B' })).resume();
    devs.close();
    const shown = await callMain(dir, ['show', 'abcd']);
    expect(shown).toMatchObject({ exitCode: 2, stdout: '' });
    expect(shown.stderr).toMatch(
      /matches 2 gates:\n +abcd\S+ {2}(?:one|two) {2}design\n +abcd\S+ {2}(?:one|two) {2}design/,
    );
  });

  test('what only a name makes a secret is shown on the terminal and in JSON: a yes is for it', async ({
    dir,
  }) => {
    writeFileSync(join(dir, 'secret.md'), '# Login\n\nUse password=hunter2-hunter2 at first.\n');
    await callMain(dir, ['run', 'secret.md', '--id', 'login', '--agents', 'none']);
    const shown = await callMain(dir, ['show', 'login']);
    const json = await callMain(dir, ['show', 'login', '--json']);
    expect(shown.stdout).toContain('Use password=hunter2-hunter2 at first.');
    expect(shown.stdout).not.toContain('HIDDEN');
    expect(documentOf(json)).toMatchObject({ hiddenPlaces: [], hiddenCount: 0 });
  });
});

describe('devs resume', () => {
  test('needs no flags, and takes others for once', async ({ dir }) => {
    await waitingSum(dir);
    await callMain(dir, ['approve', 'sum']);
    const nothing = await callMain(dir, ['resume', 'sum', '--agents', 'none']);
    expect(nothing).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('was started with agents'),
    });
    const gated = await callMain(dir, ['resume', 'sum', '--check', "node '--test'"]);
    expect(gated.exitCode, gated.stderr).toBe(75);
    expect(gated.stdout).toContain('plan written');
  });

  test('stops before it begins when it was asked to stop before', async ({ dir }) => {
    await waitingSum(dir);
    await callMain(dir, ['approve', 'sum']);
    const resumed = await callMain(dir, ['resume', 'sum', '--json'], { signal: AbortSignal.abort() });
    expect(resumed.exitCode).toBe(75);
    expect(documentOf(resumed)).toMatchObject({ id: 'sum', status: 'drained', runStatus: 'paused' });
  });
});

describe('a request to stop', () => {
  test('ends the run at the next safe point', async ({ dir }) => {
    const controller = new AbortController();
    const onWrite = (text: string): void => {
      if (text.includes('research written')) controller.abort();
    };
    const stopped = await callMain(dir, RUN_SUM, { signal: controller.signal, onWrite });
    expect(stopped).toMatchObject({ exitCode: 75, stderr: expect.stringContaining('next safe point') });
    expect(stopped.stdout).not.toContain('design written');
    expect(await callMain(dir, ['resume', 'sum'])).toMatchObject({
      exitCode: 75,
      stdout: expect.stringContaining('design written'),
    });
  });
});

describe('devs status, gates and log', () => {
  test('create nothing in a folder without runs', async ({ dir }) => {
    expect(await callMain(dir, ['status'])).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('no runs'),
    });
    expect(await callMain(dir, ['gates', '--json'])).toMatchObject({ exitCode: 0, stdout: '[]\n' });
    for (const argv of [
      ['status', 'x'],
      ['gates', 'x'],
      ['log', 'x'],
      ['show', 'x'],
      ['resume', 'x'],
    ]) {
      expect(await callMain(dir, argv)).toMatchObject({ exitCode: 4, stdout: '' });
    }
    expect(existsSync(join(dir, '.devs'))).toBe(false);
  });

  test('status shows tasks with their commits', async ({ dir }) => {
    await finishedSum(dir);
    const one = await callMain(dir, ['status', 'sum']);
    expect(one.stdout).toMatch(/T1 {2}completed {2}[0-9a-f]{7} {2}Add two numbers/);
    const all = await callMain(dir, ['status']);
    expect(all.stdout).toMatch(/^sum {2}completed {2}1\/1 {4}unknown {2}Sum$/m);
  });

  test('log tells a story to people and gives every entry to programs', async ({ dir }) => {
    await finishedSum(dir);
    const { stdout } = await callMain(dir, ['log', 'sum']);
    expect(stdout).toMatch(
      /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ {2}T1 {2}committed [0-9a-f]{7}: Add two numbers$/m,
    );
    const entries = documentOf<LogEntry[]>(await callMain(dir, ['log', 'sum', '--json']));
    expect(entries.map(({ name }) => name)).toContain('NODE_STARTED');
  });

  test('JSON errors are one document on stderr', async ({ dir }) => {
    const failed = await callMain(dir, ['log', 'x', '--json']);
    expect(failed).toMatchObject({ exitCode: 4, stdout: '' });
    expect(JSON.parse(failed.stderr)).toMatchObject({ error: { code: 'THREAD_NOT_FOUND' } });
  });
});

describe('devs', () => {
  test('helps with every verb by an example', async ({ dir }) => {
    const { stdout } = await callMain(dir, ['--help']);
    const verbs = [...stdout.matchAll(/^ {2}([a-z]+) .*/gm)]
      .map(([, verb]) => verb ?? '')
      .filter((v) => v !== 'help');
    expect(verbs.sort()).toEqual([...VERBS].sort());
    for (const verb of verbs) {
      const help = await callMain(dir, [verb, '--help']);
      expect(help).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(`\n  $ devs ${verb}`) });
    }
  });

  test('is refused without a verb, with an unknown one and with an unknown option', async ({ dir }) => {
    for (const argv of [[], ['frob'], ['status', '--frob']]) {
      expect(await callMain(dir, argv)).toMatchObject({ exitCode: 2, stdout: '' });
    }
    expect(await callMain(dir, ['--version'])).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/^\d/),
    });
  });

  test('uses colour on a terminal only, and not when it is not wanted', async ({ dir }) => {
    await waitingSum(dir);
    const show = ['show', 'sum'];
    const hasColour = async (argv: readonly string[], env = {}): Promise<boolean> =>
      (await callMain(dir, argv, { isTTY: true, env })).stdout.includes('\u001b[');
    expect(await hasColour(show)).toBe(true);
    expect(await hasColour([...show, '--no-color'])).toBe(false);
    expect(await hasColour(show, { NO_COLOR: '1' })).toBe(false);
    expect((await callMain(dir, show)).stdout).not.toContain('\u001b[');
  });

  test('a threshold that is no number is reported and replaced', async ({ dir }) => {
    const run = await callMain(dir, RUN_SUM, { env: { DEVS_HITL_ENTROPY_THRESHOLD: 'high' } });
    expect(run).toMatchObject({ exitCode: 75, stderr: expect.stringContaining('using 0.75') });
  });

  test('a limit that is no number stops the start', async ({ dir }) => {
    const run = await callMain(dir, RUN_SUM, { env: { DEVS_MAX_RECURSION_DEPTH: 'many' } });
    expect(run).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('DEVS_MAX_RECURSION_DEPTH') });
  });
});
