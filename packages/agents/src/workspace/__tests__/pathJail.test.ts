import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DevsError } from '@devs/core';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tried } from '../../../../core/test/support/tried.ts';
import { resolveInside } from '../pathJail.ts';

let base: string;
let root: string;

beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'devs-jail-'));
  root = join(base, 'run');
  await mkdir(join(root, 'src'), { recursive: true });
  await mkdir(join(base, 'outside'));
  await writeFile(join(base, 'outside', 'secret.txt'), 'secret');
  await writeFile(join(root, 'README.md'), 'hello');
  await symlink(join(base, 'outside'), join(root, 'link'));
  await symlink(join(base, 'outside', 'secret.txt'), join(root, 'src', 'link.txt'));
  await symlink('nowhere', join(root, 'dangling'));
});

afterAll(() => rm(base, { recursive: true, force: true }));

const BAD: readonly (readonly [what: string, path: string])[] = [
  ['an empty path', ''],
  ['the workspace itself', '.'],
  ['the workspace itself, twice', './.'],
  ['an absolute path', '/etc/passwd'],
  ['a parent', '..'],
  ['a path that leaves', '../outside/secret.txt'],
  ['a path that leaves in its middle', 'src/../../outside/secret.txt'],
  ['a parent that stays inside', 'src/../README.md'],
  ['a parent at the end', 'src/..'],
  ['a sibling with the same beginning', '../run-2/a.js'],
  ['a NUL', 'src/a.js\0.txt'],
  ['a line break', 'src/a\n.js'],
  ['a backslash', 'src\\a.js'],
  ['a backslash parent', '..\\outside'],
  ['a drive letter', 'C:/Windows/a'],
  ['a drive-relative path', 'C:a'],
  ['a UNC path', '\\\\host\\share'],
  ['a doubled slash', 'src//a.js'],
  ['a trailing slash', 'src/'],
  ['the git pointer', '.git'],
  ['a file in the git dir', '.git/config'],
  ['git in upper case', '.GIT/hooks/pre-commit'],
  ['git in mixed case below', 'vendor/.Git/config'],
  ['git with a trailing dot', '.git./config'],
  ['git with a trailing space', '.git /config'],
  ['git with dots and spaces', '.git . ./config'],
  ['git by its short name', 'GIT~1/config'],
  ['git by a data stream', '.git::$INDEX_ALLOCATION/config'],
  ['the engine folder', '.devs/state.sqlite'],
  ['the engine folder in upper case', '.DEVS/state.sqlite'],
  ['the engine folder with a trailing dot', '.devs./state.sqlite'],
  ['other workspaces', '.devs-work/other/a.js'],
  ['a zero-width joiner', '.g\u200dit/config'],
  ['a soft hyphen', '.de\u00advs/state.sqlite'],
  ['a byte-order mark', '\ufeff.git/config'],
  ['a right-to-left override', 'src/\u202egnp.js'],
  ['a lone surrogate', 'src/\ud800.js'],
  ['full-width git', '\uff0egit/config'],
  ['full-width letters', '.\uff47\uff49\uff54/config'],
  ['full-width dots', '\uff0e\uff0e/outside'],
  ['a dotless i', '.g\u0131t/config'],
  ['a decomposed letter', 'cafe\u0301.md'],
  ['a home folder', '~/.ssh/id_rsa'],
  ["another user's home folder", '~root/.ssh/id_rsa'],
  ['a trailing dot', 'src/a.js.'],
  ['a trailing space', 'src/a.js '],
  ['a leading space', ' src/a.js'],
  ['a component of 256 bytes', `${'a'.repeat(256)}.js`],
  [
    'a path of 1,025 bytes',
    Array.from({ length: 205 }, () => 'abcd')
      .join('/')
      .concat('/e'),
  ],
  ['a linked folder', 'link/secret.txt'],
  ['a new file in a linked folder', 'link/new.txt'],
  ['a linked file', 'src/link.txt'],
  ['a dangling link', 'dangling'],
  ['a file used as a folder', 'README.md/a.js'],
  ['a folder used as a file', 'src'],
];

const GOOD: readonly string[] = [
  'a.js',
  './a.js',
  'src/./a.js',
  'src/a.js',
  'src/deep/er/still/a.test.ts',
  'README.md',
  'package.json',
  '.gitignore',
  '.gitattributes',
  '.gitmodules',
  '.github/workflows/ci.yml',
  'src/.git-keep',
  'git/config',
  'devs/a.js',
  '.devsrc',
  '..a/b.js',
  'a..b/c.js',
  'my file.md',
  'docs/Übersicht.md',
  'docs/説明.md',
  'docs/caf\u00e9.md',
  '@scope/pkg/index.js',
  '[id]/(group)/page.tsx',
  '$HOME/a',
  '-rf',
  'a~1.js',
  'link2/secret.txt',
  `${'a'.repeat(251)}.js`,
];

describe('resolveInside', () => {
  it.each(BAD)('refuses %s', async (_what, path) => {
    const error = await resolveInside(root, path).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(DevsError);
    expect((error as DevsError).code).toBe('PATH_REFUSED');
  });

  it.each(GOOD)('accepts %s', async (path) => {
    const kept = path.split('/').filter((name) => name !== '.');
    expect(await resolveInside(root, path)).toBe(join(root, ...kept));
  });

  it('never resolves to a path outside, whatever it is given', async ({ task }) => {
    let ways = 0;
    const piece = fc.constantFrom('..', '.', '', 'a', '.git', 'link', 'src', '\\', '/', '\0', '.GIT ', 'C:');
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(piece, fc.string()), { maxLength: 6 }), async (pieces) => {
        ways += 1;
        tried(task, { ways });
        const resolved = await resolveInside(root, pieces.join('/')).catch(() => join(root, 'refused'));
        expect(resolved.startsWith(`${root}/`)).toBe(true);
        expect(resolved.split('/')).not.toContain('..');
        expect(resolved.toLowerCase()).not.toMatch(/\/\.git(\/|$)/);
        expect(`${resolved}/`.startsWith(`${root}/link/`)).toBe(false);
      }),
      { numRuns: 300 },
    );
  });

  it('says which path and why, in one line', async () => {
    await expect(resolveInside(root, 'src/../../x')).rejects.toThrow(
      'The path "src/../../x" is refused: it leaves the workspace.',
    );
  });
});
