import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createGitDir, SCRATCH_PREFIX, showFolder } from '../createGitDir.ts';
import { GitRepository } from '../GitRepository.ts';

let base: string;
let git: GitRepository;

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'devs-git-dir-'));
  git = new GitRepository({ gitDir: join(base, 'run.git'), workTree: join(base, 'run') });
  await mkdir(git.workTree);
});

afterEach(() => rm(base, { recursive: true, force: true }));

const create = (): Promise<void> =>
  createGitDir({ gitDir: git.gitDir, link: git.workTree, branch: 'devs/run' });

describe('the git dir of a run', () => {
  it('is made whole again on every open, and leads git to the folder', async () => {
    await create();
    await writeFile(join(git.gitDir, 'config'), '[core]\n\thooksPath = /evil\n');
    await rm(join(git.gitDir, 'info'), { recursive: true });
    await create();
    expect(await readFile(join(git.gitDir, 'config'), 'utf8')).toContain('worktree = ../run');
    expect(await readFile(join(git.gitDir, 'HEAD'), 'utf8')).toBe('ref: refs/heads/devs/run\n');
    expect(await readdir(join(git.gitDir, 'info'))).toEqual(['attributes', 'exclude']);
    await showFolder(git);
    expect(await readFile(join(git.workTree, '.git'), 'utf8')).toBe('gitdir: ../run.git\n');
  });

  it('loses the scratch folders of operations killed long ago, and no other', async () => {
    await create();
    const [old, fresh, gone] = ['old', 'fresh', 'gone'].map((name) =>
      join(git.gitDir, SCRATCH_PREFIX + name),
    );
    for (const folder of [old, fresh] as string[]) await mkdir(folder);
    await utimes(old as string, 1, 1);
    await symlink('nowhere', gone as string); // as one that somebody removes meanwhile: it is listed and not there
    await create();
    expect([old, fresh].map((folder) => existsSync(folder as string))).toEqual([false, true]);
  });
});
