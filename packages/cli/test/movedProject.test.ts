import { mkdirSync, readFileSync, realpathSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { UserCheckout } from '../../core/test/support/UserCheckout.ts';
import { repositoryIn } from '../src/project/specOf.ts';
import { callMain } from './support/callMain.ts';
import { CHECK_SUM, RUN_SUM, test } from './support/fixtures.ts';

const CHECK = 'test -e sum.js';
const RUN = RUN_SUM.map((word) => (word === CHECK_SUM ? CHECK : word));

/** A repository with a run that waits at its first gate. */
async function projectIn(folder: string): Promise<void> {
  mkdirSync(folder);
  UserCheckout.create(folder).git('commit', '-q', '--allow-empty', '-m', 'First');
  const started = await callMain(folder, RUN);
  expect(started.exitCode, started.stderr).toBe(75);
}

/** What was read in another place was not read in this one. */
async function finish(folder: string): Promise<void> {
  expect((await callMain(folder, ['approve', 'sum'])).stderr).toContain('GATE_STALE');
  await callMain(folder, ['show', 'sum']);
  const first = await callMain(folder, ['approve', 'sum', '--go']);
  expect(first.exitCode, first.stderr + first.stdout).toBe(75);
  const done = await callMain(folder, ['approve', 'sum', '--go']);
  expect(done.exitCode, done.stderr + done.stdout).toBe(0);
}

const branchIn = (folder: string): string =>
  UserCheckout.at(folder).git('branch', '--list', 'devs/sum').trim();

describe('a project', () => {
  test('that is moved while a run waits goes on in its new place', async ({ dir }) => {
    const [before, after] = [join(dir, 'before'), join(dir, 'after')];
    await projectIn(before);
    renameSync(before, after);
    const status = await callMain(after, ['status', 'sum', '--json']);
    expect(JSON.parse(status.stdout)).toMatchObject({ workspace: join(after, '.devs-work', 'sum') });
    await finish(after);
    expect(branchIn(after)).toBe('devs/sum');
    const folder = realpathSync(join(after, '.devs-work', 'sum'));
    expect(readFileSync(join(folder, '.git'), 'utf8')).toBe('gitdir: ../../.devs/git/sum.git\n');
    expect((await callMain(after, ['rm', 'sum', '--force'])).exitCode).toBe(0);
    expect(branchIn(after)).toBe('');
  });

  test('that is copied works for its own repository', ({ dir }) => {
    const [original, copy] = [join(dir, 'original'), join(dir, 'copy')];
    for (const folder of [original, copy]) mkdirSync(join(folder, '.git'), { recursive: true });
    expect(repositoryIn(copy, { repository: original })).toBe(copy);
    expect(repositoryIn(copy, { repository: null })).toBeNull();
    expect(repositoryIn(dir, { repository: original })).toBe(original);
  });
});
