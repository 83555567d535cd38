import { execFile } from 'node:child_process';
import { cpSync, existsSync, rmSync, symlinkSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { UserCheckout } from '../../../../core/test/support/UserCheckout.ts';
import type { GitRunWorkspace } from '../GitRunWorkspace.ts';
import { GitWorkspace } from '../GitWorkspace.ts';

const execute = promisify(execFile);

/** What each test has a copy of. */
let made: string;
let root: string;
let user: UserCheckout;

beforeAll(async () => {
  made = await mkdtemp(join(tmpdir(), 'devs-user-'));
  root = made;
  user = UserCheckout.create(made);
  user.change(addFiles);
});

afterAll(() => rm(made, { recursive: true, force: true }));

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'devs-user-'));
  cpSync(made, root, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
  user = UserCheckout.at(root);
});

/** As a user has them: hooks that would tell, an ignored but tracked file, a stash, staged and untracked work. */
function addFiles(): void {
  user.write('src/index.js', 'export const one = 1;\n');
  user.write('.gitignore', 'dist/\nnode_modules/\n');
  user.write('dist/kept.js', 'tracked though ignored\n');
  symlinkSync('src/index.js', join(root, 'link.js'));
  user.git('add', '-f', '.');
  user.git('commit', '-q', '-m', 'First');
  user.write('src/index.js', 'stashed\n');
  user.git('stash', '-q');
  user.write('staged.txt', 'staged\n');
  user.git('add', 'staged.txt');
  user.write('src/index.js', 'dirty\n');
  user.write('untracked.txt', 'mine\n');
  for (const hook of ['reference-transaction', 'post-checkout', 'post-merge', 'pre-receive', 'update']) {
    user.write(`.git/hooks/${hook}`, '#!/bin/sh\necho ran >> "$(dirname $0)/../hook-ran"\n', 0o755);
  }
}

/** Holds in every test; a hook that runs leaves a line behind. */
afterEach(async () => {
  try {
    user.assertUntouched();
  } finally {
    await rm(root, { recursive: true, force: true });
  }
});

const open = (id = 'run-1'): Promise<GitRunWorkspace> =>
  new GitWorkspace({ dir: root, repository: root }).open(id) as Promise<GitRunWorkspace>;

async function commitFile(run: GitRunWorkspace, path: string): Promise<string> {
  await run.apply([{ path, content: `${path}\n` }]);
  return run.commit({ tree: await run.snapshot(), message: `Add ${path}`, stepKey: path });
}

describe('a run in an existing repository', () => {
  it('begins with the files of the commit that is checked out, not with what lies around', async () => {
    const run = await open();
    expect(await run.list()).toEqual(['.gitignore', 'dist/kept.js', 'link.js', 'src/index.js']);
    expect(await run.read('src/index.js')).toBe('export const one = 1;\n');
    expect(await run.log()).toEqual([]);
  });

  it('stores an untouched folder as the tree it began with', async () => {
    const run = await open();
    expect(await run.snapshot()).toBe(user.git('rev-parse', 'HEAD^{tree}').trim());
  });

  it('puts its branch there and changes nothing else', async () => {
    const run = await open();
    const sha = await commitFile(run, 'src/two.js');
    expect(await run.deliver()).toEqual({ branch: 'devs/run-1', commit: sha, held: null });
    expect(await run.deliver()).toEqual({ branch: 'devs/run-1', commit: sha, held: null });
    user.assertUntouched();
    expect(user.git('log', '--format=%s', 'devs/run-1')).toBe('Add src/two.js\nFirst\n');
    expect(user.git('diff', '--name-status', 'main', 'devs/run-1')).toBe('A\tsrc/two.js\n');
    expect(await run.log()).toEqual([{ sha, subject: 'Add src/two.js' }]);
  });

  it('moves the branch on with the next commit', async () => {
    const run = await open();
    await commitFile(run, 'two.js');
    await run.deliver();
    const sha = await commitFile(run, 'three.js');
    expect(await run.deliver()).toMatchObject({ commit: sha, held: null });
    expect(user.git('rev-parse', 'devs/run-1').trim()).toBe(sha);
  });

  it('names its branch while the repository has it with all commits of the run', async () => {
    const workspace = new GitWorkspace({ dir: root, repository: root });
    const run = await open();
    expect(await workspace.deliveredBranch('run-1')).toBeNull();
    await commitFile(run, 'two.js');
    expect(await workspace.deliveredBranch('run-1')).toBeNull();
    await run.deliver();
    expect(await workspace.deliveredBranch('run-1')).toBe('devs/run-1');
    await commitFile(run, 'three.js');
    expect(await workspace.deliveredBranch('run-1')).toBeNull();
    await run.deliver();
    user.git('worktree', 'add', '-q', join(root, '.devs', 'elsewhere'), 'devs/run-1');
    user.git('-C', join(root, '.devs', 'elsewhere'), 'commit', '-q', '--allow-empty', '-m', 'mine');
    user.git('worktree', 'remove', join(root, '.devs', 'elsewhere'));
    expect(await workspace.deliveredBranch('run-1')).toBe('devs/run-1');
    user.git('branch', '-q', '-D', 'devs/run-1');
    expect(await workspace.deliveredBranch('run-1')).toBeNull();
    expect(await new GitWorkspace({ dir: root }).deliveredBranch('run-1')).toBeNull();
  });

  it('leaves a branch alone that the user works on', async () => {
    const run = await open();
    await commitFile(run, 'two.js');
    await run.deliver();
    user.git('worktree', 'add', '-q', join(root, '.devs', 'elsewhere'), 'devs/run-1');
    await commitFile(run, 'three.js');
    expect(await run.deliver()).toMatchObject({ held: 'checked_out' });
    user.git('-C', join(root, '.devs', 'elsewhere'), 'commit', '-q', '--allow-empty', '-m', 'mine');
    user.git('worktree', 'remove', join(root, '.devs', 'elsewhere'));
    expect(await run.deliver()).toMatchObject({ held: 'changed' });
    expect(user.git('log', '-1', '--format=%s', 'devs/run-1')).toBe('mine\n');
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
    user.git('commit', '-q', '-am', 'Meanwhile');
    const run = await open();
    expect((await run.log()).map(({ subject }) => subject)).toEqual(['Add two.js']);
    expect(await run.list()).not.toContain('staged.txt');
  });

  it('begins empty where nothing was committed yet', async () => {
    user.change(() => rmSync(join(root, '.git'), { recursive: true }));
    user.git('init', '-q');
    const run = await open();
    expect(await run.list()).toEqual([]);
    expect(await run.deliver()).toBeNull();
  });

  it('works from a linked worktree', async () => {
    const linked = join(root, '.devs', 'linked');
    user.git('worktree', 'add', '-q', '-b', 'other', linked, 'main');
    const checkout = UserCheckout.at(linked);
    const run = (await new GitWorkspace({ dir: linked, repository: linked }).open(
      'run-2',
    )) as GitRunWorkspace;
    await commitFile(run, 'two.js');
    expect(await run.deliver()).toMatchObject({ branch: 'devs/run-2', held: null });
    expect(user.git('log', '-1', '--format=%s', 'devs/run-2')).toBe('Add two.js\n');
    checkout.assertUntouched();
  });

  it('refuses submodules before the run begins', async () => {
    user.git('update-index', '--add', '--cacheinfo', `160000,${(user.git('rev-parse', 'HEAD')).trim()},sub`);
    user.git('commit', '-q', '-m', 'With a submodule');
    await expect(open()).rejects.toMatchObject({
      code: 'WORKSPACE_FAILED',
      message: expect.stringContaining('"sub"'),
    });
  });

  it('says so beforehand, too, and without a folder', async () => {
    const workspace = new GitWorkspace({ dir: root, repository: root });
    await expect(workspace.assertUsable()).resolves.toBeUndefined();
    user.git('update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(40)},sub`);
    user.git('commit', '-q', '-m', 'With a submodule');
    await expect(workspace.assertUsable()).rejects.toMatchObject({ code: 'WORKSPACE_FAILED' });
    expect(existsSync(join(root, '.devs-work'))).toBe(false);
  });

  it('refuses a folder that is no repository', async () => {
    user.change(() => rmSync(join(root, '.git'), { recursive: true }));
    await expect(open()).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  });
});

describe('sync', () => {
  const commitMine = (path: string, content: string): string => {
    user.write(path, content);
    user.git('commit', '-q', '-m', `Mine: ${path}`, '--', path);
    return user.git('rev-parse', 'HEAD').trim();
  };
  const ENGINE = (): string => join(root, '.devs', 'git', 'run-1.git');
  const engine = (...args: string[]): string => user.git('--git-dir', ENGINE(), ...args);
  const refs = (): string => engine('for-each-ref', '--format=%(refname) %(objectname)');

  it('puts the commits and the folder of the run on top of mine, and touches nothing of mine', async () => {
    const run = await open();
    const first = await commitFile(run, 'two.js');
    const second = await commitFile(run, 'three.js');
    await run.deliver();
    await run.apply([{ path: 'half.js', content: 'half done\n' }]);
    await run.snapshot();
    const mine = commitMine('staged.txt', 'mine\n');

    const synced = await run.sync([first, second]);
    expect(synced).toMatchObject({ base: mine, commits: 2, before: 'refs/devs/before-sync/1' });
    const now = engine('rev-list', '--reverse', '-2', 'devs/run-1').trim().split('\n');
    expect(synced?.moved).toEqual({ [first]: now[0], [second]: now[1] });
    expect(await run.deliver()).toMatchObject({ held: null });

    user.assertUntouched();
    expect(user.git('log', '--format=%an: %s', 'devs/run-1')).toBe(
      'devs: Add three.js\ndevs: Add two.js\nAda: Mine: staged.txt\nAda: First\n',
    );
    expect(await run.list()).toEqual(expect.arrayContaining(['half.js', 'staged.txt', 'three.js', 'two.js']));
    expect(engine('rev-parse', 'refs/devs/before-sync/1^{commit}').trim()).toBe(second);
    expect(engine('log', '--format=%at', '-1', 'devs/run-1~1')).toBe(
      engine('log', '--format=%at', '-1', first),
    );
    expect(await run.sync(now)).toBeNull();
    expect(await run.sync([first])).toEqual({ ...synced, moved: { [first]: now[0] } });
    const again = { tree: await run.snapshot(), message: 'Add two.js', stepKey: 'two.js' };
    expect(await run.commit(again)).toBe(engine('rev-parse', 'devs/run-1~1').trim());
  });

  it('merges different places of one file', async () => {
    user.write('list.txt', 'a\nb\nc\nd\ne\n');
    user.git('add', 'list.txt');
    commitMine('list.txt', 'a\nb\nc\nd\ne\n');
    const run = await open();
    await run.apply([{ path: 'list.txt', content: 'a\nb\nc\nd\nE\n' }]);
    await run.commit({ tree: await run.snapshot(), message: 'Last', stepKey: 'T1' });
    commitMine('list.txt', 'A\nb\nc\nd\ne\n');
    await run.sync();
    expect(await run.read('list.txt')).toBe('A\nb\nc\nd\nE\n');
  });

  it('refuses what does not fit together, names the files and changes nothing', async () => {
    const run = await open();
    await run.apply([{ path: 'src/index.js', content: 'export const one = 10;\n' }]);
    await run.commit({ tree: await run.snapshot(), message: 'Ten', stepKey: 'T1' });
    commitMine('src/index.js', 'export const one = 11;\n');
    const before = refs();
    await expect(run.sync()).rejects.toMatchObject({
      code: 'SYNC_CONFLICT',
      message: expect.stringContaining('src/index.js'),
    });
    expect(refs().replace(/^refs\/devs\/head .*\n/m, '')).toBe(before);
    expect(await run.read('src/index.js')).toBe('export const one = 10;\n');
  });

  it('refuses a folder with changes that nobody adopted', async () => {
    const run = await open();
    await run.snapshot();
    commitMine('staged.txt', 'mine\n');
    await writeFile(join(run.dir, 'hand.txt'), 'by hand\n');
    await expect(run.sync()).rejects.toMatchObject({ code: 'WORKSPACE_DIRTY' });
    await run.adopt({ author: { name: 'Ada', email: 'a@b' }, message: 'Hand', principal: 'human:ada' });
    expect(await run.sync()).toMatchObject({ commits: 1 });
    expect(await run.list()).toEqual(expect.arrayContaining(['hand.txt', 'staged.txt']));
  });

  it('knows a folder as adopted that holds more than the branch, also after it', async () => {
    const run = await open();
    await run.apply([{ path: 'half.txt', content: 'of an agent\n' }]);
    await run.snapshot();
    await writeFile(join(run.dir, 'hand.txt'), 'by hand\n');
    await run.adopt({ author: { name: 'Ada', email: 'a@b' }, message: 'Hand', principal: 'human:ada' });
    commitMine('staged.txt', 'mine\n');
    expect(await run.sync()).toMatchObject({ commits: 1 });
    expect(await run.list()).toEqual(expect.arrayContaining(['half.txt', 'hand.txt', 'staged.txt']));
    expect(await run.isAdopted(await run.snapshot())).toBe(true);
    expect(await run.isAdopted(await run.integrated())).toBe(true);
    expect(engine('ls-tree', '--name-only', 'devs/run-1')).not.toContain('half.txt');
  });

  it('is finished by the next open after a kill before the folder followed', async () => {
    const run = await open();
    await commitFile(run, 'two.js');
    commitMine('staged.txt', 'mine\n');
    await run.sync();
    const tip = engine('rev-parse', 'devs/run-1').trim();
    engine('update-ref', 'refs/devs/unfolded', tip);
    await rm(join(run.dir, 'staged.txt'));
    const reopened = await open();
    expect(await reopened.list()).toContain('staged.txt');
    expect(refs()).not.toContain('unfolded');
  });

  it('refuses a run without a repository', async () => {
    const run = (await new GitWorkspace({ dir: root }).open('empty')) as GitRunWorkspace;
    await expect(run.sync()).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  });
});
