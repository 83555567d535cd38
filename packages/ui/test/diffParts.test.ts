import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { languageOf } from '../page/code/languages.ts';
import { markPieces } from '../page/code/Piece.ts';
import { type DiffLine, parseDiff } from '../page/diff/diffLines.ts';
import { gapLength, openBelow, openGap } from '../page/diff/gaps.ts';
import { lastInFile } from '../page/diff/lastInFile.ts';
import { linesAtOnce } from '../page/diff/linesAtOnce.ts';
import { whyFolded } from '../page/diff/whyFolded.ts';
import { markedWords, wordMarks } from '../page/diff/wordMarks.ts';
import { evidenceOf, readingOrder, treeOf } from '../page/review/reviewFiles.ts';

const DIFF = `diff --git a/src/a.ts b/src/a.ts
--- a/src/a.ts
+++ b/src/a.ts
@@ -10,3 +10,3 @@ export function a() {
 const ten = 10;
-const breaks = /[^a-z]+/;
+const breaks = /[^a-z]+/i;
 const twelve = 12;
@@ -40,2 +40,3 @@
 const forty = 40;
+const more = 41;
 const rest = 42;
diff --git a/new.test.ts b/new.test.ts
new file mode 100644
--- /dev/null
+++ b/new.test.ts
@@ -0,0 +1,1 @@
+test('cuts at whole words', () => {});
diff --git a/run.sh b/run.sh
old mode 100644
new mode 100755
diff --git a/logo.png b/logo.png
index 1..2 100644
Binary files a/logo.png and b/logo.png differ
`;

const TEXT = Array.from({ length: 60 }, (_, at) => `line ${at + 1}`);

const files = parseDiff(DIFF);
const [first] = files as [(typeof files)[number]];

const shown = ({ kind, text, after }: DiffLine): string => `${kind} ${after ?? ''} ${text}`;

describe('lines that are made at once', () => {
  const files = (...lengths: readonly number[]) => lengths.map((length) => ({ lines: Array(length) }));

  test('are all of a small diff, and of a large one the beginning of the files on the first screens', () => {
    expect(linesAtOnce(files(600, 400))).toEqual(['all', 'all']);
    expect(linesAtOnce(files(200, 200, 601, 1))).toEqual(['beginning', 'beginning', 'head', 'head']);
    expect(linesAtOnce(files(5_000, 1))).toEqual(['beginning', 'head']);
    expect(linesAtOnce([])).toEqual([]);
  });
});

describe('a diff', () => {
  test('what git says of a file is told in words: new, its mode, that it is binary', () => {
    expect(files.map(({ path, change, mode, notes }) => ({ path, change, mode, notes }))).toEqual([
      { path: 'src/a.ts', change: 'changed', mode: null, notes: [] },
      { path: 'new.test.ts', change: 'new', mode: null, notes: [] },
      { path: 'run.sh', change: 'changed', mode: '100644 → 100755', notes: [] },
      { path: 'logo.png', change: 'binary', mode: null, notes: [] },
    ]);
  });

  test('lines that did not change are counted, and opened from below, some or all', () => {
    expect(gapLength(first.lines, 0)).toBe(9);
    const second = first.lines.findLastIndex(({ kind }) => kind === 'gap');
    expect(gapLength(first.lines, second)).toBe(27);
    const some = openGap(first.lines, second, { text: TEXT, most: 20 });
    expect(some.slice(second, second + 2).map(shown)).toEqual(['gap 20 ', 'same 20 line 20']);
    expect(gapLength(some, second)).toBe(7);
    const all = openGap(some, second, { text: TEXT, most: 7 });
    expect(all.some(({ kind }, at) => kind === 'gap' && at > 0)).toBe(false);
    expect(all.filter(({ kind }) => kind === 'same').map(({ after }) => after)).toEqual([
      10,
      ...Array.from({ length: 28 }, (_, at) => at + 12),
      40,
      42,
    ]);
    expect(openBelow(first.lines, { text: TEXT, most: 2 }).slice(-2)).toEqual([
      { kind: 'same', text: 'line 43', before: 42, after: 43 },
      { kind: 'same', text: 'line 44', before: 43, after: 44 },
    ]);
    const [fresh] = parseDiff(DIFF).slice(1);
    expect(gapLength(fresh?.lines ?? [], 0)).toBe(0);
  });

  test('words are marked in lines that have enough in common, and nowhere else', () => {
    const marks = wordMarks(first.lines);
    const added = first.lines.find(({ text }) => text.endsWith('/i;')) as DiffLine;
    expect(
      marks
        .get(added)
        ?.map(({ from, to }) => added.text.slice(from, to))
        .join(''),
    ).toContain('i');
    expect(markedWords('const a = 1;', 'export default function other() {}')).toBeNull();
    expect(markedWords('x'.repeat(500), 'x')).toBeNull();
  });

  test('whatever is marked of coloured pieces, the text stays what it is', () => {
    const piece = fc.record({ text: fc.string({ minLength: 1 }), tone: fc.constantFrom('k' as const, null) });
    const mark = fc
      .tuple(fc.nat(40), fc.nat(40))
      .map(([a, b]) => ({ from: Math.min(a, b), to: Math.max(a, b) }));
    fc.assert(
      fc.property(fc.array(piece), fc.array(mark, { maxLength: 1 }), (pieces, marks) => {
        const text = pieces.map((each) => each.text).join('');
        const cut = markPieces(pieces, marks);
        expect(cut.map((each) => each.text).join('')).toBe(text);
        const marked = cut.filter(({ isMarked }) => isMarked).map((each) => each.text);
        expect(marked.join('')).toBe(marks.map(({ from, to }) => text.slice(from, to)).join(''));
      }),
    );
  });

  test('a comment of the last round stands at the line that it quotes, else above the file', () => {
    const comment = (quote: string, line: number) =>
      ({ quote, line, in: 'src/a.ts', text: 'Why?', since: 'changed' }) as never;
    const there = comment('const forty', 40);
    const gone = comment('nowhere', 1);
    const { at, elsewhere } = lastInFile(first.lines, [there, gone]);
    expect([...at].map(([line, said]) => [line.after, said])).toEqual([[40, [there]]]);
    expect(elsewhere).toEqual([gone]);
    const removed = lastInFile(first.lines, [comment('/[^a-z]+/', 11)]);
    expect([...removed.at.keys()].map(({ kind }) => kind)).toEqual(['added']);
  });

  test('sources come first, then tests and documents; folders hold their files', () => {
    const order = readingOrder(
      ['README.md', 'test/a.test.ts', 'src/b/c.ts', 'src/a.ts', 'src/b/a.ts'].map((path) => ({
        ...first,
        path,
      })),
    );
    expect(order.map(({ path }) => path)).toEqual([
      ...['src/a.ts', 'src/b/a.ts', 'src/b/c.ts', 'test/a.test.ts', 'README.md'],
    ]);
    expect(treeOf(order).map(({ name }) => name)).toEqual(['src', 'src/b', 'test', '']);
  });

  test('evidence leads to the line it names, or to the case of that name, or says that it is not in the diff', () => {
    const criteria = [
      { criterion: 'breaks', shownBy: 'src/a.ts:11' },
      { criterion: 'cuts', shownBy: 'new.test.ts › cuts at whole words' },
      { criterion: 'case', shownBy: 'the case "cuts at whole words"' },
      { criterion: 'file', shownBy: 'src/a.ts' },
      { criterion: 'far', shownBy: 'src/other.ts:3' },
      { criterion: 'none', shownBy: null },
    ];
    const found = evidenceOf([{ taskId: 't:1', name: 'T', criteria }], files);
    expect(found.map(({ criterion, path, line }) => [criterion, path, line])).toEqual([
      ['breaks', 'src/a.ts', 11],
      ['cuts', 'new.test.ts', 1],
      ['case', 'new.test.ts', 1],
      ['file', 'src/a.ts', null],
      ['far', null, null],
      ['none', null, null],
    ]);
  });

  test('what programs wrote is folded, and what is long; a name tells the language', () => {
    expect(whyFolded({ path: 'pnpm-lock.yaml', lines: [] })).toBe('generated');
    expect(whyFolded({ path: 'app.min.js', lines: [] })).toBe('generated');
    expect(whyFolded({ path: 'src/dist.ts', lines: [] })).toBeNull();
    expect(
      whyFolded({ path: 'a.ts', lines: Array.from({ length: 401 }, () => first.lines[1] as DiffLine) }),
    ).toBe('401 lines');
    expect(['a.tsx', 'b/Dockerfile', 'c.yml', 'd', 'e.zzz', 'constructor'].map(languageOf)).toEqual([
      ...['typescript', 'dockerfile', 'yaml', null, null, null],
    ]);
  });
});
