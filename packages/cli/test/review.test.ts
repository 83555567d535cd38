import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Gate } from '@devs/core';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { callMain } from './support/callMain.ts';
import { BRIEF, test } from './support/fixtures.ts';
import { driveShop, RUN } from './support/waitingProject.ts';

/** A project whose run waits at the gate of the plan; tests work on copies. */
const atPlan = mkdtempSync(join(tmpdir(), 'devs-plan-'));
beforeAll(async () => void (await driveShop(atPlan, { design: 'auto' })));
afterAll(() => rmSync(atPlan, { recursive: true, force: true }));

const documentOf = <T>({ stdout }: { readonly stdout: string }): T => JSON.parse(stdout) as T;

describe('a review by pull request', () => {
  test('reads the gate as Markdown and takes its filled-in decision', async ({ dir }) => {
    cpSync(atPlan, dir, { recursive: true });
    const { stdout } = await callMain(dir, ['show', RUN, '--md']);
    expect(stdout).toMatch(/^# Gate [0-9a-f]{8}: plan of shop\n/);
    expect(stdout).toContain('| T2 | T1 | REQ-1 | Task 2 |');
    expect(stdout).toContain('### T1 Task 1\n\n```text\nDo part 1.\n```\n\n- [ ] The file exists.\n');
    const decision = /```json\n([\s\S]*?)```/.exec(stdout)?.[1] ?? '';
    const file = join(dir, 'decision.json');

    writeFileSync(file, decision);
    const unsigned = await callMain(dir, ['approve', '--from', file]);
    expect(unsigned).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('by') });
    writeFileSync(file, decision.replace('"by": ""', '"by": "grace"'));
    const approved = await callMain(dir, ['approve', '--from', 'decision.json', '--json']);
    expect(documentOf(approved)).toMatchObject({
      kind: 'dag_approval',
      decision: { approved: true },
      principal: { kind: 'human', id: 'grace' },
    });
  });

  test('records a no with its feedback', async ({ dir }) => {
    cpSync(atPlan, dir, { recursive: true });
    const [gate] = documentOf<[Gate]>(await callMain(dir, ['gates', '--json']));
    const no = {
      session: gate.sessionId,
      hash: gate.artifactHash,
      approved: false,
      feedback: 'One task only.',
    };
    writeFileSync(join(dir, 'no.json'), JSON.stringify(no));
    const rejected = await callMain(dir, ['approve', '--from', 'no.json', '--json']);
    expect(documentOf(rejected)).toMatchObject({ decision: { approved: false, feedback: 'One task only.' } });
  });

  test.for([
    ['of another version', { hash: '0'.repeat(64), approved: true }, 6, 'GATE_STALE'],
    ['without a whole hash', { hash: '9b74c9897bac', approved: true }, 2, '64 hex digits'],
    ['with a field nobody knows', { approved: true, force: true }, 2, 'force'],
    ['that is a no without a reason', { approved: false }, 6, 'FEEDBACK_REQUIRED'],
  ] as const)('refuses a decision %s', async ([, parts, exitCode, says], { dir }) => {
    cpSync(atPlan, dir, { recursive: true });
    const [gate] = documentOf<[Gate]>(await callMain(dir, ['gates', '--json']));
    const decision = { session: gate.sessionId, hash: gate.artifactHash, ...parts };
    writeFileSync(join(dir, 'd.json'), JSON.stringify(decision));
    expect(await callMain(dir, ['approve', '--from', 'd.json'])).toMatchObject({
      exitCode,
      stderr: expect.stringContaining(says),
    });
    expect(documentOf(await callMain(dir, ['gates', '--json']))).toHaveLength(1);
  });

  test.for([
    ['neither a gate nor a file', ['approve']],
    ['both', ['approve', RUN, '--from', 'd.json']],
    ['a file that is not there', ['approve', '--from', 'd.json']],
  ] as const)('refuses %s', async ([, argv], { dir }) => {
    cpSync(atPlan, dir, { recursive: true });
    expect((await callMain(dir, argv)).exitCode).toBe(2);
  });
});

describe('--notify', () => {
  const told = (dir: string): string => join(dir, 'told.json');
  const script = (dir: string, body: string): string => {
    const file = join(dir, 'tell.mjs');
    writeFileSync(file, `import { readFileSync, writeFileSync } from 'node:fs';\n${body}\n`);
    return `'${process.execPath}' '${file}'`;
  };
  const argv = (notify: string) => ['run', BRIEF, '--id', 'sum', '--agents', 'none', '--notify', notify];

  test('runs a command for every gate that opens, with the gate on its stdin', async ({ dir }) => {
    const notify = script(dir, `writeFileSync('${told(dir)}', readFileSync(0, 'utf8'));`);
    expect(await callMain(dir, argv(notify))).toMatchObject({ exitCode: 75, stderr: '' });
    const [gate] = documentOf<[Gate]>(await callMain(dir, ['gates', '--json']));
    expect(JSON.parse(readFileSync(told(dir), 'utf8'))).toEqual({
      threadId: 'sum',
      run: 'sum',
      gate,
      show: `devs show ${gate.sessionId.slice(0, 8)}`,
    });
    await callMain(dir, ['approve', 'sum']);
    await callMain(dir, ['resume', 'sum', '--notify', notify]);
    expect(JSON.parse(readFileSync(told(dir), 'utf8'))).toMatchObject({ gate: { kind: 'dag_approval' } });
  });

  test('that fails, or is not there, is a note and stops nothing', async ({ dir }) => {
    const failing = await callMain(dir, argv(script(dir, 'process.exit(3);')));
    expect(failing).toMatchObject({
      exitCode: 75,
      stderr: expect.stringContaining('--notify command ended with 3'),
    });
    await callMain(dir, ['approve', 'sum']);
    const missing = await callMain(dir, ['resume', 'sum', '--notify', join(dir, 'missing')]);
    expect(missing).toMatchObject({ exitCode: 75, stderr: expect.stringContaining('failed to start') });
  });
});
