import { execFileSync } from 'node:child_process';
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { UserCheckout } from '../../../../core/test/support/UserCheckout.ts';
import { GitWorkspace } from '../GitWorkspace.ts';
import { linkObjects } from '../linkObjects.ts';

let dir: string;
let root: string;
let user: UserCheckout;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'devs-link-objects-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true, maxRetries: 3 }));
  root = join(dir, 'user');
  mkdirSync(root);
  user = UserCheckout.create(root);
  user.change(() => {
    user.write('a.txt', 'one\n');
    user.git('add', '.');
    user.git('commit', '-q', '-m', 'First');
    user.git('repack', '-adq');
    user.write('b.txt', 'two\n');
    user.git('add', '.');
    user.git('commit', '-q', '-m', 'Second');
  });
});

const git = (at: string, ...args: readonly string[]): string =>
  execFileSync('git', args, { cwd: at, encoding: 'utf8', stdio: 'pipe' });

interface ObjectFile {
  readonly path: string;
  /** It has another name in another store. */
  readonly isLinked: boolean;
}

function objectsIn(store: string): readonly ObjectFile[] {
  const names = readdirSync(store, { recursive: true, encoding: 'utf8' });
  return names.flatMap((path) => {
    const found = lstatSync(join(store, path));
    return found.isDirectory() ? [] : [{ path, isLinked: found.nlink > 1 }];
  });
}

const begun = async (
  repository = root,
): Promise<{ readonly dir: string; readonly objects: readonly ObjectFile[] }> => {
  const run = await new GitWorkspace({ dir, repository }).open('run');
  expect(git(run.dir, 'status', '--porcelain')).toBe('');
  expect(git(run.dir, 'fsck', '--full', '--strict')).toBe('');
  return { dir: run.dir, objects: objectsIn(join(dir, '.devs/git/run.git/objects')) };
};

describe('the store of a new run', () => {
  it('has the objects of the repository without a byte of them copied', async () => {
    const run = await begun();
    expect(run.objects.length).toBe(5);
    expect(run.objects.filter(({ isLinked }) => !isLinked)).toEqual([]);
    expect(git(run.dir, 'log', '--format=%s')).toBe('Second\nFirst\n');
    user.assertUntouched();
  });

  it('keeps them when the user throws them away', async () => {
    const run = await begun();
    user.git('checkout', '-q', '--orphan', 'other');
    user.git('commit', '-q', '-m', 'Other');
    user.git('branch', '-D', 'main');
    user.git('reflog', 'expire', '--expire=now', '--all');
    user.git('gc', '-q', '--prune=now');
    expect(() => user.git('cat-file', '-e', git(run.dir, 'rev-parse', 'HEAD').trim())).toThrow();
    expect(git(run.dir, 'fsck', '--full', '--strict')).toBe('');
    expect(git(run.dir, 'show', 'HEAD~1:a.txt')).toBe('one\n');
  });

  it('is begun from a linked worktree', async () => {
    user.git('worktree', 'add', '-q', '-b', 'side', join(dir, 'side'));
    const { objects } = await begun(join(dir, 'side'));
    expect(objects.filter(({ isLinked }) => !isLinked)).toEqual([]);
  });

  it.each([
    ['shares those of another repository', ['clone', '-q', '--shared']],
    ['is shallow', ['clone', '-q', '--no-local', '--depth=1']],
    [
      'leaves some to another repository',
      ['-c', 'protocol.file.allow=always', 'clone', '-q', '--no-local', '--filter=blob:limit=1m'],
    ],
  ])('is fetched from a repository that %s', async (_, clone) => {
    user.git('config', 'uploadpack.allowFilter', 'true');
    git(dir, ...clone, root, 'clone');
    const { objects } = await begun(join(dir, 'clone'));
    expect(objects.filter(({ isLinked }) => isLinked)).toEqual([]);
    expect(objects.length).toBeGreaterThan(0);
  });
});

describe('linkObjects', () => {
  const store = (): string => join(root, '.git/objects');
  const linked = (): Promise<boolean> => linkObjects(store(), mkdtempSync(join(dir, 'store-')));

  it('goes on where a start was killed', async () => {
    const to = mkdtempSync(join(dir, 'store-'));
    expect(await linkObjects(store(), to)).toBe(true);
    const all = objectsIn(to);
    rmSync(join(to, 'pack'), { recursive: true });
    expect(await linkObjects(store(), to)).toBe(true);
    expect(objectsIn(to)).toEqual(all);
  });

  it('follows no link, neither to a file nor to a folder', async () => {
    const secret = join(dir, 'secret');
    writeFileSync(secret, 'secret');
    mkdirSync(join(store(), 'ff'), { recursive: true });
    const planted = join(store(), 'ff', '0'.repeat(38));
    symlinkSync(secret, planted);
    expect(await linked()).toBe(false);
    rmSync(planted);
    expect(await linked()).toBe(true);
    renameSync(join(store(), 'pack'), join(dir, 'pack'));
    mkdirSync(join(store(), 'pack'));
    symlinkSync(secret, join(store(), `pack/pack-${'0'.repeat(40)}.pack`));
    writeFileSync(join(store(), `pack/pack-${'0'.repeat(40)}.idx`), '');
    expect(await linked()).toBe(false);
  });

  it('is not for a pack that is gone by the time it is linked', async () => {
    const [pack = ''] = readdirSync(join(store(), 'pack')).filter((name) => name.endsWith('.pack'));
    rmSync(join(store(), 'pack', pack));
    expect(await linked()).toBe(false);
  });

  it('is not for more new objects than are flushed faster than packed', async () => {
    const names = Array.from({ length: 600 }, (_, n) => n.toString(16).padStart(38, '0'));
    mkdirSync(join(store(), 'ee'), { recursive: true });
    for (const name of names) writeFileSync(join(store(), 'ee', name), '');
    expect(await linked()).toBe(false);
    for (const name of names) utimesSync(join(store(), 'ee', name), 1_000_000_000, 1_000_000_000);
    expect(await linked()).toBe(true);
  });
});
