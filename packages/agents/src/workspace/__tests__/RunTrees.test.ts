import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FileEdit, RunWorkspace } from '@devs/core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { GitWorkspace } from '../GitWorkspace.ts';
import { EMPTY_TREE } from '../refs.ts';

let dir: string;
let workspace: GitWorkspace;
let run: Required<Pick<RunWorkspace, 'integrated' | 'overlay' | 'compare' | 'readAt'>> & RunWorkspace;
let runs = 0;

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'devs-trees-'));
  workspace = new GitWorkspace({ dir });
});
beforeEach(async () => {
  runs += 1;
  run = (await workspace.open(`run-${runs}`)) as typeof run;
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

async function treeWith(files: Readonly<Record<string, string | null>>): Promise<string> {
  await run.apply(Object.entries(files).map(([path, content]): FileEdit => ({ path, content })));
  return run.snapshot();
}

const git = (...args: readonly string[]): string =>
  execFileSync('git', ['--git-dir', join(dir, `.devs/git/run-${runs}.git`), ...args]).toString();

const namesIn = (tree: string): readonly string[] =>
  git('ls-tree', '-r', '-z', '--name-only', tree).split('\0').filter(Boolean);

describe('the last integrated tree', () => {
  it('is empty before the first commit, then that of the newest one, whatever lies in the folder', async () => {
    expect(await run.integrated()).toBe(EMPTY_TREE);
    const tree = await treeWith({ 'a.js': 'a\n' });
    expect(await run.integrated()).toBe(EMPTY_TREE);
    await run.commit({ tree, message: 'a', stepKey: 'a' });
    await treeWith({ 'b.js': 'b\n' });
    expect(await run.integrated()).toBe(tree);
  });
});

describe('one tree over another', () => {
  it('has the named files of the second, is without those the second has not, and leaves all else', async () => {
    const base = await treeWith({ 'a.js': 'old\n', 'gone.test.js': 'x\n', 'keep.js': 'k\n' });
    const from = await treeWith({
      'a.js': 'new\n',
      'gone.test.js': null,
      'a.test.js': 't\n',
      'keep.js': 'z\n',
    });
    const made = await run.overlay(base, from, ['a.test.js', 'gone.test.js', 'a.test.js', 'nowhere.js']);
    expect(namesIn(made)).toEqual(['a.js', 'a.test.js', 'keep.js']);
    expect(await run.readAt(made, 'a.js')).toBe('old\n');
    expect(await run.readAt(made, 'keep.js')).toBe('k\n');
    expect(await run.overlay(base, from, [])).toBe(base);
  });

  it('keeps modes and odd names, and reads no name as a pattern', async () => {
    const odd = ['new\nline.js', ':(glob)*.js', '[ab].js', 'tab\t"quote".js', '-n.js', 'ümlaut 寸.js'];
    const base = await treeWith({ 'a.js': 'a\n' });
    for (const name of odd) writeFileSync(join(run.dir, name), `${name}\n`);
    writeFileSync(join(run.dir, 'b.js'), 'not asked for\n');
    chmodSync(join(run.dir, '-n.js'), 0o755);
    const from = await run.snapshot();
    const made = await run.overlay(base, from, odd);
    expect([...namesIn(made)].sort()).toEqual([...odd, 'a.js'].sort());
    expect(git('ls-tree', made, '--', './-n.js')).toMatch(/^100755 /);
    for (const name of odd) expect(await run.readAt(made, name)).toBe(`${name}\n`);
    expect((await run.compare(base, made, 0)).files.map(({ path }) => path).sort()).toEqual(odd.toSorted());
  });

  it('puts a file where the first has a folder, and a folder where it has a file', async () => {
    const file = await treeWith({ test: 'a file\n', 'a.js': 'a\n' });
    rmSync(join(run.dir, 'test'));
    const folder = await treeWith({ 'test/a.test.js': 't\n' });
    expect(namesIn(await run.overlay(folder, file, ['test']))).toEqual(['a.js', 'test']);
    expect(namesIn(await run.overlay(file, folder, ['test', 'test/a.test.js']))).toEqual([
      'a.js',
      'test/a.test.js',
    ]);
  });

  it('changes neither the folder nor a ref, and can be restored and committed', async () => {
    const base = await treeWith({ 'a.js': 'a\n' });
    const from = await treeWith({ 'a.js': 'b\n', 'a.test.js': 't\n' });
    const refs = git('for-each-ref');
    const made = await run.overlay(base, from, ['a.test.js']);
    expect(await run.snapshot()).toBe(from);
    expect(git('for-each-ref')).toBe(refs);
    expect(await run.restore(made)).toBeNull();
    expect(await run.read('a.js')).toBe('a\n');
    await run.commit({ tree: made, message: 'made', stepKey: 'made' });
    expect(await run.integrated()).toBe(made);
  });
});

describe('how two trees differ', () => {
  it('is told by path: what is renamed as removed and added, no lines of what is binary', async () => {
    const before = await treeWith({ 'a.js': 'one\n', 'c.bin': '\u0000' });
    const after = await treeWith({ 'a.js': null, 'b.js': 'one\n', 'c.bin': '\u0000\u0000' });
    const { files, diff } = await run.compare(before, after, 10_000);
    expect(files).toEqual([
      { path: 'a.js', added: 0, removed: 1 },
      { path: 'b.js', added: 1, removed: 0 },
      { path: 'c.bin', added: null, removed: null },
    ]);
    expect(diff).toMatch(/^-one$/m);
    expect(diff).toMatch(/^\+one$/m);
    expect(diff).toContain('Binary files a/c.bin and b/c.bin differ');
    expect(await run.compare(after, after, 10_000)).toEqual({ files: [], diff: '' });
  });

  it('asks no attribute of the trees, and no program that they name', async () => {
    const trap = join(dir, 'executed');
    writeFileSync(join(dir, 'trap.sh'), `#!/bin/sh\ntouch '${trap}'\n`, { mode: 0o755 });
    const before = await treeWith({ 'a.js': 'one\n' });
    const after = await treeWith({
      '.gitattributes': '*.js diff=x filter=x -diff binary\n',
      'a.js': 'two\n',
    });
    writeFileSync(join(run.dir, '.gitconfig'), `[diff "x"]\n\ttextconv = ${join(dir, 'trap.sh')}\n`);
    const { diff } = await run.compare(before, after, 10_000);
    expect(diff).toMatch(/^\+two$/m);
    expect(await run.readAt(after, 'a.js')).toBe('two\n');
    await run.overlay(before, after, ['.gitattributes', 'a.js']);
    expect(existsSync(trap)).toBe(false);
  });

  it('is cut at a line, and says so; the files are all told', async () => {
    const before = await treeWith({ 'a.js': 'x\n' });
    const line = `${'ä'.repeat(50)}\n`;
    const after = await treeWith({ 'a.js': line.repeat(5_000), 'z.js': 'z\n' });
    const { files, diff } = await run.compare(before, after, 1_000);
    expect(files.map(({ path }) => path)).toEqual(['a.js', 'z.js']);
    expect(Buffer.byteLength(diff)).toBeLessThanOrEqual(1_000);
    const lines = diff.split('\n');
    expect(lines.splice(-2)).toEqual(['[cut: there is more]', '']);
    expect(lines.at(-1)).toBe(`+${'ä'.repeat(50)}`);
    const whole = await run.compare(before, after, 10_000_000);
    expect(whole.diff).toMatch(/\+z\n$/);
  });
});

describe('a file of a tree', () => {
  it('is its text; of what is not there, no file or no text there is none', async () => {
    writeFileSync(join(run.dir, 'real.js'), 'text\n');
    symlinkSync('real.js', join(run.dir, 'link.js'));
    const tree = await treeWith({ 'a/b.js': '', 'c.bin': 'a\u0000b' });
    expect(await run.readAt(tree, 'real.js')).toBe('text\n');
    expect(await run.readAt(tree, 'a/b.js')).toBe('');
    for (const path of ['link.js', 'c.bin', 'a', 'a/', 'none.js', '', '../x', '*.js']) {
      expect(await run.readAt(tree, path), path).toBeNull();
    }
  });

  it('is asked for by the ids of trees alone', async () => {
    await expect(run.readAt('--output=x', 'a')).rejects.toThrow(RangeError);
    await expect(run.compare('HEAD', EMPTY_TREE, 1)).rejects.toThrow(RangeError);
    await expect(run.overlay(EMPTY_TREE, 'HEAD', [])).rejects.toThrow(RangeError);
    await expect(run.readAt('f'.repeat(40), 'a')).rejects.toThrow(
      expect.objectContaining({ code: 'WORKSPACE_FAILED' }),
    );
  });
});
