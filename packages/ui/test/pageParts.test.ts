import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseDiff } from '../page/diff/diffLines.ts';
import { lineBlocks } from '../page/lineBlocks.ts';
import { gateHref, parseRoute, runHref } from '../page/place.ts';

const DIFF = `diff --git a/a.sql b/a.sql
index 1..2 100644
--- a/a.sql
+++ b/a.sql
@@ -1,2 +1,2 @@
--- a comment that was
+++ a sum that is
 same
\\ No newline at end of file
diff --git a/old b/new
similarity index 100%
rename from old
rename to new
`;

describe('parts of the page', () => {
  test('a diff is read file by file: what looks like a head inside of a hunk is a line', () => {
    expect(parseDiff(DIFF)).toMatchObject([
      {
        path: 'a.sql',
        added: 1,
        removed: 1,
        notes: [],
        lines: [
          { kind: 'gap' },
          { kind: 'removed', text: '-- a comment that was', before: 1 },
          { kind: 'added', text: '++ a sum that is', after: 1 },
          { kind: 'same', text: 'same', before: 2, after: 2 },
          { kind: 'place' },
        ],
      },
      { path: 'new', from: 'old', change: 'moved', lines: [], notes: [] },
    ]);
  });

  test('a diff that is masked or cut off is read on: later files stay apart, and their lines keep their numbers', () => {
    const masked = DIFF.replace('--- a comment that was\n', '').replace(' same', '[cut: there is more]');
    expect(parseDiff(masked)).toMatchObject([
      {
        added: 1,
        lines: [{ kind: 'gap' }, { after: 1 }, { text: '[cut: there is more]' }, { kind: 'place' }],
      },
      { path: 'new' },
    ]);
  });

  test('no line of a diff is left out, whatever it holds', () => {
    const line = fc.constantFrom(
      '+',
      '-',
      ' ',
      'x',
      '@@ -1 +1 @@',
      'diff --git a/x b/x',
      '\\ No newline',
      '+++ b',
      '',
    );
    fc.assert(
      fc.property(fc.array(line, { minLength: 1 }), (lines) => {
        const files = parseDiff(lines.join('\n'));
        const told = files.flatMap(({ notes, lines: own }) => [...notes, ...own]).length + files.length;
        const heads = lines.filter(
          (each) => /^(?:diff --git|index|---|\+\+\+) /.test(each) || each === '',
        ).length;
        expect(told).toBeGreaterThanOrEqual(lines.length - heads);
      }),
    );
  });

  test('added and removed lines have a share of five blocks, and never none', () => {
    const blocks = (added: number, removed: number): string => lineBlocks(added, removed).join('');
    expect([blocks(206, 7), blocks(1, 999), blocks(1, 1), blocks(3, 0), blocks(0, 3), blocks(0, 0)]).toEqual([
      'aaaad',
      'adddd',
      'aaadd',
      'aaaaa',
      'ddddd',
      '',
    ]);
  });

  test('an address leads back to where it was made, and any other to the inbox', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.string({ minLength: 1 }), (run, gate) => {
        expect(parseRoute(runHref(run))).toEqual({ kind: 'run', run });
        expect(parseRoute(gateHref(run, gate))).toEqual({ kind: 'gate', run, gate });
      }),
    );
    expect(parseRoute('')).toEqual({ kind: 'inbox' });
    expect(parseRoute('#/runs/%zz')).toEqual({ kind: 'run', run: '%zz' });
  });
});
