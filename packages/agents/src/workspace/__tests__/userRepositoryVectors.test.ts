import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { GIT_FILES, GIT_VARIABLES, GitTraps } from '../../../../core/test/support/gitVectors.ts';
import { tried } from '../../../../core/test/support/tried.ts';
import type { GitRunWorkspace } from '../GitRunWorkspace.ts';
import { GitWorkspace } from '../GitWorkspace.ts';

// Each of these lets a repository name a program that git then runs. Whoever packed the user's repository may have
// written all of it, so none may run, whatever the engine does with it.

let base: string;
let root: string;
let traps: GitTraps;

const gitIn = (cwd: string, ...args: readonly string[]): string =>
  execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', ...args], {
    cwd,
    encoding: 'utf8',
    stdio: 'pipe',
  }).trim();

const git = (...args: readonly string[]): string => gitIn(root, ...args);

/** A repository of two commits, the first of which is checked out; the other one's id. Its attributes name every driver. */
function aRepository(): string {
  mkdirSync(root, { recursive: true });
  git('init', '-q', '-b', 'main');
  traps.plantFiles(root, GIT_FILES, root);
  writeFileSync(join(root, 'a.txt'), 'a\n');
  git('add', '.');
  git('commit', '-q', '-m', 'First');
  const first = git('rev-parse', 'HEAD');
  writeFileSync(join(root, 'b.txt'), 'b\n');
  git('add', '.');
  git('commit', '-q', '-m', 'Second');
  const second = git('rev-parse', 'HEAD');
  git('reset', '-q', '--hard', first);
  return second;
}

/** Where a checkout has its git dir; of a linked worktree and of a submodule, it is not below `.git`. */
const gitDirOf = (checkout: string): string => resolve(checkout, gitIn(checkout, 'rev-parse', '--git-dir'));

/** An index that is older than the files: git compares their contents. */
const makeOld = (gitDir: string): void => utimesSync(join(gitDir, 'index'), 1, 1);

/** All that the engine does with a user's repository. */
async function useAll(checkout: string, moveHead: () => void): Promise<void> {
  const workspace = new GitWorkspace({ dir: checkout, repository: checkout });
  await workspace.assertUsable();
  await workspace.uncommitted();
  await workspace.filtered();
  const run = (await workspace.open('run-1')) as GitRunWorkspace;
  const from = (await run.log()).at(-1)?.sha ?? null;
  await run.apply([{ path: 'c.txt', content: 'c\n' }]);
  const sha = await run.commit({ tree: await run.snapshot(), message: 'Third', stepKey: 'T1/1' });
  await run.deliver();
  await run.changes(from);
  moveHead();
  await run.sync([sha]);
  await run.deliver();
  const [last] = (await run.log()).toReversed();
  await workspace.diff('run-1', { from: from ?? sha, to: last?.sha ?? sha });
  const move = await run.withdraw({
    id: 'r1',
    commits: [last?.sha ?? sha],
    begun: [],
    unfinished: false,
    message: 'Back',
  });
  await run.follow(move);
  await run.follow(await run.reinstate({ id: 'r2', move, message: 'And again' }));
  await run.deliver();
  await run.list();
  const taking = { author: { name: 'Ada', email: 'ada@example.org' }, principal: 'human:ada' };
  writeFileSync(join(checkout, '.gitattributes'), '* diff=x merge=x\n');
  const along = new GitWorkspace({ dir: checkout, repository: checkout, withChanges: taking });
  await along.open('run-2');
  await along.remove('run-2', { force: true });
  await workspace.remove('run-1', { force: true });
}

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'devs-vectors-')));
  root = join(base, 'repository');
  traps = new GitTraps(base);
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(base, { recursive: true, force: true, maxRetries: 3 });
});

describe('nothing that the repository of a user names is run, and all is done', () => {
  it.for(['config', 'included'] as const)('in a checkout, settings in: %s', async (where, { task }) => {
    const second = aRepository();
    traps.plantGitDir(join(root, '.git'), root, where);
    makeOld(join(root, '.git'));
    tried(task, { ways: traps.planted });
    await useAll(root, () => writeFileSync(join(root, '.git/refs/heads/main'), `${second}\n`));
    expect(traps.ran).toEqual([]);
  });

  it('in a linked worktree', async ({ task }) => {
    const second = aRepository();
    const linked = join(base, 'linked');
    git('worktree', 'add', '-q', '-b', 'side', linked);
    const own = gitDirOf(linked);
    traps.plantGitDir(join(root, '.git'), root, 'worktree');
    writeFileSync(join(own, 'config.worktree'), readFileSync(join(root, '.git', 'config.worktree')));
    makeOld(own);
    tried(task, { ways: traps.planted });
    await useAll(linked, () => writeFileSync(join(root, '.git/refs/heads/side'), `${second}\n`));
    expect(traps.ran).toEqual([]);
  });

  it('in a submodule', async ({ task }) => {
    const second = aRepository();
    const around = join(base, 'around');
    mkdirSync(around);
    gitIn(around, 'init', '-q', '-b', 'main');
    gitIn(around, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', root, 'sub');
    gitIn(around, 'commit', '-q', '-m', 'With a submodule');
    const own = gitDirOf(join(around, 'sub'));
    traps.plantGitDir(join(around, '.git'), around);
    traps.plantGitDir(own, join(around, 'sub'));
    makeOld(own);
    tried(task, { ways: 2 * traps.planted });
    await useAll(join(around, 'sub'), () => writeFileSync(join(own, 'refs/heads/main'), `${second}\n`));
    expect(traps.ran).toEqual([]);
  });

  it('nor what the environment and the configuration of the user name', async ({ task }) => {
    const second = aRepository();
    const home = join(base, 'home');
    mkdirSync(home);
    traps.plantHooks(join(home, 'hooks'));
    writeFileSync(join(home, '.gitconfig'), `${traps.config(root)}[core]\n\thooksPath = ${home}/hooks\n`);
    for (const name of ['GIT_CONFIG_GLOBAL', 'GIT_CONFIG_NOSYSTEM']) vi.stubEnv(name, undefined);
    vi.stubEnv('HOME', home);
    for (const [name, text] of Object.entries(GIT_VARIABLES)) vi.stubEnv(name, traps.text(name, text, root));
    vi.stubEnv('PATH', `.:${process.env['PATH']}`);
    writeFileSync(join(root, 'git'), `#!/bin/sh\nexec '${traps.program('in-the-folder')}'\n`, {
      mode: 0o755,
    });
    tried(task, { ways: traps.planted });
    await useAll(root, () => writeFileSync(join(root, '.git/refs/heads/main'), `${second}\n`));
    expect(traps.ran).toEqual([]);
  });

  it('nor a repository behind a URL of this machine, nor a store that came with the project', async ({
    task,
  }) => {
    aRepository();
    const bare = join(base, 'bare.git');
    execFileSync('git', ['clone', '-q', '--bare', root, bare]);
    traps.plantGitDir(bare, bare);
    // Git refuses a bare one with a work tree; and a push that a hook has to answer, where there is none.
    gitConfigWithout(bare, /worktree = |procReceiveRefs/);
    const dir = join(base, 'project');
    const planted = join(base, 'planted');
    mkdirSync(planted);
    traps.plantGitDir(planted, planted);
    for (const store of ['git/run-1.git', 'mirror.git']) {
      mkdirSync(join(dir, '.devs', store), { recursive: true });
      writeFileSync(join(dir, '.devs', store, 'commondir'), planted);
      traps.plantGitDir(join(dir, '.devs', store), planted);
    }
    tried(task, { ways: 3 * traps.planted });
    const workspace = new GitWorkspace({ dir, repository: `file://${bare}` });
    await workspace.assertUsable();
    const run = (await workspace.open('run-1')) as GitRunWorkspace;
    await run.apply([{ path: 'c.txt', content: 'c\n' }]);
    await run.commit({ tree: await run.snapshot(), message: 'Third', stepKey: 'T1/1' });
    expect(await run.deliver()).toMatchObject({ held: null });
    expect(traps.ran).toEqual([]);
    expect(existsSync(join(bare, 'refs/heads/devs/run-1'))).toBe(true);
  });
});

const gitConfigWithout = (gitDir: string, line: RegExp): void => {
  const lines = readFileSync(join(gitDir, 'config'), 'utf8').split('\n');
  writeFileSync(join(gitDir, 'config'), lines.filter((each) => !line.test(each)).join('\n'));
};

it.each([
  [false, []],
  [true, ['credential-helper']],
])(
  'a URL that wants a name asks the helper of the user where that was asked for: %s',
  async (credentials, asked) => {
    const server = createServer((_request, answer) => {
      answer.writeHead(401, { 'www-authenticate': 'Basic realm="here"' }).end();
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    try {
      mkdirSync(root);
      const config = join(base, 'of-the-user');
      // A proxy that is none is the user's own to mend.
      writeFileSync(config, traps.config(root, ['remote-proxy']));
      vi.stubEnv('GIT_CONFIG_GLOBAL', config);
      vi.stubEnv('GIT_ASKPASS', traps.program('asked'));
      vi.stubEnv('GIT_SSH_COMMAND', traps.program('ssh'));
      const { port } = server.address() as AddressInfo;
      const url = `http://127.0.0.1:${port}/a.git`;
      const workspace = new GitWorkspace({ dir: root, repository: url, credentials });
      await expect(workspace.assertUsable()).rejects.toMatchObject({
        code: 'WORKSPACE_FAILED',
        remedy: expect.stringContaining(credentials ? 'fix the workspace' : '"credentials": true'),
      });
      expect(traps.ran).toEqual(expect.arrayContaining([...asked]));
      expect(traps.ran.filter((name) => !['credential-helper', 'asked'].includes(name))).toEqual([]);
      if (!credentials) expect(traps.ran).toEqual([]);
    } finally {
      server.close();
    }
  },
);

it('objects that a repository lacks are not fetched by a program that it names', async () => {
  const second = aRepository();
  const blob = git('rev-parse', 'HEAD:a.txt');
  rmSync(join(root, '.git', 'objects', blob.slice(0, 2), blob.slice(2)));
  traps.plantGitDir(join(root, '.git'), root);
  const moveHead = () => writeFileSync(join(root, '.git/refs/heads/main'), `${second}\n`);
  await expect(useAll(root, moveHead)).rejects.toMatchObject({ code: 'WORKSPACE_FAILED' });
  expect(traps.ran).toEqual([]);
});

it('what is planted would be run by git as anybody calls it', () => {
  aRepository();
  const engine = join(base, 'engine.git');
  execFileSync('git', ['clone', '-q', '--bare', root, engine]);
  writeFileSync(join(root, 'a.txt'), 'changed\n');
  traps.plantGitDir(join(root, '.git'), root);
  gitConfigWithout(join(root, '.git'), /worktree = |splitIndex|alternateRefs/);
  const commands = [
    ['status'],
    ['add', '--renormalize', '.'],
    ['diff', '--ext-diff'],
    ['commit', '--allow-empty', '-m', 'x'],
    ['-c', 'commit.gpgSign=false', 'commit', '--allow-empty'],
    ['update-ref', 'refs/heads/x', 'HEAD'],
    ['rewind'],
    ['fetch', '-q', engine, 'main'],
    ['checkout', '-q', '-f', 'HEAD', '--', 'a.txt'],
  ];
  for (const args of commands) {
    try {
      git(...args);
    } catch {
      // What is planted answers nonsense.
    }
  }
  expect(traps.ran).toEqual(
    expect.arrayContaining([
      'alias-of-its-own',
      'core-editor',
      'core-fsmonitor',
      'filter-clean',
      'filter-smudge',
      'gpg-openpgp-program',
      'hooksPath-commit-msg',
      'hooksPath-post-checkout',
      'hooksPath-pre-commit',
      'hooksPath-reference-transaction',
      'url-insteadOf',
    ]),
  );
});
