import { describe, expect } from 'vitest';
import { callMain } from './support/callMain.ts';
import { RUN_EMPTY, test } from './support/fixtures.ts';
import { takeAsOurs } from './support/takeAsOurs.ts';
import { driveShop, RUN } from './support/waitingProject.ts';

describe('--go', () => {
  test('records the decision and goes on as resume does, with its output and exit code', async ({ dir }) => {
    await callMain(dir, RUN_EMPTY);
    await callMain(dir, ['show', 'sum']);
    const approved = await callMain(dir, ['approve', 'sum', '--go', '--by', 'ada']);
    expect(approved).toMatchObject({ exitCode: 75, stderr: '' });
    expect(approved.stdout).toMatch(/^approved: design of sum, hash [0-9a-f]{12}, by ada\n/);
    expect(approved.stdout).toContain('design decision applied');
    expect(approved.stdout).toContain('waiting for a person: plan');
    await callMain(dir, ['show', 'sum']);
    const done = await callMain(dir, ['approve', 'sum', '--go', '--json']);
    expect(done).toMatchObject({ exitCode: 0, stderr: '' });
    expect(JSON.parse(done.stdout)).toMatchObject({
      id: 'sum',
      status: 'completed',
      decided: { kind: 'dag_approval', decision: { approved: true } },
    });
  });

  test('reads first: a yes to what was not shown is refused, and nothing is driven', async ({ dir }) => {
    await callMain(dir, RUN_EMPTY, { env: { XDG_STATE_HOME: `${dir}/elsewhere` } });
    await takeAsOurs(dir);
    const refused = await callMain(dir, ['approve', 'sum', '--go']);
    expect(refused).toMatchObject({ exitCode: 6, stdout: '' });
    expect(refused.stderr).toMatch(/^GATE_STALE/);
  });

  test('agents that are missing are told before anything is recorded', async ({ dir }) => {
    await driveShop(dir);
    const refused = await callMain(dir, ['reject', RUN, '--feedback', 'No', '--go']);
    expect(refused.exitCode).toBe(2);
    expect((await callMain(dir, ['log', RUN])).stdout).not.toContain('gate rejected');
  });

  test('who waits for the decision with --wait sees the gates, and the end that another process brings', async ({
    dir,
  }) => {
    let opened = (): void => {};
    const opens = new Promise<void>((resolve) => {
      opened = resolve;
    });
    const onWrite = (text: string): void => (text.includes(': design of sum\n') ? opened() : undefined);
    const waiting = callMain(dir, [...RUN_EMPTY, '--wait'], { onWrite });
    await opens;
    await callMain(dir, ['show', 'sum']);
    expect(await callMain(dir, ['approve', 'sum', '--go'])).toMatchObject({ exitCode: 75 });
    await callMain(dir, ['show', 'sum']);
    expect(await callMain(dir, ['approve', 'sum', '--go'])).toMatchObject({ exitCode: 0 });
    const ended = await waiting;
    expect(ended).toMatchObject({ exitCode: 0, stderr: '' });
    expect(ended.stdout).toMatch(/^Gate [0-9a-f]{8}: design of sum\nopen since /m);
    expect(ended.stdout).toContain('completed: sum');
  });
});
