import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { GitRunWorkspace } from '../GitRunWorkspace.ts';
import { GitWorkspace } from '../GitWorkspace.ts';

const execute = promisify(execFile);

let root: string;

/** As the user has it: hooks that would tell, an ignored but tracked file, a stash, staged and untracked work. */
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'devs-user-'));
  await git('init', '-q', '-b', 'main');
  await write('src/index.js', 'export const one = 1;\n');
  await write('.gitignore', 'dist/\nnode_modules/\n');
  await write('dist/kept.js', 'tracked though ignored\n');
  await symlink('src/index.js', join(root, 'link.js'));
  await git('add', '-f', '.');
  await git('commit', '-q', '-m', 'First');
  await write('src/index.js', 'stashed\n');
  await git('stash', '-q');
  await write('staged.txt', 'staged\n');
  await git('add', 'staged.txt');
  await write('src/index.js', 'dirty\n');
  await write('untracked.txt', 'mine\n');
  for (const hook of ['reference-transaction', 'post-checkout', 'post-merge', 'pre-receive', 'update']) {
    await writeFile(join(root, '.git', 'hooks', hook), `#!/bin/sh\ntouch '${root}/.git/hook-ran'\n`, {
      mode: 0o755,
    });
  }
});

afterEach(() => rm(root, { recursive: true, force: true }));

const git = async (...args: string[]): Promise<string> => {
  const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org'];
  return (await execute('git', [...identity, ...args], { cwd: root })).stdout;
};

async function write(path: string, content: string): Promise<void> {
  await mkdir(join(root, path, '..'), { recursive: true });
  await writeFile(join(root, path), content);
}

const open = (id = 'run-1'): Promise<GitRunWorkspace> =>
  new GitWorkspace({ dir: root, repository: root }).open(id) as Promise<GitRunWorkspace>;

async function commitFile(run: GitRunWorkspace, path: string): Promise<string> {
  await run.apply([{ path, content: `${path}\n` }]);
  return run.commit({ tree: await run.snapshot(), message: `Add ${path}`, stepKey: path });
}

/** Everything that is the user's: files, index, HEAD, stash, config, hooks. Objects and our branch may come in. */
async function fingerprint(): Promise<string> {
  const hash = createHash('sha256');
  const skipped = /^(\.devs|\.devs-work)(\/|$)|^\.git\/(objects|refs\/heads\/devs)(\/|$)/;
  for (const entry of (await readdir(root, { recursive: true, withFileTypes: true })).sort(byPath)) {
    const path = join(entry.parentPath, entry.name);
    const name = path.slice(root.length + 1);
    if (skipped.test(name)) continue;
    hash.update(`${name}\n`);
    if (entry.isFile()) hash.update(await readFile(path));
  }
  return `${hash.digest('hex')}\n${await git('status', '--porcelain')}${await git('stash', 'list')}`;
}

type Entry = { readonly parentPath: string; readonly name: string };
const byPath = (a: Entry, b: Entry): number =>
  join(a.parentPath, a.name) < join(b.parentPath, b.name) ? -1 : 1;

describe('a run in an existing repository', () => {
  it('begins with the files of the commit that is checked out, not with what lies around', async () => {
    const run = await open();
    expect(await run.list()).toEqual(['.gitignore', 'dist/kept.js', 'link.js', 'src/index.js']);
    expect(await run.read('src/index.js')).toBe('export const one = 1;\n');
    expect(await run.log()).toEqual([]);
  });

  it('stores an untouched folder as the tree it began with', async () => {
    const run = await open();
    expect(await run.snapshot()).toBe((await git('rev-parse', 'HEAD^{tree}')).trim());
  });

  it('puts its branch there and changes nothing else', async () => {
    await git('update-index', '--refresh').catch(() => undefined);
    const before = await fingerprint();
    const run = await open();
    const sha = await commitFile(run, 'src/two.js');
    expect(await run.deliver()).toEqual({ branch: 'devs/run-1', commit: sha, held: null });
    expect(await run.deliver()).toEqual({ branch: 'devs/run-1', commit: sha, held: null });
    expect(await fingerprint()).toBe(before);
    expect(await readdir(join(root, '.git'))).not.toContain('hook-ran');
    expect(await git('log', '--format=%s', 'devs/run-1')).toBe('Add src/two.js\nFirst\n');
    expect(await git('diff', '--name-status', 'main', 'devs/run-1')).toBe('A\tsrc/two.js\n');
    expect(await run.log()).toEqual([{ sha, subject: 'Add src/two.js' }]);
  });

  it('moves the branch on with the next commit', async () => {
    const run = await open();
    await commitFile(run, 'two.js');
    await run.deliver();
    const sha = await commitFile(run, 'three.js');
    expect(await run.deliver()).toMatchObject({ commit: sha, held: null });
    expect((await git('rev-parse', 'devs/run-1')).trim()).toBe(sha);
  });

  it('leaves a branch alone that the user works on', async () => {
    const run = await open();
    await commitFile(run, 'two.js');
    await run.deliver();
    await git('worktree', 'add', '-q', join(root, '.devs', 'elsewhere'), 'devs/run-1');
    await commitFile(run, 'three.js');
    expect(await run.deliver()).toMatchObject({ held: 'checked_out' });
    await execute(
      'git',
      ['-c', 'user.name=A', '-c', 'user.email=a@b.c', 'commit', '-q', '--allow-empty', '-m', 'mine'],
      {
        cwd: join(root, '.devs', 'elsewhere'),
      },
    );
    await git('worktree', 'remove', join(root, '.devs', 'elsewhere'));
    expect(await run.deliver()).toMatchObject({ held: 'changed' });
    expect(await git('log', '-1', '--format=%s', 'devs/run-1')).toBe('mine\n');
  });

  it('goes on after a kill before its branch was made', async () => {
    const run = await open();
    const gitDir = join(root, '.devs', 'git', 'run-1.git');
    await execute('git', ['--git-dir', gitDir, 'update-ref', '-d', 'refs/heads/devs/run-1']);
    await writeFile(join(run.dir, 'src', 'index.js'), 'half');
    expect(await (await open()).read('src/index.js')).toBe('export const one = 1;\n');
  });

  it('keeps to its beginning when the user commits meanwhile', async () => {
    await commitFile(await open(), 'two.js');
    await git('commit', '-q', '-am', 'Meanwhile');
    const run = await open();
    expect((await run.log()).map(({ subject }) => subject)).toEqual(['Add two.js']);
    expect(await run.list()).not.toContain('staged.txt');
  });

  it('begins empty where nothing was committed yet', async () => {
    await rm(join(root, '.git'), { recursive: true });
    await git('init', '-q');
    const run = await open();
    expect(await run.list()).toEqual([]);
    expect(await run.deliver()).toBeNull();
  });

  it('works from a linked worktree', async () => {
    const linked = join(root, '.devs-linked');
    await git('worktree', 'add', '-q', '-b', 'other', linked, 'main');
    const run = (await new GitWorkspace({ dir: linked, repository: linked }).open(
      'run-2',
    )) as GitRunWorkspace;
    await commitFile(run, 'two.js');
    expect(await run.deliver()).toMatchObject({ branch: 'devs/run-2', held: null });
    expect(await git('log', '-1', '--format=%s', 'devs/run-2')).toBe('Add two.js\n');
  });

  it('refuses submodules before the run begins', async () => {
    await git(
      'update-index',
      '--add',
      '--cacheinfo',
      `160000,${(await git('rev-parse', 'HEAD')).trim()},sub`,
    );
    await git('commit', '-q', '-m', 'With a submodule');
    await expect(open()).rejects.toMatchObject({
      code: 'WORKSPACE_FAILED',
      message: expect.stringContaining('"sub"'),
    });
  });

  it('refuses a folder that is no repository', async () => {
    await rm(join(root, '.git'), { recursive: true });
    await expect(open()).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  });
});

describe('sync', () => {
  const commitMine = async (path: string, content: string): Promise<string> => {
    await write(path, content);
    await git('commit', '-q', '-m', `Mine: ${path}`, '--', path);
    return (await git('rev-parse', 'HEAD')).trim();
  };
  const ENGINE = (): string => join(root, '.devs', 'git', 'run-1.git');
  const engine = (...args: string[]): Promise<string> => git('--git-dir', ENGINE(), ...args);
  const refs = (): Promise<string> => engine('for-each-ref', '--format=%(refname) %(objectname)');

  it('puts the commits and the folder of the run on top of mine, and touches nothing of mine', async () => {
    const run = await open();
    const first = await commitFile(run, 'two.js');
    const second = await commitFile(run, 'three.js');
    await run.deliver();
    await run.apply([{ path: 'half.js', content: 'half done\n' }]);
    await run.snapshot();
    const mine = await commitMine('staged.txt', 'mine\n');
    await git('update-index', '--refresh').catch(() => undefined);
    await rm(join(root, '.git', 'hook-ran'), { force: true });
    const before = await fingerprint();

    expect(await run.sync()).toEqual({ base: mine, commits: 2, before: 'refs/devs/before-sync/1' });
    expect(await run.deliver()).toMatchObject({ held: null });

    expect(await fingerprint()).toBe(before);
    expect(await readdir(join(root, '.git'))).not.toContain('hook-ran');
    expect(await git('log', '--format=%an: %s', 'devs/run-1')).toBe(
      'devs: Add three.js\ndevs: Add two.js\nAda: Mine: staged.txt\nAda: First\n',
    );
    expect(await run.list()).toEqual(expect.arrayContaining(['half.js', 'staged.txt', 'three.js', 'two.js']));
    expect((await engine('rev-parse', 'refs/devs/before-sync/1^{commit}')).trim()).toBe(second);
    expect(await engine('log', '--format=%at', '-1', 'devs/run-1~1')).toBe(
      await engine('log', '--format=%at', '-1', first),
    );
    expect(await run.sync()).toBeNull();
    const again = { tree: await run.snapshot(), message: 'Add two.js', stepKey: 'two.js' };
    expect(await run.commit(again)).toBe((await engine('rev-parse', 'devs/run-1~1')).trim());
  });

  it('merges different places of one file', async () => {
    await write('list.txt', 'a\nb\nc\nd\ne\n');
    await git('add', 'list.txt');
    await commitMine('list.txt', 'a\nb\nc\nd\ne\n');
    const run = await open();
    await run.apply([{ path: 'list.txt', content: 'a\nb\nc\nd\nE\n' }]);
    await run.commit({ tree: await run.snapshot(), message: 'Last', stepKey: 'T1' });
    await commitMine('list.txt', 'A\nb\nc\nd\ne\n');
    await run.sync();
    expect(await run.read('list.txt')).toBe('A\nb\nc\nd\nE\n');
  });

  it('refuses what does not fit together, names the files and changes nothing', async () => {
    const run = await open();
    await run.apply([{ path: 'src/index.js', content: 'export const one = 10;\n' }]);
    await run.commit({ tree: await run.snapshot(), message: 'Ten', stepKey: 'T1' });
    await commitMine('src/index.js', 'export const one = 11;\n');
    const before = await refs();
    await expect(run.sync()).rejects.toMatchObject({
      code: 'SYNC_CONFLICT',
      message: expect.stringContaining('src/index.js'),
    });
    expect((await refs()).replace(/^refs\/devs\/head .*\n/m, '')).toBe(before);
    expect(await run.read('src/index.js')).toBe('export const one = 10;\n');
  });

  it('refuses a folder with changes that nobody adopted', async () => {
    const run = await open();
    await run.snapshot();
    await commitMine('staged.txt', 'mine\n');
    await writeFile(join(run.dir, 'hand.txt'), 'by hand\n');
    await expect(run.sync()).rejects.toMatchObject({ code: 'WORKSPACE_DIRTY' });
    await run.adopt({ author: { name: 'Ada', email: 'a@b' }, message: 'Hand', principal: 'human:ada' });
    expect(await run.sync()).toMatchObject({ commits: 1 });
    expect(await run.list()).toEqual(expect.arrayContaining(['hand.txt', 'staged.txt']));
  });

  it('is finished by the next open after a kill before the folder followed', async () => {
    const run = await open();
    await commitFile(run, 'two.js');
    await commitMine('staged.txt', 'mine\n');
    await run.sync();
    const tip = (await engine('rev-parse', 'devs/run-1')).trim();
    await engine('update-ref', 'refs/devs/unfolded', tip);
    await rm(join(run.dir, 'staged.txt'));
    const reopened = await open();
    expect(await reopened.list()).toContain('staged.txt');
    expect(await refs()).not.toContain('unfolded');
  });

  it('refuses a run without a repository', async () => {
    const run = (await new GitWorkspace({ dir: root }).open('empty')) as GitRunWorkspace;
    await expect(run.sync()).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  });
});
