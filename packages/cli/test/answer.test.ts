import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Gate, Orchestrator, type StageAgents } from '@devs/core';
import { fakeAgents, MemoryWorkspace, scriptedChecks } from '@devs/core/testing';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { callMain } from './support/callMain.ts';
import { test } from './support/fixtures.ts';

const RUN = 'shop';

/** Opens the project with agents that throw until a human has said something, and drives its run. */
async function drive(
  dir: string,
  config: { readonly maxRecursionDepth: number } = { maxRecursionDepth: 25 },
) {
  const fake = fakeAgents({ tasks: 2, strategies: ['Use one file', 'Use two files'] });
  const implement: StageAgents['implement'] = async (request, call) => {
    if (request.guidance.length === 0) throw new TypeError('cannot read x of undefined');
    return fake.implement(request, call);
  };
  const devs = await Orchestrator.open({
    dir: join(dir, '.devs'),
    agents: { ...fake, implement },
    workspace: new MemoryWorkspace(),
    checks: scriptedChecks([false]),
    config: { ...config, hitlEntropyThreshold: 0.75 },
  });
  const run = await devs.start({ id: RUN, brief: '# Shop', gates: { design: 'auto', dag: 'auto' } });
  const result = await run.resume();
  devs.close();
  return result;
}

/** A project whose run waits at the gate of a stuck task; tests work on copies. */
const stuck = mkdtempSync(join(tmpdir(), 'devs-stuck-'));
beforeAll(async () => void (await drive(stuck)));
afterAll(() => rmSync(stuck, { recursive: true, force: true }));
const copyTo = (dir: string): void => cpSync(stuck, dir, { recursive: true });

const documentOf = <T>({ stdout }: { readonly stdout: string }): T => JSON.parse(stdout) as T;

describe('a stuck task', () => {
  test('is shown with what was tried and every answer', async ({ dir }) => {
    copyTo(dir);
    const { stdout } = await callMain(dir, ['show', RUN]);
    expect(stdout).toContain('T1 Task 1\nstopped after 9 attempts: no new strategy made progress\n');
    expect(stdout).toContain(
      'Strategies tried\n  1. Use one file\n    reason: It is the next one.\n  2. Use two files',
    );
    expect(stdout).toContain('Errors\n  1. cannot read x of undefined');
    expect(stdout).toMatch(/^ {2}devs answer [0-9a-f]{8} --hash [0-9a-f]{12} --retry --guidance 'what/m);
    expect(stdout).toMatch(/^ {2}devs answer [0-9a-f]{8} --hash [0-9a-f]{12} --skip$/m);
    expect(stdout).toMatch(/^ {2}devs answer [0-9a-f]{8} --hash [0-9a-f]{12} --abort$/m);
  });

  test('is tried again with guidance, which is recorded', async ({ dir }) => {
    copyTo(dir);
    const argv = ['answer', RUN, '--retry', '--guidance', 'Mind x.', '--by', 'ada', '--json'];
    expect(documentOf(await callMain(dir, argv))).toMatchObject({
      threadId: RUN,
      run: RUN,
      kind: 'task_failure',
      decision: { action: 'retry', guidance: 'Mind x.' },
      principal: { kind: 'human', id: 'ada' },
    });
    const again = await callMain(dir, ['answer', RUN, '--abort']);
    expect(again).toMatchObject({ exitCode: 4, stderr: expect.stringContaining('has no open gate') });
  });

  test('is skipped, and the run ends completed and says without what', async ({ dir }) => {
    copyTo(dir);
    const skipped = await callMain(dir, ['answer', RUN, '--skip', '--reason', 'Not worth it.']);
    expect(skipped).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('skipped: stuck task of shop'),
    });
    expect(await drive(dir)).toMatchObject({
      status: 'completed',
      reason: 'without T1, skipped by a person, and T2, blocked by that',
    });
    const log = await callMain(dir, ['log', RUN]);
    expect(log.stdout).toMatch(
      /T1 {2}skipped: .*\n.*T2 {2}blocked: a task it depends on was abandoned or skipped/,
    );
  });

  test('ends the run with the reason that is given', async ({ dir }) => {
    copyTo(dir);
    await callMain(dir, ['answer', RUN, '--abort', '--reason', 'The brief is wrong.']);
    expect(await drive(dir)).toMatchObject({
      status: 'cancelled',
      reason: 'aborted by a human: The brief is wrong.',
    });
  });

  test('is neither approved nor rejected: the verb is named', async ({ dir }) => {
    copyTo(dir);
    for (const argv of [
      ['approve', RUN],
      ['reject', RUN, '--feedback', 'no'],
      ['answer', RUN, '--continue'],
    ]) {
      const refused = await callMain(dir, argv);
      expect(refused).toMatchObject({ exitCode: 6, stdout: '' });
      expect(refused.stderr).toMatch(
        /^INVALID_ANSWER: .*\n {2}→ Use one of these commands: devs answer shop --retry.*--skip.*--abort/,
      );
    }
  });
});

describe('a run without progress', () => {
  test('is allowed to go on', async ({ dir }) => {
    const { gates } = await drive(dir, { maxRecursionDepth: 5 });
    expect(gates).toMatchObject([{ kind: 'recursion_limit' }]);
    const answered = await callMain(dir, ['answer', RUN, '--continue', '--json']);
    expect(documentOf(answered)).toMatchObject({ decision: { action: 'continue' } });
  });
});

describe('devs answer', () => {
  test('says what fits when it is told nothing and nobody sits there', async ({ dir }) => {
    copyTo(dir);
    const refused = await callMain(dir, ['answer', RUN]);
    expect(refused).toMatchObject({ exitCode: 2, stdout: '' });
    expect(refused.stderr).toMatch(/The answer is missing.*\n {2}→ Use devs answer [0-9a-f]{8} --retry/);
  });

  test('refuses an amount that is none', async ({ dir }) => {
    for (const amount of ['0', '-1', 'five', ' ', 'Infinity']) {
      expect(await callMain(dir, ['answer', RUN, '--raise-usd', amount])).toMatchObject({ exitCode: 2 });
    }
  });

  test('names approve and reject at a gate that is approved', async ({ dir }) => {
    const devs = await Orchestrator.open({ dir: join(dir, '.devs') });
    await (await devs.start({ id: RUN, brief: '# Shop' })).resume();
    devs.close();
    for (const argv of [
      ['answer', RUN, '--retry'],
      ['answer', RUN],
    ]) {
      const refused = await callMain(dir, argv);
      expect(refused).toMatchObject({ exitCode: 6, stderr: expect.stringContaining('devs approve') });
    }
  });
});

/** A terminal at which these lines are typed. */
function terminal(...lines: readonly string[]) {
  async function* typed(): AsyncGenerator<string> {
    for (const line of lines) yield `${line}\n`;
  }
  return { isTTY: true, stdin: Object.assign(typed(), { isTTY: true }) };
}

describe('devs answer on a terminal', () => {
  test('shows the gate, asks until it is told one of the answers, and asks for what goes with it', async ({
    dir,
  }) => {
    copyTo(dir);
    const before = documentOf<Gate[]>(await callMain(dir, ['gates', '--json']));
    const told = await callMain(dir, ['answer', RUN], terminal('what?', 'Retry', 'Mind x.'));
    expect(told.exitCode, told.stderr).toBe(0);
    expect(told.stdout).toContain('Strategies tried');
    expect(told.stdout.match(/retry, skip, abort \(empty: leave the gate open\): /g)).toHaveLength(2);
    const log = await callMain(dir, ['log', RUN, '--json']);
    expect(log.stdout).toContain('HITL_SESSION_DECIDED');
    expect(told.stdout).toContain(`hash ${before[0]?.artifactHash.slice(0, 12)}`);
  });

  test.for([
    ['an empty line', ['']],
    ['the end of the input', []],
    ['the end before the reason', ['abort']],
  ] as const)('decides nothing at %s', async ([, lines], { dir }) => {
    copyTo(dir);
    const left = await callMain(dir, ['answer', RUN], terminal(...lines));
    expect(left).toMatchObject({ exitCode: 75, stderr: expect.stringContaining('the gate stays open') });
    expect(documentOf<Gate[]>(await callMain(dir, ['gates', '--json']))).toHaveLength(1);
  });
});
