import { describe, expect, test } from 'vitest';
import { FileDesk } from '../FileDesk.ts';

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
    desk.write('src/c.js', '');

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
    expect(() => desk.write(path, '')).toThrow('is refused');
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
