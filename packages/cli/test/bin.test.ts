import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Gate, PipelineResult } from '@devs/core';
import { describe, expect } from 'vitest';
import { callMain } from './support/callMain.ts';
import { AGENTS, BRIEF, GATED_CHECK, RUN_SUM, test } from './support/fixtures.ts';
import { runBin, startBin } from './support/startBin.ts';

/** A run past both gates whose checks wait for the file `go` in the project folder. */
const runGated = (dir: string): readonly string[] => [
  'run',
  BRIEF,
  '--id',
  'sum',
  '--agents',
  AGENTS,
  '--check',
  `sh ${GATED_CHECK} ${dir}`,
  '--yes',
  '--no-sandbox',
];

const letGo = (dir: string): void => writeFileSync(join(dir, 'go'), '');

describe('the devs process', () => {
  test('takes a brief through both gates to one commit', async ({ dir }) => {
    const started = await runBin(dir, RUN_SUM);
    expect(started, started.stderr).toMatchObject({ exitCode: 75, stderr: '' });
    expect(started.stdout).toContain('agents: sum (scripted)');
    const approve = /^approve: devs (approve \w{8} --hash \w{12})$/m.exec(started.stdout)?.[1];
    const approved = await runBin(dir, (approve ?? '').split(' '));
    expect(approved, approved.stderr).toMatchObject({ exitCode: 0 });
    expect(approved.stdout).toContain('recorded; to resume: devs resume sum');

    const planned = await runBin(dir, ['resume', 'sum', '--json']);
    expect(planned, planned.stderr).toMatchObject({ exitCode: 75, stderr: '' });
    const { gates } = JSON.parse(planned.stdout) as PipelineResult;
    expect(gates.map(({ kind }) => kind)).toEqual(['dag_approval']);
    await callMain(dir, ['approve', 'sum']);

    const done = await runBin(dir, ['resume', 'sum']);
    expect(done, done.stderr).toMatchObject({ exitCode: 0 });
    expect(done.stdout).toMatch(/^completed: sum\n {2}[0-9a-f]{7} Add two numbers\n {2}1 commit in /m);
  });

  test('drives a run once: a second driver is told that it is busy', async ({ dir }) => {
    const first = startBin(dir, runGated(dir));
    await first.untilExists(join(dir, 'started'));
    const second = await runBin(dir, ['resume', 'sum']);
    letGo(dir);
    const done = await first.ended;
    expect(second.exitCode).toBe(3);
    expect(second.stderr).toMatch(/^THREAD_BUSY: Run "sum" is in use by process \d+.*\n {2}→ /);
    expect(done, done.stderr).toMatchObject({ exitCode: 0 });
  });

  test('stops at a safe point on SIGTERM and goes on where it was', async ({ dir }) => {
    const run = startBin(dir, runGated(dir));
    await run.untilExists(join(dir, 'started'));
    run.child.kill('SIGTERM');
    await run.untilSays('stopping at the next safe point');
    letGo(dir);
    const stopped = await run.ended;
    expect(stopped.exitCode, stopped.stderr).toBe(75);
    expect(stopped.stdout).toContain('stopped; to resume: devs resume sum');
    expect(stopped.stdout).not.toContain('code written');

    const status = await callMain(dir, ['status', 'sum']);
    expect(status.stdout).toContain('stopped, can be resumed');
    const done = await callMain(dir, ['resume', 'sum', '--json']);
    expect(done.exitCode, done.stderr).toBe(0);
    expect((JSON.parse(done.stdout) as PipelineResult).commits).toHaveLength(1);
  });

  test('stops at once on a second signal, and nothing is lost', async ({ dir }) => {
    const run = startBin(dir, runGated(dir));
    await run.untilExists(join(dir, 'started'));
    run.child.kill('SIGINT');
    await run.untilSays('stopping at the next safe point');
    run.child.kill('SIGINT');
    const stopped = await run.ended;
    letGo(dir);
    expect(stopped.exitCode).toBe(130);
    const done = await callMain(dir, ['resume', 'sum', '--json']);
    expect(done.exitCode, done.stderr).toBe(0);
    expect((JSON.parse(done.stdout) as PipelineResult).commits).toHaveLength(1);
  });

  test('writes one JSON document and nothing else', async ({ dir }) => {
    const run = await runBin(dir, [...RUN_SUM, '--json']);
    const { gates } = JSON.parse(run.stdout) as { readonly gates: readonly Gate[] };
    expect(run).toMatchObject({ exitCode: 75, stderr: '' });
    expect(gates).toHaveLength(1);
  });
});
