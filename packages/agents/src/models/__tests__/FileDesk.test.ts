import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { resolveInside } from '../../workspace/pathJail.ts';
import { FileDesk, ToolRefusal } from '../FileDesk.ts';
import { FileSearch, type TextSearch } from '../FileSearch.ts';

function deskOver(files: Readonly<Record<string, string>>): FileDesk {
  return new FileDesk({
    dir: '/w',
    list: async () => Object.keys(files),
    read: async (path) => files[path] ?? '',
  });
}

describe('FileDesk', () => {
  test('shows the workspace with the edits made so far', async () => {
    const desk = deskOver({ 'src/a.js': 'one two', 'src/b.js': '' });
    await desk.replace('./src/a.js', 'two', 'three $&');
    await desk.remove('src/b.js');
    await desk.write('src/c.js', '');

    expect(await desk.list()).toBe('src/a.js\nsrc/c.js');
    expect(await desk.list('docs/')).toBe('There are no files.');
    expect(await desk.read('src/a.js')).toBe('one three $&');
    expect(desk.edits).toEqual([
      { path: 'src/a.js', content: 'one three $&' },
      { path: 'src/b.js', content: null },
      { path: 'src/c.js', content: '' },
    ]);
  });

  test('reads a long file piece by piece', async () => {
    const line = `${'x'.repeat(999)}\n`;
    const desk = deskOver({ 'long.txt': line.repeat(100) });
    const first = await desk.read('long.txt');

    expect(first).toMatch(/… cut; read on with from_line 41\.$/);
    expect((await desk.read('long.txt', 61)).split('\n')).toHaveLength(41);
    await expect(desk.read('long.txt', 102)).rejects.toThrow('only 101 lines');
  });

  test('lists at most a thousand names, and says how many there are', async () => {
    const files = Object.fromEntries(Array.from({ length: 1_002 }, (_, index) => [`f${index}`, '']));
    expect(await deskOver(files).list()).toMatch(/… and 2 more; list with a prefix\.$/);
  });

  test.each(['../a.js', '/etc/passwd', '.git/config', 'a//b', ''])('refuses the path %j', async (path) => {
    const desk = deskOver({});
    await expect(desk.write(path, '')).rejects.toThrow('is refused');
    await expect(desk.read(path)).rejects.toThrow('is refused');
    expect(desk.edits).toEqual([]);
  });

  test('refuses to show what is no text, or is gone', async () => {
    const desk = deskOver({ 'a.bin': 'a\0b', 'b.js': 'x' });
    await desk.remove('b.js');
    await expect(desk.read('a.bin')).rejects.toThrow('no text file');
    await expect(desk.replace('b.js', 'x', 'y')).rejects.toThrow('was deleted');
  });
});

describe('an edit', () => {
  test('is told as a diff of what changed', async () => {
    const desk = deskOver({ 'a.js': '1\n2\n3\n4\n5\n6\n7\n8\n9\n' });
    expect((await desk.replace('a.js', '5', 'five\nfünf')).diff).toBe(
      '--- a/a.js\n+++ b/a.js\n@@ -2,7 +2,8 @@\n 2\n 3\n 4\n-5\n+five\n+fünf\n 6\n 7\n 8\n',
    );
    expect((await desk.write('b.js', 'x\n')).diff).toBe('--- /dev/null\n+++ b/b.js\n@@ -0,0 +1,1 @@\n+x\n');
    expect((await desk.remove('b.js')).diff).toBe('--- a/b.js\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-x\n');
  });
});

describe('FileSearch', () => {
  const search = (files: Readonly<Record<string, string>>) => new FileSearch(deskOver(files));
  const forText = (text: string, parts: Partial<TextSearch> = {}): TextSearch => ({
    text,
    isExpression: false,
    ignoresCase: false,
    files: undefined,
    ...parts,
  });

  test.each([
    ['**/*.test.ts', ['a.test.ts', 'src/b.test.ts']],
    ['src/*.ts', ['src/b.test.ts', 'src/c.ts']],
    ['?.ts', ['src/c.ts']],
    ['C.T', ['src/c.ts']],
    ['src/*/**', ['src/deep/(d).ts']],
    ['(d)', ['src/deep/(d).ts']],
  ])('finds files by %j', async (pattern, found) => {
    const names = ['a.test.ts', 'src/b.test.ts', 'src/c.ts', 'src/deep/(d).ts'];
    const files = Object.fromEntries(names.map((name) => [name, '']));
    expect((await search(files).files(pattern)).split('\n')).toEqual(found);
  });

  test('finds lines, as plain text unless asked otherwise, and sees what lies on the desk', async () => {
    const desk = deskOver({
      'a.js': 'one\nf(x.y)\n',
      'b.js': 'f(xzy)',
      'c.bin': 'f(x.y)\0',
      'd.js': 'f(x.y)',
    });
    await desk.write('b.js', 'F(x.y)');
    await desk.remove('d.js');
    const own = new FileSearch(desk);
    expect(await own.text(forText('f(x.y)'))).toBe('a.js:2: f(x.y)');
    expect(await own.text(forText('f(x.y)', { ignoresCase: true, files: 'b.*' }))).toBe('b.js:1: F(x.y)');
    expect(await own.text(forText('^o.e$', { isExpression: true }))).toBe('a.js:1: one');
    expect(await own.text(forText('nowhere'))).toBe('Nothing is found.');
  });

  test('an expression that would never end is stopped, and the agent hears why', async () => {
    const own = search({ 'a.js': `${'a'.repeat(60)}!` });
    await expect(own.text(forText('(a+)+$', { isExpression: true }))).rejects.toThrow('takes too long');
    await expect(own.text(forText('(', { isExpression: true }))).rejects.toThrow(ToolRefusal);
    await expect(own.files(`${'*a'.repeat(30)}!`)).resolves.toBe('No file matches.');
  });

  test('shows a hundred lines, short, and says that there are more', async () => {
    const told = (await search({ 'a.js': `${'x'.repeat(1_000)}\n`.repeat(500) }).text(forText('x'))).split(
      '\n',
    );
    expect(told).toHaveLength(101);
    expect(told[0]).toHaveLength('a.js:1: '.length + 241);
    expect(told.at(-1)).toContain('and more');
  });

  test('neither reads nor searches what is too large, nor a link out of the folder', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'devs-desk-'));
    onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
    writeFileSync(join(dir, 'large.txt'), 'needle\n'.repeat(1_000_000));
    writeFileSync(join(dir, 'small.txt'), 'needle\n');
    symlinkSync('/etc/passwd', join(dir, 'link.txt'));
    const desk = new FileDesk({
      dir,
      list: async () => ['large.txt', 'link.txt', 'small.txt'],
      read: async (path) => readFileSync(await resolveInside(dir, path), 'utf8'),
    });
    expect(await new FileSearch(desk).text(forText(''))).toMatch(/^small\.txt:1: needle\nsmall\.txt:2:/);
    await expect(desk.read('large.txt')).rejects.toThrow('too large');
  });
});
