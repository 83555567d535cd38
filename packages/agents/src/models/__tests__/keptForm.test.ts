import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { FileDesk } from '../FileDesk.ts';
import { FileSearch } from '../FileSearch.ts';

const MARK = '\uFEFF';

function deskOver(files: Readonly<Record<string, string>>): FileDesk {
  return new FileDesk({
    dir: '/w',
    list: async () => Object.keys(files),
    read: async (path) => files[path] ?? '',
  });
}

/** What the file is after an edit of one passage. */
async function edited(content: string, find: string, replacement: string): Promise<unknown> {
  const desk = deskOver({ f: content });
  await desk.replace('f', find, replacement);
  return desk.edits[0]?.content;
}

describe('an edit keeps how its file is written', () => {
  test.each([
    ['a CRLF file, LF to find', 'a\r\nb\r\nc\r\n', 'a\nb', 'x\ny\nz', 'x\r\ny\r\nz\r\nc\r\n'],
    ['a CRLF file, CRLF to find', 'a\r\nb\r\n', 'a\r\nb', 'x\r\ny', 'x\r\ny\r\n'],
    ['an LF file, CRLF to find', 'a\nb\nc\n', 'a\r\nb', 'x\r\ny', 'x\ny\nc\n'],
    ['one line that becomes two', 'a\r\nb\r\n', 'b', 'x\ny', 'a\r\nx\r\ny\r\n'],
    ['a passage that begins with a line end', 'a\r\nb\r\nc', '\nb', '\nx\ny', 'a\r\nx\r\ny\r\nc'],
    ['a passage that ends with one', 'a\r\nb\r\n', 'a\n', 'x\n', 'x\r\nb\r\n'],
    ['both ends in one file: those at the place', 'a\nb\nc\r\nd\r\n', 'c', 'x\ny', 'a\nb\nx\r\ny\r\nd\r\n'],
    ['both ends in one file: the other ones', 'a\nb\nc\r\nd\r\n', 'a', 'x\ny', 'x\ny\nb\nc\r\nd\r\n'],
    ['no final line end', 'a\r\nb', 'b', 'x\ny', 'a\r\nx\r\ny'],
    ['a final line end that the edit forgets', 'a\nb\n', 'b\n', 'x', 'a\nx\n'],
    ['a last line that goes', 'a\nb\n', 'b\n', '', 'a\n'],
    ['a mark before the first line', `${MARK}a\r\nb\r\n`, 'a\nb\n', 'x\n', `${MARK}x\r\n`],
    ['$& as it is', 'a\r\n', 'a', '$&', '$&\r\n'],
  ])('%s', async (_, ...given) => {
    const [content, find, replacement, after] = given;
    expect(await edited(content, find, replacement)).toBe(after);
  });

  test.each([
    ['CRLF', 'a\r\nb\r\n', 'a\nx\n', 'a\r\nx\r\n'],
    ['LF', 'a\nb\n', 'a\r\nx\r\n', 'a\nx\n'],
    ['a mark', `${MARK}a\n`, 'x\n', `${MARK}x\n`],
    ['a final line end', 'a\r\nb\r\n', 'x', 'x\r\n'],
    ['both ends: a line that stays keeps its own', 'a\nb\r\nc\r\n', 'a\nx\nc\n', 'a\nx\r\nc\r\n'],
    ['nothing: the file becomes empty', 'a\n', '', ''],
  ])('a file that is replaced whole keeps %s', async (_, before, text, after) => {
    const desk = deskOver({ f: before });
    await desk.write('f', text);
    expect(desk.edits).toEqual([{ path: 'f', content: after }]);
  });

  test('a file that is deleted and made again is written as it was', async () => {
    const desk = deskOver({ f: 'a\r\nb\r\n' });
    await desk.remove('f');
    await desk.write('f', 'x\ny\n');
    expect(desk.edits).toEqual([{ path: 'f', content: 'x\r\ny\r\n' }]);
    await desk.write('new', 'x\r\n');
    expect(desk.edits[1]).toEqual({ path: 'new', content: 'x\r\n' });
  });

  test('is read and searched with its line ends and mark out of the way', async () => {
    const desk = deskOver({ f: `${MARK}one\r\ntwo\r\n` });
    expect(await desk.read('f')).toBe('one\ntwo\n');
    const search = (text: string) =>
      new FileSearch(desk).text({ text, isExpression: true, ignoresCase: false, files: undefined });
    expect(await search('^one$')).toBe('f:1: one');
    expect(await search('^two$')).toBe('f:2: two');
  });

  test('what is not UTF-8 can be read, and no edit destroys its bytes', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'devs-desk-'));
    onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
    writeFileSync(join(dir, 'latin1.txt'), Buffer.from('caf\u00e9 one\n', 'latin1'));
    writeFileSync(join(dir, 'utf8.txt'), 'a \uFFFD one\n');
    const desk = new FileDesk({
      dir,
      list: async () => ['latin1.txt', 'utf8.txt'],
      read: async (path) => readFileSync(join(dir, path), 'utf8'),
    });
    expect(await desk.read('latin1.txt')).toContain('one');
    await expect(desk.replace('latin1.txt', 'one', 'two')).rejects.toThrow('not UTF-8');
    await expect(desk.write('latin1.txt', 'two\n')).rejects.toThrow('not UTF-8');
    await desk.replace('utf8.txt', 'one', 'two');
    expect(desk.edits).toEqual([{ path: 'utf8.txt', content: 'a \uFFFD two\n' }]);
  });
});

describe('a passage that is not there', () => {
  const refusal = async (content: string, find: string): Promise<string> => {
    const desk = deskOver({ f: content });
    const error = await desk.replace('f', find, 'x').then(
      () => null,
      (thrown: Error) => thrown,
    );
    return error?.message ?? 'edited';
  };
  const code = 'import a from "a";\n\nexport function add(a, b) {\n\treturn a + b;\n}\n\nadd(1, 2);\n';

  test('is told with the lines that differ from it in white space alone', async () => {
    const told = await refusal(code, 'export function add(a, b) {\n  return a + b;\n}');
    expect(told).toContain('occurs 0 times in f');
    expect(told).toContain(
      'Other white space alone have lines 3 to 5:\n3: export function add(a, b) {\n4: \treturn',
    );
  });

  test('is told with the nearest lines', async () => {
    const told = await refusal(
      code.replaceAll('\n', '\r\n'),
      'export function add(x, b) {\n\treturn x + b;\n}\n',
    );
    expect(told).toContain(
      'The nearest are lines 3 to 5:\n3: export function add(a, b) {\n4: \treturn a + b;\n5: }',
    );
    expect(told).not.toContain('\r');
  });

  test('is told as it is where nothing is like it, and in a file of a line', async () => {
    expect(await refusal(code, 'class Queue extends Map')).toContain('No line of the file is like it.');
    expect(await refusal('', 'a')).toContain('No line of the file is like it.');
    expect(await refusal('}\n', '\n\n')).toContain('No line of the file is like it.');
    expect(await refusal('const one = two;\n', '// above\nconst one = three;')).toContain(
      'lines 1 to 1:\n1: const',
    );
  });

  test('shows a part of a long passage, and is quick in a long file', async () => {
    const long = Array.from({ length: 50_000 }, (_, at) => `const value${at} = compute(${at});`);
    const told = await refusal(long.join('\n'), [...long.slice(100, 180), 'const last = 1;'].join('\n'));
    expect(told).toContain('The nearest are lines 101 to 112:');
    expect(told.split('\n')).toHaveLength(13);
  });

  test('or there more than once is told with the lines where it is', async () => {
    expect(await refusal('a\r\nb\r\na\r\n', 'a')).toContain('occurs 2 times in f, in lines 1, 3;');
    expect(await refusal('a\n'.repeat(20), 'a')).toMatch(/in lines 1, 2, 3, .* 10, …;/);
  });
});
