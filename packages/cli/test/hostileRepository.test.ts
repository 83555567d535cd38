import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect } from 'vitest';
import { GIT_FILES, GitTraps } from '../../core/test/support/gitVectors.ts';
import { tried } from '../../core/test/support/tried.ts';
import { callMain } from './support/callMain.ts';
import { RUN_SUM, test } from './support/fixtures.ts';

/** Made before anything is planted: git itself would start it. */
function aRepository(root: string): void {
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=a@b.c', ...args], {
      cwd: root,
      stdio: 'pipe',
    });
  git('init', '-q', '-b', 'main');
  git('add', '.');
  git('commit', '-q', '-m', 'First');
}

describe('a repository that anybody may have packed', () => {
  test('starts no program, whatever of it is run, looked at and removed', async ({ dir, task }) => {
    const base = mkdtempSync(path.join(tmpdir(), 'devs-packed-'));
    const traps = new GitTraps(base);
    traps.plantFiles(dir, GIT_FILES, dir);
    writeFileSync(path.join(dir, 'a.txt'), 'a\n');
    mkdirSync(path.join(dir, 'lib'));
    aRepository(dir);
    traps.plantGitDir(path.join(dir, '.git'), dir);
    appendFileSync(path.join(dir, '.git', 'config'), '[user]\n\tname = Ada\n\temail = a@b.c\n');
    utimesSync(path.join(dir, '.git', 'index'), 1, 1);
    writeFileSync(path.join(dir, 'a.txt'), 'b\n');
    tried(task, { ways: traps.planted });

    const run = await callMain(dir, [...RUN_SUM, '--id', 'sum', '--until', 'design']);
    expect(run.stderr).toContain('changed; check with git status');
    const taking = await callMain(dir, [...RUN_SUM, '--id', 'along', '--with-changes']);
    expect(taking.stderr).toContain('Cannot include a.txt: a git filter (x) applies');
    for (const argv of [
      ['status', 'sum'],
      ['answer', 'sum', '--yes'],
      ['admin', 'gc'],
      ['rm', 'sum', '--force'],
    ])
      await callMain(dir, argv);
    expect(traps.ran).toEqual([]);
    rmSync(base, { recursive: true });
  });
});

describe('a repository with Git LFS', () => {
  test('is told what a run has of it', async ({ dir, user }) => {
    user.write('.gitattributes', '*.bin filter=lfs diff=lfs merge=lfs -text\n');
    user.write('model.bin', 'version https://git-lfs.github.com/spec/v1\n');
    user.git('add', '.');
    user.git('commit', '-q', '-m', 'First');
    const run = await callMain(dir, [...RUN_SUM, '--until', 'design']);
    expect(run.stderr).toContain(
      '1 file uses a git filter that is not run (lfs): the run uses the content that git stores (for Git LFS, the content if your clone or setup has fetched it)',
    );
  });
});
