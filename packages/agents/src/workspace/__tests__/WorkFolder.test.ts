import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { RunWorkspace } from '@devs/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GitWorkspace } from '../GitWorkspace.ts';

const execute = promisify(execFile);

let base: string;
let run: RunWorkspace;
let tree: string;

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'devs-folder-'));
  run = await new GitWorkspace({ dir: base }).open('run-1');
  await run.apply([
    { path: 'a.js', content: 'agent\n' },
    { path: 'b.js', content: 'agent\n' },
  ]);
  tree = await run.snapshot();
});

afterEach(() => rm(base, { recursive: true, force: true }));

const inFolder = (path: string): string => join(run.dir, path);
const git = async (...args: string[]): Promise<string> =>
  (await execute('git', args, { cwd: run.dir })).stdout;
const refs = async (): Promise<string> => (await git('for-each-ref', '--format=%(refname)')).trim();

describe('restore', () => {
  it('keeps what a person changed, added and removed, and says where', async () => {
    await writeFile(inFolder('a.js'), 'person\n');
    await writeFile(inFolder('new.js'), 'person\n');
    await rm(inFolder('b.js'));

    const rescue = await run.restore(tree);

    expect(rescue).toMatchObject({ ref: 'refs/devs/rescued/1', files: 3 });
    expect(await readFile(inFolder('a.js'), 'utf8')).toBe('agent\n');
    expect(await git('ls-tree', '-r', '--name-only', 'refs/devs/rescued/1')).toBe('a.js\nnew.js\n');
    expect(await git('show', 'refs/devs/rescued/1:a.js')).toBe('person\n');
    expect((await git('rev-parse', 'refs/devs/rescued/1')).trim()).toBe(rescue?.commit);
  });

  it('keeps every change under a name of its own, in another process too', async () => {
    await writeFile(inFolder('a.js'), 'first\n');
    await run.restore(tree);
    await writeFile(inFolder('a.js'), 'second\n');
    const again = await new GitWorkspace({ dir: base }).open('run-1');
    expect(await again.restore(tree)).toMatchObject({ ref: 'refs/devs/rescued/2', files: 1 });
    expect(await git('show', 'refs/devs/rescued/1:a.js')).toBe('first\n');
    expect(await git('show', 'refs/devs/rescued/2:a.js')).toBe('second\n');
  });

  it('keeps nothing when nobody but the engine changed the folder', async () => {
    expect(await run.restore(tree)).toBeNull();
    await run.apply([{ path: 'a.js', content: 'next\n' }]);
    const next = await run.snapshot();
    expect(await run.restore(tree)).toBeNull();
    expect(await run.restore(next)).toBeNull();
    expect(await refs()).toBe('');
  });

  it('keeps nothing when a person made what is restored', async () => {
    await run.apply([{ path: 'a.js', content: 'next\n' }]);
    const next = await run.snapshot();
    await run.restore(tree);
    await writeFile(inFolder('a.js'), 'next\n');
    expect(await run.restore(next)).toBeNull();
  });

  it('keeps what only a new ignore file protected', async () => {
    await writeFile(inFolder('.gitignore'), 'notes/\n');
    await mkdir(inFolder('notes'));
    await writeFile(inFolder('notes/todo.txt'), 'mine\n');
    await run.restore(tree);
    expect(await readdir(run.dir)).not.toContain('notes');
    expect(await git('show', 'refs/devs/rescued/1:notes/todo.txt')).toBe('mine\n');
  });

  it.each([
    ['an ignore file that hides itself', ['made/.gitignore', '*\n'], ['made/notes.txt', 'x']],
    ['a folder without files', ['made/deep/', '']],
    ['a part of a repository', ['made/.git/config', '']],
  ])('takes away %s, where git lists no change', async (_, ...made) => {
    for (const [path = '', text = ''] of made) {
      await mkdir(dirname(inFolder(`${path}.`)), { recursive: true });
      if (!path.endsWith('/')) await writeFile(inFolder(path), text);
    }
    expect(await run.restore(tree)).toBeNull();
    expect((await readdir(run.dir)).sort()).toEqual(['.git', 'a.js', 'b.js']);
  });

  it('puts dependencies back that are in the tree', async () => {
    await writeFile(inFolder('.gitattributes'), '');
    const path = 'node_modules/left-pad.js';
    await mkdir(inFolder('node_modules'));
    await writeFile(inFolder(path), 'as committed\n');
    const env = { ...process.env, GIT_INDEX_FILE: join(base, 'index') };
    const own = (...args: string[]) => execute('git', args, { cwd: run.dir, env });
    await own('add', '--force', '.');
    const held = (await own('write-tree')).stdout.trim();
    await run.restore(held);
    await writeFile(inFolder(path), 'of an agent\n');
    await run.restore(held);
    expect(await readFile(inFolder(path), 'utf8')).toBe('as committed\n');
  });

  it('moves a repository aside that a person made in the folder', async () => {
    await mkdir(inFolder('sub'));
    await execute('git', ['init', '-q'], { cwd: inFolder('sub') });
    await writeFile(inFolder('sub/a.txt'), 'mine\n');
    expect(await run.restore(tree)).toMatchObject({ files: 1 });
    const message = await git('log', '-1', '--format=%B', 'refs/devs/rescued/1');
    const [, moved = ''] = /^Moved: (.+)$/m.exec(message) ?? [];
    expect(await readFile(join(moved, 'a.txt'), 'utf8')).toBe('mine\n');
    expect((await readdir(run.dir)).sort()).toEqual(['.git', 'a.js', 'b.js']);
  });

  it('looks at the whole folder when the record of how it was left is damaged', async () => {
    await writeFile(join(base, '.devs/git/run-1.git/devs-folders', basename(run.dir), 'left'), 'no index');
    await writeFile(inFolder('a.js'), 'person\n');
    expect(await run.restore(tree)).toMatchObject({ files: 1 });
    expect(await git('show', 'refs/devs/rescued/1:a.js')).toBe('person\n');
  });
});

describe('discard', () => {
  it('takes away what checks left, and keeps nothing of it', async () => {
    await writeFile(inFolder('a.js'), 'formatted\n');
    await writeFile(inFolder('report.txt'), 'coverage\n');
    await run.discard?.(tree);
    expect((await readdir(run.dir)).sort()).toEqual(['.git', 'a.js', 'b.js']);
    expect(await readFile(inFolder('a.js'), 'utf8')).toBe('agent\n');
    expect(await run.restore(tree)).toBeNull();
    expect(await refs()).toBe('');
  });
});
