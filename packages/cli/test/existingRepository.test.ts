import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { PipelineResult } from '@devs/core';
import { describe, expect } from 'vitest';
import { howMany } from '../../core/test/support/howMany.ts';
import { UserCheckout } from '../../core/test/support/UserCheckout.ts';
import type { Session } from '../src/project/Session.ts';
import { branchReader } from '../src/serve/branchReader.ts';
import { callMain } from './support/callMain.ts';
import { AGENTS, BRIEF, RUN_SUM, test } from './support/fixtures.ts';
import { quickTools } from './support/quickTools.ts';
import { trusting, writeConfig } from './support/writeConfig.ts';

if (howMany('DEVS_REAL_TOOLS', 1) === 1) quickTools();

interface RecordedLine {
  readonly response?: { readonly files?: readonly { readonly path: string; readonly content: string }[] };
}

/** A monorepo of two tested packages, with work of the user's lying in it; `package.json` has no dependencies. */
function addMonorepo(user: UserCheckout): void {
  const manifest = (name: string) => ({ name, type: 'module', scripts: { test: 'node --test' } });
  user.write('package.json', JSON.stringify({ private: true, workspaces: ['packages/*'] }));
  for (const name of ['math', 'text']) {
    user.write(`packages/${name}/package.json`, JSON.stringify(manifest(name)));
    user.write(`packages/${name}/own.test.js`, "import { it } from 'node:test';\nit('holds', () => {});\n");
  }
  user.git('add', '.');
  user.git('commit', '-q', '-m', 'First');
  user.write('notes.txt', 'mine\n');
}

/** The recording of the sum, in the package `math`. */
function recordingIn(user: UserCheckout): string {
  const lines = readFileSync(AGENTS.slice('replay:'.length), 'utf8').trimEnd().split('\n');
  const moved = lines.map((text) => {
    const line = JSON.parse(text) as RecordedLine;
    const files = line.response?.files
      ?.filter((file) => file.path !== 'package.json')
      .map((file) => ({ ...file, path: `packages/math/${file.path}` }));
    return JSON.stringify(files === undefined ? line : { ...line, response: { ...line.response, files } });
  });
  user.write('.git/recording.jsonl', `${moved.join('\n')}\n`);
  return path.join(user.root, '.git', 'recording.jsonl');
}

function taskHashes(status: unknown): readonly string[] {
  return [...JSON.stringify(status).matchAll(/"gitHash":"([0-9a-f]{40})"/g)].map(([, hash = '']) => hash);
}

describe('an existing repository', () => {
  test('is looked at, worked for on a branch, and left as it was', async ({ dir, user }) => {
    user.change(() => addMonorepo(user));
    const init = await callMain(dir, ['init', '--agents', `replay:${recordingIn(user)}`]);
    expect(init.exitCode, init.stderr).toBe(0);
    expect(init.stdout).toContain('packages: packages/math, packages/text (npm)');
    expect(init.stdout).toContain('check:    math: npm run test');
    const before = user.git('status', '--porcelain');
    expect(before).toBe('?? notes.txt\n');

    const run = await callMain(dir, ['run', BRIEF, '--id', 'sum', '--yes', '--no-sandbox']);
    expect(run.exitCode, run.stderr + run.stdout).toBe(0);
    expect(run.stdout).toContain('branch devs/sum is in your repository: git merge devs/sum');
    expect(user.git('status', '--porcelain')).toBe(before);
    expect(user.git('diff', '--name-only', 'main', 'devs/sum').split('\n')).toContain('packages/math/sum.js');

    // What the page names at the end of the run's path.
    const io = { cwd: dir, env: {} };
    const devs = (...words: readonly string[]): string => ['devs', ...words].join(' ');
    const session = { dir, io, cluster: null, trusted: [], devs } as unknown as Session;
    const branchNow = () => branchReader(session)('sum');
    expect(await branchNow()).toEqual({ name: 'devs/sum', merge: 'git merge devs/sum' });
    user.change(() => user.git('remote', 'add', 'origin', 'git@github.com:acme/sums.git'));
    expect(await branchNow()).toEqual({ name: 'devs/sum', merge: 'devs pr sum' });

    user.git('add', 'notes.txt');
    user.git('commit', '-q', '-m', 'Notes');
    const synced = await callMain(dir, ['sync', 'sum', '--by', 'ada']);
    expect(synced.exitCode, synced.stderr).toBe(0);
    expect(synced.stdout).toContain('branch devs/sum in your repository is up to date');
    expect(user.git('merge-base', 'main', 'devs/sum')).toBe(user.git('rev-parse', 'main'));
    expect((await callMain(dir, ['log', 'sum'])).stdout).toContain(', by human:ada');
    const status = JSON.parse((await callMain(dir, ['status', 'sum', '--json'])).stdout);
    const hashes = taskHashes(status);
    expect(hashes.length).toBeGreaterThan(0);
    expect(user.git('rev-list', 'main..devs/sum').split('\n')).toEqual(expect.arrayContaining([...hashes]));
    expect((await callMain(dir, ['admin', 'sync', 'sum'])).stdout).toContain('nothing to sync');

    user.git('merge', '-q', 'devs/sum');
    expect(existsSync(path.join(dir, 'packages/math/sum.js'))).toBe(true);
  });

  test.for([
    ['--no-repository', {}],
    ['a configuration that says so', { repository: false }],
  ] as const)('is not touched with %s', async ([flag, config], { dir, user }) => {
    user.change(() => addMonorepo(user));
    writeConfig(dir, config);
    const flags = flag.startsWith('--') ? [flag] : [];
    const run = await callMain(dir, [...RUN_SUM, '--yes', ...flags, ...trusting(dir), '--json']);
    expect(run.exitCode, run.stderr).toBe(0);
    expect((JSON.parse(run.stdout) as PipelineResult).delivery).toBeNull();
    expect(user.git('branch', '--list', 'devs/*')).toBe('');
  });

  test('has a setup command whose failure stops the run before any call', async ({ dir, user }) => {
    user.change(() => addMonorepo(user));
    await callMain(dir, ['init', '--agents', `replay:${recordingIn(user)}`]);
    const file = path.join(dir, '.devs', 'config.json');
    const config = JSON.parse(readFileSync(file, 'utf8')) as object;
    const say = (code: number) => ['/bin/sh', '-c', `echo 'registry down' >&2; exit ${code}`];
    writeFileSync(file, JSON.stringify({ ...config, setup: say(1) }));
    const run = ['run', BRIEF, '--id', 'sum', '--yes', '--no-sandbox', ...trusting(dir)];
    const red = await callMain(dir, run);
    expect(red.exitCode).toBe(1);
    expect(red.stderr).toMatch(/WORKSPACE_FAILED: The setup command failed[\s\S]*registry down/);
    expect((await callMain(dir, ['log', 'sum'])).stdout).not.toContain('test written');
  });

  test('keeps a configuration that is there', async ({ dir }) => {
    await callMain(dir, ['init']);
    const again = await callMain(dir, ['init']);
    expect(again.exitCode).toBe(2);
    expect(again.stderr).toContain('devs init --force');
    expect((await callMain(dir, ['init', '--force', '--json'])).exitCode).toBe(0);
  });

  test('cannot lead what devs writes in .devs out of it by links', async ({ dir }) => {
    const outside = path.join(dir, 'outside');
    mkdirSync(outside);
    writeFileSync(path.join(outside, '.gitignore'), 'mine\n');
    mkdirSync(path.join(dir, '.devs'));
    for (const name of ['.gitignore', 'config.schema.json', 'config.json']) {
      symlinkSync(path.join(outside, name), path.join(dir, '.devs', name));
    }
    expect((await callMain(dir, ['init'])).exitCode).toBe(0);
    expect(readdirSync(outside)).toEqual(['.gitignore']);
    expect(readFileSync(path.join(outside, '.gitignore'), 'utf8')).toBe('mine\n');
    expect(readFileSync(path.join(dir, '.devs', '.gitignore'), 'utf8')).toBe('*\n');
  });

  test.for([
    ['objects of another format', 'sha256', []],
    ['a submodule', 'sha1', ['update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(40)},sub`]],
  ] as const)('with %s is refused before a run is recorded', async ([, format, change], { dir }) => {
    const git = (...args: readonly string[]) =>
      execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@b', ...args], { cwd: dir });
    git('init', '-q', `--object-format=${format}`);
    if (change.length > 0) git(...change);
    git('commit', '-q', '--allow-empty', '-m', 'First');
    const refused = await callMain(dir, RUN_SUM);
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toMatch(
      /WORKSPACE_FAILED: The (?:repository uses sha256 object names|submodule "sub" has not)/,
    );
    expect((await callMain(dir, ['status', '--json'])).stdout.trim()).toBe('[]');
    expect(existsSync(path.join(dir, '.devs-work'))).toBe(false);
    if (format === 'sha1')
      expect((await callMain(dir, ['init'])).stdout).toContain(
        'git submodule update --init --recursive -- "sub"',
      );
  });

  test('with a branch named devs is refused before anything is paid, by init too', async ({ dir, user }) => {
    user.change(() => {
      user.git('commit', '-q', '--allow-empty', '-m', 'First');
      user.git('branch', 'devs');
    });
    expect((await callMain(dir, ['init'])).stderr).toContain('a branch named devs');
    expect(existsSync(path.join(dir, '.devs'))).toBe(false);
    const refused = await callMain(dir, RUN_SUM);
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toContain('WORKSPACE_FAILED: The repository has a branch named devs');
    expect((await callMain(dir, ['status', '--json'])).stdout.trim()).toBe('[]');
  });

  test('without a commit is told, by init and by the run', async ({ dir }) => {
    execFileSync('git', ['init', '-q'], { cwd: dir });
    writeFileSync(path.join(dir, 'mine.txt'), 'mine\n');
    expect((await callMain(dir, ['init'])).stdout).toContain('git:      yes, without a commit: ');
    expect((await callMain(dir, RUN_SUM)).stderr).toContain('the repository has no commit yet');
  });

  test('is told what a run has otherwise: .env, files of Git LFS', async ({ dir, user }) => {
    user.change(() => {
      user.write('.gitattributes', '*.bin filter=lfs diff=lfs merge=lfs -text\n');
      user.write('model.bin', 'version https://git-lfs.github.com/spec/v1\n');
      user.git('add', '.');
      user.git('commit', '-q', '-m', 'With a large file');
    });
    user.change(() => user.write('.env', 'A=1\n'));
    const { stdout } = await callMain(dir, ['init']);
    expect(stdout).toContain(
      'note:     .env is not passed to checks; for one that needs it, add "envFile": ".env"',
    );
    expect(stdout).toContain('note:     model.bin: kept through a git filter such as Git LFS');
  });

  test('of which two are initialised at once keeps one configuration, whole, and both acceptances', async ({
    dir,
  }) => {
    const folders = Array.from({ length: 4 }, (_, at) => path.join(dir, `${at}`));
    for (const folder of folders) mkdirSync(folder);
    const both = await Promise.all([...folders, ...folders].map((folder) => callMain(folder, ['init'])));
    expect(both.filter(({ exitCode }) => exitCode === 0)).toHaveLength(folders.length);
    for (const { exitCode, stderr } of both.filter((each) => each.exitCode !== 0)) {
      expect(exitCode).toBe(2);
      expect(stderr).toContain('already exists');
    }
    for (const folder of folders) {
      const { exitCode, stdout } = await callMain(folder, ['trust']);
      expect(exitCode, stdout).toBe(0);
      expect(readdirSync(path.join(folder, '.devs')).toSorted()).toEqual([
        '.gitignore',
        'config.json',
        'config.schema.json',
      ]);
    }
  });

  test('is worked for as a whole: a folder inside it is refused, and told by init', async ({ dir }) => {
    UserCheckout.create(dir);
    const inside = path.join(dir, 'packages', 'math');
    mkdirSync(inside, { recursive: true });
    const refused = await callMain(inside, RUN_SUM);
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toMatch(/CONFIG_INVALID: .* is inside the repository/);
    expect(refused.stderr).toContain(`Use its top folder with --dir ${dir},`);
    expect(readdirSync(inside)).toEqual([]);
    const init = await callMain(inside, ['init']);
    expect(init.exitCode).toBe(2);
    expect(init.stderr).toContain(`is inside the repository ${dir}, and a run needs the whole repository`);
    expect(init.stderr).toContain(`devs init --dir ${dir}`);
    expect(readdirSync(inside)).toEqual([]);
    const empty = await callMain(inside, ['init', '--no-repository']);
    expect(empty.stdout).toContain('git:      not used: runs start with an empty folder');
    expect((await callMain(inside, [...RUN_SUM, '--no-repository'])).exitCode).toBe(75);
  });

  test('cannot bring runs with it, whose checks a resume would start', async ({ dir }) => {
    const git = (...args: string[]) => execFileSync('git', args, { cwd: dir });
    git('init', '-q');
    const check = ['--check', `touch ${path.join(dir, '.devs', 'started')}`];
    await callMain(dir, ['run', BRIEF, '--id', 'sum', '--agents', AGENTS, ...check, '--no-sandbox']);
    await callMain(dir, ['approve', 'sum', '--by', 'ada']);
    expect((await callMain(dir, ['status', 'sum'])).exitCode).toBe(0);
    git('add', '--force', '.devs/state.sqlite');
    for (const words of [['resume', 'sum'], ['status'], ['run', BRIEF, '--agents', 'none']]) {
      const refused = await callMain(dir, words);
      expect(refused.exitCode, words[0]).toBe(2);
      expect(refused.stderr).toMatch(
        /CONFIG_INVALID: .*state\.sqlite is part of the repository[\s\S]*git rm/,
      );
    }
    expect(existsSync(path.join(dir, '.devs', 'started'))).toBe(false);
    git('rm', '-q', '--cached', '.devs/state.sqlite*');
    expect((await callMain(dir, ['status', 'sum'])).exitCode).toBe(0);
  });

  test('cannot be run with a configuration that is wrong', async ({ dir }) => {
    await callMain(dir, ['init']);
    writeFileSync(path.join(dir, '.devs', 'config.json'), '{ "gates": { "dag": "agent" } }');
    const run = await callMain(dir, ['run', BRIEF, '--agents', 'none']);
    expect(run.exitCode).toBe(2);
    expect(run.stderr).toContain('gates.dag');
  });
});

describe('changes that are not committed', () => {
  function addHalfDone(user: UserCheckout): void {
    user.write('package.json', '{ "type": "module" }\n');
    user.write('.gitignore', 'ignored.txt\n');
    user.write('gone.txt', 'gone\n');
    user.write('kept.txt', 'kept\n');
    user.git('add', '.');
    user.git('commit', '-q', '-m', 'First');
    user.git('config', 'user.name', 'Ada Lovelace');
    user.git('config', 'user.email', 'ada@example.org');
    user.write('staged.txt', 'staged\n');
    user.git('add', 'staged.txt');
    user.write('new folder/über.txt', 'untracked\n');
    user.write('ignored.txt', 'mine\n');
    user.git('rm', '-q', 'gone.txt');
    user.write('kept.txt', 'changed\n');
  }

  test('are told of and left out, or taken along as a commit of their author', async ({ dir, user }) => {
    user.change(() => addHalfDone(user));
    const before = user.git('status', '--porcelain');
    const without = await callMain(dir, [...RUN_SUM, '--id', 'without', '--until', 'design']);
    expect(without.stderr).toContain('4 files are not committed and not part of the run');

    const run = [...RUN_SUM, '--id', 'with', '--with-changes', '--yes'];
    const done = await callMain(dir, run);
    expect(done.exitCode, done.stderr + done.stdout).toBe(0);
    expect(done.stderr).not.toContain('not committed');
    expect(user.git('status', '--porcelain')).toBe(before);
    const log = user.git('log', '--reverse', '--format=%an: %s', 'main..devs/with').split('\n');
    expect(log[0]).toBe('Ada Lovelace: Uncommitted changes of the checkout');
    const [first = ''] = user.git('rev-list', '--reverse', 'main..devs/with').split('\n');
    expect(user.git('-c', 'core.quotePath=false', 'diff', '--name-status', 'main', first)).toBe(
      'D\tgone.txt\nM\tkept.txt\nA\tnew folder/über.txt\nA\tstaged.txt\n',
    );
  });

  test('cannot be taken along without a repository', async ({ dir }) => {
    const run = await callMain(dir, [...RUN_SUM, '--with-changes', '--no-repository']);
    expect(run.exitCode).toBe(2);
    expect(run.stderr).toContain('this run has none');
  });
});
