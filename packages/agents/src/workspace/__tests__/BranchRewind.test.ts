import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { UserCheckout } from '../../../../core/test/support/UserCheckout.ts';
import type { GitRunWorkspace } from '../GitRunWorkspace.ts';
import { GitWorkspace } from '../GitWorkspace.ts';

const execute = promisify(execFile);
const AS_DEVS = ['-c', 'user.name=devs', '-c', 'user.email=devs@localhost'];
const ADA = { name: 'Ada', email: 'ada@example.org' };
const LINES = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight'];

let base: string;
let run: GitRunWorkspace;

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'devs-rewind-'));
  run = await open();
});

afterEach(() => rm(base, { recursive: true, force: true }));

const open = async (repository?: string): Promise<GitRunWorkspace> =>
  (await new GitWorkspace({ dir: base, ...(repository !== undefined && { repository }) }).open(
    'run-1',
  )) as GitRunWorkspace;
const write = (path: string, content: string): Promise<void> => writeFile(join(run.dir, path), content);
const git = async (...args: string[]): Promise<string> =>
  (await execute('git', args, { cwd: run.dir })).stdout.trim();
const lines = (changed: Readonly<Record<number, string>>): string =>
  `${LINES.map((line, at) => changed[at] ?? line).join('\n')}\n`;

/** What a finished task leaves: files, and a commit of them. */
async function task(key: string, files: Readonly<Record<string, string | null>>): Promise<string> {
  await run.apply(Object.entries(files).map(([path, content]) => ({ path, content })));
  return run.commit({ tree: await run.snapshot(), message: `Task ${key}`, stepKey: key });
}

/** A repository of the user's, before the first run in it. */
async function userRepository(): Promise<UserCheckout> {
  await rm(join(base, '.devs'), { recursive: true });
  await rm(join(base, '.devs-work'), { recursive: true });
  await mkdir(join(base, 'mine'));
  return UserCheckout.create(join(base, 'mine'));
}

const withdraw = (commits: readonly string[], unfinished = false) =>
  run.withdraw({ id: 'w1', commits, begun: [], unfinished, message: 'Go back' });

async function goBack(commits: readonly string[], unfinished = false) {
  const move = await withdraw(commits, unfinished);
  return { move, kept: await run.follow(move) };
}

describe('taking commits out of the branch', () => {
  it('keeps later work in other places of the same files, by a commit on top', async () => {
    await task('a', { 'all.txt': lines({}) });
    const second = await task('b', { 'all.txt': lines({ 0: 'b' }), 'b.txt': 'b\n' });
    await task('c', { 'all.txt': lines({ 0: 'b', 7: 'c' }) });
    const { move, kept } = await goBack([second]);
    expect(kept).toBeNull();
    expect(await run.list()).toEqual(['all.txt']);
    expect(await run.read('all.txt')).toBe(lines({ 7: 'c' }));
    expect(await git('rev-parse', 'HEAD', 'HEAD~1')).toBe(`${move.to}\n${move.from}`);
    expect(await git('status', '--porcelain')).toBe('');
    expect((await run.log()).map(({ subject }) => subject)).toEqual([
      'Task a',
      'Task b',
      'Task c',
      'Go back',
    ]);
  });

  it('refuses by name what later work was built on, and changes nothing', async () => {
    await task('a', { 'all.txt': lines({}) });
    const second = await task('b', { 'all.txt': lines({ 3: 'b' }) });
    const tip = await task('c', { 'all.txt': lines({ 3: 'b, and c' }) });
    await write('all.txt', 'half done\n');
    await expect(withdraw([second])).rejects.toMatchObject({
      code: 'REWIND_CONFLICT',
      message: expect.stringContaining('all.txt'),
    });
    expect(await git('for-each-ref', '--format=%(refname) %(objectname)')).toBe(
      `refs/heads/devs/run-1 ${tip}`,
    );
    expect(await run.read('all.txt')).toBe('half done\n');
  });

  it('takes the first commit of a run out, too, and several at once', async () => {
    const first = await task('a', { 'a.txt': 'a\n' });
    await task('b', { 'b.txt': 'b\n' });
    const third = await task('c', { 'c.txt': 'c\n' });
    await goBack([first, third]);
    expect(await run.list()).toEqual(['b.txt']);
  });

  it('takes what a person changed on unverified work of a task with it', async () => {
    await task('a', { 'a.txt': 'a\n' });
    await run.apply([
      { path: 'b.txt', content: 'half done\n' },
      { path: 'c.txt', content: 'half done\n' },
    ]);
    await run.snapshot();
    await write('b.txt', 'mended\n');
    await run.adopt({ author: ADA, message: 'Mend b', principal: 'human:ada' });
    const second = await task('b', { 'b.txt': 'done\n' });
    await goBack([second]);
    expect(await run.list()).toEqual(['a.txt']);
    expect(await git('log', '--format=%s', '-1', 'HEAD~2')).toBe('Mend b');
  });

  it('takes unverified work with it that an adoption of an earlier release had committed', async () => {
    await task('a', { 'a.txt': 'a\n' });
    await write('b.txt', 'half done\n');
    await run.snapshot();
    await git('add', 'b.txt');
    await git(...AS_DEVS, 'commit', '-q', '-m', 'Work in progress, not verified');
    await write('b.txt', 'mended\n');
    await run.adopt({ author: ADA, message: 'Mend b', principal: 'human:ada' });
    const second = await task('b', { 'b.txt': 'done\n' });
    await goBack([second]);
    expect(await run.list()).toEqual(['a.txt']);
  });

  it('leaves what a person committed between two tasks', async () => {
    await task('a', { 'a.txt': 'a\n' });
    await write('mine.txt', 'mine\n');
    await run.adopt({ author: ADA, message: 'Mine', principal: 'human:ada' });
    const second = await task('b', { 'b.txt': 'b\n' });
    await goBack([second], true);
    expect(await run.list()).toEqual(['a.txt', 'mine.txt']);
  });

  it('finds a commit again that a sync has put on top of mine', async () => {
    const user = await userRepository();
    user.git('commit', '-q', '--allow-empty', '-m', 'First');
    run = await open(user.root);
    await task('a', { 'a.txt': 'a\n' });
    const second = await task('b', { 'b.txt': 'b\n' });
    user.git('commit', '-q', '--allow-empty', '-m', 'Second');
    await run.sync([second]);
    await goBack([second]);
    expect(await run.list()).toEqual(['a.txt']);
    expect(await run.deliver()).toMatchObject({ held: null });
    user.assertUntouched();
  });

  it('leaves a run without commits of its own at the files it began with', async () => {
    const user = await userRepository();
    user.write('mine.txt', 'mine\n');
    user.git('add', '.');
    user.git('commit', '-q', '-m', 'First');
    run = await open(user.root);
    await run.apply([{ path: 'b.txt', content: 'half done\n' }]);
    const { move, kept } = await goBack([], true);
    expect(move.to).toBe(move.from);
    expect(await run.list()).toEqual(['mine.txt']);
    expect(kept).toMatchObject({ files: 1 });
    user.assertUntouched();
  });
});

describe('the folder', () => {
  it('is kept as it was, whoever left it so', async () => {
    await task('a', { 'a.txt': 'a\n' });
    await run.apply([{ path: 'b.txt', content: 'half done\n' }]);
    await run.snapshot();
    await write('a.txt', 'by hand\n');
    const { kept } = await goBack([], true);
    expect(kept).toMatchObject({ ref: 'refs/devs/before-rewind/w1', files: 2 });
    expect(await run.list()).toEqual(['a.txt']);
    expect(await run.read('a.txt')).toBe('a\n');
    expect(await git('show', `${kept?.ref}:a.txt`)).toBe('by hand');
    expect(await git('show', `${kept?.ref}:b.txt`)).toBe('half done');
  });

  it('follows when the process died after the branch had moved', async () => {
    await task('a', { 'a.txt': 'a\n' });
    const second = await task('b', { 'b.txt': 'b\n' });
    const { move } = await goBack([second]);
    await write('b.txt', 'b\n'); // as the killed process left it
    await run.follow(move);
    expect(await run.list()).toEqual(['a.txt']);
    expect(await git('rev-parse', 'HEAD')).toBe(move.to);
  });

  it('is refused before anything is planned when git cannot keep it', async () => {
    const first = await task('a', { 'a.txt': 'a\n' });
    await execute('git', ['init', '-q', join(run.dir, 'inner')]);
    await writeFile(join(run.dir, 'inner', 'x'), 'x');
    await expect(withdraw([first])).rejects.toMatchObject({ code: 'WORKSPACE_FAILED' });
  });
});

describe('the way back', () => {
  const back = (move: Awaited<ReturnType<typeof withdraw>>) =>
    run.reinstate({ id: 'w2', move, message: 'Undo going back' });

  it('puts files and folder as they were on top', async () => {
    await task('a', { 'a.txt': 'a\n' });
    const second = await task('b', { 'b.txt': 'b\n' });
    await run.apply([{ path: 'c.txt', content: 'half done\n' }]);
    const { move } = await goBack([second], true);
    await run.follow(await back(move));
    expect(await run.list()).toEqual(['a.txt', 'b.txt', 'c.txt']);
    expect(await git('diff', '--name-only', String(move.from), 'HEAD')).toBe('');
    expect(await git('status', '--porcelain')).toBe('?? c.txt');
  });

  it('is refused when the branch has moved since', async () => {
    const first = await task('a', { 'a.txt': 'a\n' });
    const { move } = await goBack([first]);
    await task('c', { 'c.txt': 'c\n' });
    await expect(back(move)).rejects.toMatchObject({ code: 'REWIND_CONFLICT' });
  });
});
