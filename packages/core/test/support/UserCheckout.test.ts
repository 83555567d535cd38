import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { UserCheckout } from './UserCheckout.ts';

let root: string;
let user: UserCheckout;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'devs-checkout-'));
  user = UserCheckout.create(root);
  user.write('a.txt', 'a\n');
  user.git('add', '.');
  user.git('commit', '-q', '-m', 'First');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const put = (path: string): void => {
  mkdirSync(join(root, path, '..'), { recursive: true });
  writeFileSync(join(root, path), 'b\n');
};
const git = (...args: readonly string[]): void =>
  void execFileSync('git', args, { cwd: root, stdio: 'pipe' });
const hide = (...folders: readonly string[]): void => {
  for (const folder of folders) put(`${folder}/.gitignore`);
  for (const folder of folders) writeFileSync(join(root, folder, '.gitignore'), '*\n');
};

const TOUCHES: Readonly<Record<string, readonly [touch: () => void, path: string]>> = {
  'another file': [() => put('b.txt'), 'b.txt'],
  'other bytes': [() => put('a.txt'), 'a.txt'],
  'another mode': [() => chmodSync(join(root, 'a.txt'), 0o755), 'a.txt'],
  'a file that is gone': [() => rmSync(join(root, 'a.txt')), 'a.txt'],
  'an index that was written again': [
    () => {
      utimesSync(join(root, 'a.txt'), 1, 1);
      git('update-index', '--refresh');
    },
    '.git/index',
  ],
  'another branch': [() => git('branch', 'other'), '.git/refs/heads/other'],
  'a tag': [() => git('tag', 'v1'), '.git/refs/tags/v1'],
  'another HEAD': [() => git('symbolic-ref', 'HEAD', 'refs/heads/x'), '.git/HEAD'],
  'a setting': [() => git('config', 'core.pager', 'cat'), '.git/config'],
  'packed refs': [() => git('pack-refs', '--all'), '.git/packed-refs'],
  'engine folders that git status shows': [() => put('.devs/state'), '(git status)'],
};

it.each(Object.entries(TOUCHES))('finds %s', (_name, [touch, path]) => {
  user.assertUntouched();
  touch();
  expect(() => user.assertUntouched()).toThrow(path);
  expect(() => user.write('c.txt', 'c\n')).toThrow(path);
  expect(readdirSync(root)).not.toContain('c.txt');
});

it('finds another version of what the user has committed in a folder of the engine', () => {
  user.change(() => {
    put('.devs/config.json');
    git('add', '.');
    git('-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', 'commit', '-q', '-m', 'Configure');
  });
  user.assertUntouched();
  writeFileSync(join(root, '.devs', 'config.json'), 'another\n');
  expect(() => user.assertUntouched()).toThrow('(git status)');
});

it('allows folders of the engine that are hidden, its branches, and what the user does', () => {
  hide('.devs', '.devs-work');
  git('update-ref', 'refs/heads/devs/run', 'HEAD');
  user.assertUntouched();
  user.write('b.txt', 'b\n');
  user.git('checkout', '-q', 'devs/run');
  user.assertUntouched();
});
