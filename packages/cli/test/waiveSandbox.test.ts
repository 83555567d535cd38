import { describe, expect } from 'vitest';
import { callMain } from './support/callMain.ts';
import { AGENTS, BRIEF, CHECK_SUM, test } from './support/fixtures.ts';
import { trusting, writeConfig } from './support/writeConfig.ts';

/** A sandbox that runs nothing: whatever is green went around it. */
const NOTHING_RUNS = ['/bin/sh', '-c', 'exit 1', '--'];
const LOGGED = 'sandbox skipped this time, by human:ada';

describe('devs resume --no-sandbox', () => {
  test('drives without the recorded sandbox, once, and the log says who allowed it', async ({ dir }) => {
    writeConfig(dir, { sandbox: NOTHING_RUNS });
    const sum = [BRIEF, '--id', 'sum', '--agents', AGENTS, '--check', CHECK_SUM, '--until', 'dag'];
    const started = await callMain(dir, ['run', ...sum, ...trusting(dir)]);
    expect(started.stdout).toContain('sandbox: /bin/sh\n');
    await callMain(dir, ['approve', 'sum']);

    const waived = await callMain(dir, ['resume', 'sum', '--no-sandbox', '--by', 'ada']);
    expect(waived.stdout).toContain('sandbox: none, commands have your full access\n');
    await callMain(dir, ['approve', 'sum']);
    const kept = await callMain(dir, ['resume', 'sum', '--until', 'dag']);
    expect(kept.stdout).toContain('sandbox: /bin/sh\n');

    const done = await callMain(dir, ['resume', 'sum', '--no-sandbox', '--by', 'ada']);
    expect(done, done.stderr + done.stdout).toMatchObject({ exitCode: 0 });
    const { stdout } = await callMain(dir, ['log', 'sum']);
    expect(stdout.split(LOGGED)).toHaveLength(3);
  });

  test('records nothing for a run that has no sandbox', async ({ dir }) => {
    const sum = [BRIEF, '--id', 'sum', '--agents', AGENTS, '--check', CHECK_SUM, '--no-sandbox'];
    await callMain(dir, ['run', ...sum]);
    await callMain(dir, ['resume', 'sum', '--no-sandbox']);
    expect((await callMain(dir, ['log', 'sum'])).stdout).not.toContain('sandbox');
  });
});
