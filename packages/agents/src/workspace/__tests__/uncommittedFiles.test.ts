import { createHash } from 'node:crypto';
import { chmodSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { UserCheckout } from '../../../../core/test/support/UserCheckout.ts';
import { GitWorkspace } from '../GitWorkspace.ts';

let root: string;
let user: UserCheckout;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'devs-uncommitted-'));
  user = UserCheckout.create(root);
});

afterEach(() => {
  vi.unstubAllEnvs();
  try {
    user.assertUntouched();
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});

const workspace = (): GitWorkspace => new GitWorkspace({ dir: root, repository: root });
const changed = async (): Promise<readonly string[]> => (await workspace().uncommitted()).changed;

function commitAll(): void {
  user.git('add', '--all');
  user.git('commit', '-q', '-m', 'All');
}

/** Git compares the contents of every file, as it does right after a clone. */
const makeOld = (): void => user.change(() => utimesSync(join(root, '.git/index'), 1, 1));

const pointerOf = (content: string): string =>
  `version https://git-lfs.github.com/spec/v1\noid sha256:${createHash('sha256').update(content).digest('hex')}\nsize ${content.length}\n`;

/** As a filter leaves it: git stores something else than what lies there. */
function storeAs(path: string, stored: string, lies: string): void {
  user.write(path, stored);
  commitAll();
  user.write(path, lies);
}

/** A run that begins with what is not committed; the tree it begins with. */
async function taken(): Promise<string> {
  const withChanges = { author: { name: 'Ada', email: 'ada@example.org' }, principal: 'human:ada' };
  const run = await new GitWorkspace({ dir: root, repository: root, withChanges }).open('run-1');
  return run.snapshot();
}

describe('files of a checkout that are not committed', () => {
  it('are those that git status names, and not one that was only touched', async () => {
    for (const name of ['kept.txt', 'touched.txt', 'mode.sh', 'gone.txt', 'staged.txt'])
      user.write(name, 'a\n');
    commitAll();
    user.write('kept.txt', 'b\n');
    user.change(() => utimesSync(join(root, 'touched.txt'), 5, 5));
    user.change(() => chmodSync(join(root, 'mode.sh'), 0o755));
    user.change(() => rmSync(join(root, 'gone.txt')));
    user.write('staged.txt', 'c\n');
    user.git('add', 'staged.txt');
    user.write('new/über.txt', 'n\n');
    expect(await changed()).toEqual(['gone.txt', 'kept.txt', 'mode.sh', 'new/über.txt', 'staged.txt']);
  });

  it.each([
    ['its attributes', () => user.write('.gitattributes', '*.txt text eol=crlf\n')],
    ['its configuration', () => user.git('config', 'core.autocrlf', 'true')],
    [
      'the configuration of the user',
      () => {
        const file = join(root, '.git', 'of-the-user');
        user.change(() => writeFileSync(file, '[core]\n\tautocrlf = true\n'));
        vi.stubEnv('GIT_CONFIG_GLOBAL', file);
      },
    ],
  ])('are not those whose line ends differ by %s', async (_name, set) => {
    set();
    user.write('a.txt', 'one\r\ntwo\r\n');
    user.write('b.txt', 'one\r\n');
    commitAll();
    expect(user.git('cat-file', '-p', 'HEAD:a.txt')).toBe('one\ntwo\n');
    makeOld();
    expect(await changed()).toEqual([]);
    user.write('b.txt', 'other\r\n');
    expect(await changed()).toEqual(['b.txt']);
    const tree = await taken();
    user.change(() => vi.unstubAllEnvs());
    const store = join(root, '.devs/git/run-1.git');
    expect(user.git('--git-dir', store, 'cat-file', '-p', `${tree}:b.txt`)).toBe('other\n');
  });

  it('are not what the user ignores everywhere', async () => {
    user.write('a.txt', 'a\n');
    commitAll();
    user.write('a.swp', 'mine\n');
    user.write('b.bak', 'mine\n');
    const patterns = join(root, '.git', 'everywhere');
    user.change(() => writeFileSync(patterns, '*.swp\n'));
    user.git('config', 'core.excludesFile', patterns);
    user.change(() => writeFileSync(join(root, '.git/info/exclude'), '*.bak\n'));
    expect(await changed()).toEqual([]);
  });
});

describe('a file that git keeps through a filter', () => {
  it('of Git LFS is counted by its pointer, without LFS', async () => {
    user.write('.gitattributes', '*.bin filter=lfs diff=lfs merge=lfs -text\n');
    storeAs('same.bin', pointerOf('content\n'), 'content\n');
    storeAs('other.bin', pointerOf('content\n'), 'another\n');
    makeOld();
    expect(await workspace().uncommitted()).toEqual({
      changed: ['other.bin'],
      filtered: [{ path: 'other.bin', filter: 'lfs' }],
      unknown: [],
    });
    expect(await workspace().filtered()).toHaveLength(2);
  });

  it('of another one is not known to be changed, and is never taken along in plain text', async () => {
    user.write('.gitattributes', 'secret.txt filter=crypt\n');
    storeAs('secret.txt', 'encrypted\n', 'in plain text\n');
    user.write('a.txt', 'a\n');
    expect(await workspace().uncommitted()).toEqual({
      changed: ['a.txt'],
      filtered: [],
      unknown: [{ path: 'secret.txt', filter: 'crypt' }],
    });
    await expect(taken()).rejects.toMatchObject({
      code: 'WORKSPACE_FAILED',
      message: expect.stringContaining('Cannot include secret.txt: a git filter (crypt) applies'),
    });
    const store = join(root, '.devs/git/run-1.git');
    expect(user.git('--git-dir', store, 'cat-file', '--batch-check', '--batch-all-objects')).not.toContain(
      user.git('hash-object', '--no-filters', 'secret.txt').trim(),
    );
  });

  it('and that is new or removed is counted; one that is removed can be taken along', async () => {
    user.write('.gitattributes', '*.bin filter=lfs\n');
    storeAs('gone.bin', pointerOf('content\n'), 'content\n');
    user.change(() => rmSync(join(root, 'gone.bin')));
    expect(await workspace().uncommitted()).toMatchObject({ changed: ['gone.bin'], filtered: [] });
    await taken();
    expect(() => readFileSync(join(root, '.devs-work/run-1/gone.bin'))).toThrow('ENOENT');
    user.write('new.bin', 'content\n');
    expect(await workspace().uncommitted()).toMatchObject({
      changed: ['gone.bin', 'new.bin'],
      filtered: [{ path: 'new.bin', filter: 'lfs' }],
    });
  });
});

it('a repository that is kept in a way nobody here knows is refused before the run begins', async () => {
  user.write('a.txt', 'a\n');
  commitAll();
  user.git('config', 'core.repositoryFormatVersion', '1');
  user.git('config', 'extensions.noop', 'true');
  await expect(workspace().assertUsable()).resolves.toBeUndefined();
  const config = readFileSync(join(root, '.git/config'));
  writeFileSync(join(root, '.git/config'), `${config}[extensions]\n\tfolded = 2\n`);
  await expect(workspace().assertUsable()).rejects.toMatchObject({
    code: 'WORKSPACE_FAILED',
    message: expect.stringContaining('extensions.folded'),
  });
  // Git itself refuses it, too.
  writeFileSync(join(root, '.git/config'), config);
});
