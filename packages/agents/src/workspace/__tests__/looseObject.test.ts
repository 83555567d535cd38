import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GitRepository } from '../GitRepository.ts';
import { looseEntry, looseObject, treeOfCommit } from '../looseObject.ts';
import { textAt } from '../trees.ts';

let dir: string;
let gitDir: string;
let commit: string;

const git = (...args: readonly string[]): string =>
  execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@b.c', ...args], {
    cwd: dir,
    encoding: 'utf8',
  });
const idOf = (name: string): string => git('rev-parse', name).trim();
const fileOf = (id: string): string => join(gitDir, 'objects', id.slice(0, 2), id.slice(2));

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'devs-loose-'));
  gitDir = join(dir, '.git');
  git('init', '-q');
  mkdirSync(join(dir, 'src/deep'), { recursive: true });
  for (const [path, text] of Object.entries({
    'a.txt': 'a\n',
    'src.txt': 'beside the folder\n',
    'src/deep/\u00fc b.txt': 'deep\n',
    'src/binary': 'a\0b',
    large: 'x'.repeat(2_000_000),
  }))
    writeFileSync(join(dir, path), text);
  symlinkSync('a.txt', join(dir, 'link'));
  git('add', '.');
  git('commit', '-q', '-m', 'First');
  commit = idOf('HEAD');
});

afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** What git says is at a path, as a tree keeps it. */
function byGit(path: string): { mode: string; id: string } | null {
  const [mode = '', , id = ''] = git('ls-tree', commit, '--', path).split(/\s/);
  return mode === '' ? null : { mode: mode.replace(/^0/, ''), id };
}

describe('an object with a file of its own', () => {
  it.each(['a.txt', 'src.txt', 'src', 'src/deep/\u00fc b.txt', 'link', 'nothing', 'src/nothing', 'a.txt/b'])(
    'is found at %s where git finds it',
    async (path) => {
      expect(await looseEntry(gitDir, commit, path)).toEqual({ found: byGit(path) });
    },
  );

  it('is what git reads', async () => {
    const read = await looseObject(gitDir, commit);
    expect(read?.kind).toBe('commit');
    expect(read?.content.toString()).toBe(git('cat-file', 'commit', commit));
    expect(read && treeOfCommit(read)).toBe(idOf('HEAD^{tree}'));
  });

  it('is not read where it is large, damaged, cut off or gone', async () => {
    expect(await looseObject(gitDir, idOf('HEAD:large'))).toBeNull();
    expect(await looseObject(gitDir, 'f'.repeat(40))).toBeNull();
    const other = git('hash-object', '-w', 'src.txt').trim();
    const id = execFileSync('git', ['hash-object', '-w', '--stdin'], { cwd: dir, input: 'mine\n' })
      .toString()
      .trim();
    chmodSync(fileOf(id), 0o644);
    execFileSync('cp', [fileOf(other), fileOf(id)]);
    expect(await looseObject(gitDir, id)).toBeNull();
    writeFileSync(fileOf(id), '');
    expect(await looseObject(gitDir, id)).toBeNull();
  });

  it('says the same as git does of a text, and of what is none', async () => {
    const packed = join(dir, 'packed.git');
    git('clone', '-q', '--bare', '--no-local', '.', packed);
    const stores = [gitDir, packed].map((at) => new GitRepository({ gitDir: at, workTree: dir }));
    for (const path of [
      'a.txt',
      'src/deep/\u00fc b.txt',
      'src',
      'src/binary',
      'link',
      'large',
      'nothing',
      '../a.txt',
    ]) {
      const [loose, asked] = await Promise.all(stores.map((store) => textAt(store, commit, path)));
      expect(loose, path).toBe(asked);
    }
  });
});
