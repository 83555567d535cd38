import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Checks } from '@devs/core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { UserCheckout } from '../../../../core/test/support/UserCheckout.ts';
import { PASSED } from '../../../test/support/passedSetup.ts';
import type { GitRunWorkspace } from '../GitRunWorkspace.ts';
import { GitWorkspace } from '../GitWorkspace.ts';

const NEVER = new AbortController().signal;

let base: string;
let root: string;
let user: UserCheckout;

const gitIn = (cwd: string, ...args: readonly string[]): string => {
  const as = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', '-c', 'protocol.file.allow=always'];
  return execFileSync('git', [...as, ...args], { cwd, encoding: 'utf8', stdio: 'pipe' });
};

function repository(around: string, name: string, files: Readonly<Record<string, string>>): string {
  const dir = join(around, name);
  mkdirSync(dir, { recursive: true });
  gitIn(dir, 'init', '-q', '-b', 'main');
  for (const [path, content] of Object.entries(files)) writeFileSync(join(dir, path), content);
  gitIn(dir, 'add', '-f', '.');
  gitIn(dir, 'commit', '-q', '-m', 'First');
  return dir;
}

let made: string;

/** A library with a library of its own, below `libs/one`, by a relative URL and by a path. */
beforeAll(() => {
  made = mkdtempSync(join(tmpdir(), 'devs-submodules-'));
  const inner = repository(made, 'inner', { 'inner.txt': 'inner\n' });
  const one = repository(made, 'one', { 'one.txt': 'one\n', '.gitignore': 'ignored\n' });
  gitIn(one, 'submodule', '--quiet', 'add', inner, 'inner');
  gitIn(one, 'commit', '-q', '-m', 'With inner');
  const project = repository(made, 'project', { 'README.md': 'hello\n' });
  gitIn(project, 'remote', 'add', 'origin', join(made, 'project'));
  gitIn(project, 'submodule', '--quiet', 'add', '../one', 'libs/one');
  gitIn(project, 'submodule', '--quiet', 'update', '--init', '--recursive');
  gitIn(project, 'commit', '-q', '-am', 'With a library');
});

afterAll(() => rmSync(made, { recursive: true, force: true }));

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'devs-submodules-'));
  root = join(base, 'project');
  cpSync(join(made, 'project'), root, { recursive: true });
  user = UserCheckout.at(root);
});

afterEach(() => {
  try {
    user.assertUntouched();
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
});

const open = async (setup?: Checks): Promise<GitRunWorkspace> => {
  const workspace = new GitWorkspace({ dir: root, repository: root, ...(setup && { setup }) });
  return (await workspace.open('run-1')) as GitRunWorkspace;
};
const engine = (...args: string[]): string =>
  user.git('--git-dir', join(root, '.devs', 'git', 'run-1.git'), ...args);
const inRun = (run: GitRunWorkspace, path: string): string => join(run.dir, 'libs', 'one', path);
const text = (run: GitRunWorkspace, path: string): Promise<string> => readFile(inRun(run, path), 'utf8');

describe('a run of a repository with submodules', () => {
  it('has their files, to read and to check, and stores none of them', async () => {
    const run = await open();
    expect(await run.list()).toEqual([
      '.gitmodules',
      'README.md',
      'libs/one/.gitignore',
      'libs/one/.gitmodules',
      'libs/one/inner/inner.txt',
      'libs/one/one.txt',
    ]);
    expect(await run.read('libs/one/inner/inner.txt')).toBe('inner\n');
    expect(await run.snapshot()).toBe(user.git('rev-parse', 'HEAD^{tree}').trim());
    expect(await run.hasChanges()).toBe(false);
    await run.apply([{ path: 'new.txt', content: 'new\n' }]);
    const commit = await run.commit({ tree: await run.snapshot(), message: 'Add', stepKey: 'T1/1' });
    expect(engine('diff', '--name-only', `${commit}^`, commit)).toBe('new.txt\n');
    expect(engine('ls-tree', commit, 'libs/one')).toBe(user.git('ls-tree', 'HEAD', 'libs/one'));
    expect(await run.deliver()).toMatchObject({ held: null });
    expect(user.git('ls-tree', 'devs/run-1', 'libs/one')).toBe(user.git('ls-tree', 'HEAD', 'libs/one'));
  });

  it('has them anew after checks and restores, with what setup made beside them', async () => {
    const setup: Checks = {
      run: async ({ dir }) => {
        await mkdir(join(dir, 'libs/one/node_modules'));
        await writeFile(join(dir, 'libs/one/node_modules/dep.js'), 'dep\n');
        await writeFile(join(dir, 'libs/one/one.txt'), 'written by setup\n');
        return PASSED;
      },
    };
    const run = await open(setup);
    expect(await text(run, 'one.txt')).toBe('one\n');
    const tree = await run.snapshot();
    await writeFile(inRun(run, 'one.txt'), 'written by a check\n');
    await writeFile(inRun(run, 'stray.txt'), 'stray\n');
    await rm(inRun(run, 'inner'), { recursive: true });
    await run.discard(tree);
    expect(await run.ready(tree, NEVER)).toBeNull();
    expect(await text(run, 'one.txt')).toBe('one\n');
    expect(await text(run, 'inner/inner.txt')).toBe('inner\n');
    expect(await text(run, 'node_modules/dep.js')).toBe('dep\n');
    expect(existsSync(inRun(run, 'stray.txt'))).toBe(false);
  });

  it('refuses an edit inside one, before anything is written', async () => {
    const run = await open();
    for (const path of ['libs/one/one.txt', 'libs/one/new.txt', 'libs/one', 'libs/one/inner/inner.txt']) {
      const edits = ['ok.txt', path].map((each) => ({ path: each, content: 'x' }));
      await expect(run.apply(edits)).rejects.toMatchObject({ code: 'PATH_REFUSED' });
    }
    expect(await run.list()).not.toContain('ok.txt');
  });

  it('refuses what an agent has changed inside one, keeps it elsewhere, and goes on', async () => {
    const run = await open();
    await writeFile(inRun(run, 'one.txt'), 'mine\n');
    await writeFile(join(run.dir, 'ok.txt'), 'ok\n');
    const error = await run.snapshot().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: 'PATH_REFUSED',
      message: expect.stringContaining('libs/one/one.txt'),
    });
    const [, moved = ''] = /lies in (.+)\.$/.exec((error as { remedy: string }).remedy) ?? [];
    expect(readFileSync(join(moved, 'libs/one/one.txt'), 'utf8')).toBe('mine\n');
    expect(await text(run, 'one.txt')).toBe('one\n');
    expect(engine('diff-tree', '-r', '--name-only', 'HEAD', await run.snapshot())).toBe('ok.txt\n');
  });

  it('rescues what a person has changed inside one, and moves no recorded commit', async () => {
    const run = await open();
    const tree = await run.snapshot();
    await writeFile(inRun(run, 'one.txt'), 'mine\n');
    const rescue = await run.restore(tree);
    const message = engine('log', '-1', '--format=%B', rescue?.commit ?? '');
    const [, moved = ''] = /Moved: (.+)/.exec(message) ?? [];
    expect(readFileSync(moved, 'utf8')).toBe('mine\n');
    expect(await text(run, 'one.txt')).toBe('one\n');
    await rm(join(run.dir, 'libs'), { recursive: true });
    await expect(run.snapshot()).rejects.toMatchObject({ code: 'PATH_REFUSED' });
    expect(await run.snapshot()).toBe(tree);
    gitIn(inRun(run, '.'), 'init', '-q');
    gitIn(inRun(run, '.'), 'commit', '-q', '--allow-empty', '-m', 'Another one');
    await expect(run.snapshot()).rejects.toThrow('another git repository: "libs/one"');
    await run.restore(tree);
    expect(await run.snapshot()).toBe(tree);
  });

  it('is not removed with a change inside one, and is where one is not checked out any more', async () => {
    const run = await open();
    await writeFile(inRun(run, 'one.txt'), 'mine\n');
    const remove = (): Promise<unknown> =>
      new GitWorkspace({ dir: root, repository: root }).remove('run-1', { force: false });
    await expect(remove()).rejects.toMatchObject({ code: 'REMOVE_REFUSED' });
    expect(await text(run, 'one.txt')).toBe('mine\n');
    user.change(() => gitIn(root, 'submodule', '--quiet', 'deinit', '--force', 'libs/one'));
    await remove();
    expect(existsSync(run.dir)).toBe(false);
  });

  it('writes and moves through no link that somebody put in the place of one, or of a folder around it', async () => {
    const outside = join(base, 'outside');
    await mkdir(join(outside, 'one'), { recursive: true });
    for (const path of ['one.txt', 'one/one.txt']) await writeFile(join(outside, path), 'not ours\n');
    const assertOutside = (): void => {
      for (const path of ['one.txt', 'one/one.txt'])
        expect(readFileSync(join(outside, path), 'utf8')).toBe('not ours\n');
    };
    const linked = async (dir: string, path: string): Promise<void> => {
      await rm(join(dir, path), { recursive: true });
      await symlink(outside, join(dir, path));
    };
    const run = await open({
      run: async ({ dir }) => {
        await linked(dir, 'libs/one');
        return PASSED;
      },
    });
    expect(await text(run, 'one.txt')).toBe('one\n');
    assertOutside();
    const tree = await run.snapshot();
    for (const path of ['libs/one', 'libs']) {
      await linked(run.dir, path);
      await run.restore(tree);
      expect(await text(run, 'one.txt')).toBe('one\n');
      await linked(run.dir, path);
      await expect(run.snapshot()).rejects.toMatchObject({ code: 'PATH_REFUSED' });
      expect(await text(run, 'one.txt')).toBe('one\n');
      expect(await run.snapshot()).toBe(tree);
      assertOutside();
    }
  });

  it('follows a commit of its user that moves one', async () => {
    const run = await open();
    await run.apply([{ path: 'new.txt', content: 'new\n' }]);
    await run.commit({ tree: await run.snapshot(), message: 'Add', stepKey: 'T1/1' });
    user.change(() => {
      const sub = join(root, 'libs/one');
      writeFileSync(join(sub, 'one.txt'), 'second\n');
      gitIn(sub, 'commit', '-q', '-am', 'Second');
      gitIn(root, 'commit', '-q', '-am', 'Newer library');
    });
    await run.sync();
    expect(await text(run, 'one.txt')).toBe('second\n');
    expect(await run.list()).toContain('new.txt');
    expect(await run.hasChanges()).toBe(false);
  });

  it.each([
    ['libs/one', () => gitIn(root, 'submodule', '--quiet', 'deinit', '--force', 'libs/one')],
    ['libs/one', () => gitIn(root, 'update-index', '--cacheinfo', `160000,${'1'.repeat(40)},libs/one`)],
    ['inner', () => rmSync(join(root, 'libs/one/inner/.git'))],
  ])('is refused with the command to type where %s is not checked out', async (path, change) => {
    user.change(() => {
      change();
      gitIn(root, 'commit', '-q', '--allow-empty', '-m', 'Change');
    });
    const workspace = new GitWorkspace({ dir: root, repository: root });
    await expect(workspace.assertUsable()).rejects.toMatchObject({
      code: 'WORKSPACE_FAILED',
      remedy: expect.stringContaining(`git submodule update --init --recursive -- "${path}"`),
    });
    expect(existsSync(join(root, '.devs-work'))).toBe(false);
  });
});
