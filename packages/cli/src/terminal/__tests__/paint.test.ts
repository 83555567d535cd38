import { stripVTControlCharacters } from 'node:util';
import { maskSensitiveData } from '@devs/core';
import { array, assert, constantFrom, integer, oneof, property, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { howMany } from '../../../../core/test/support/howMany.ts';
import { tried } from '../../../../core/test/support/tried.ts';
import { displayWidth } from '../displayWidth.ts';
import { columns, type Line } from '../Line.ts';
import { Output, wantsColor } from '../Output.ts';
import { isLong } from '../pager.ts';
import { visibleText } from '../visible.ts';

/** What lines are written as, on a terminal so wide. */
function shown(lines: readonly Line[], { width = 80, color = true } = {}): string {
  let text = '';
  const stdout = { isTTY: true, columns: width, write: (part: string) => (text += part) };
  new Output({ stdout, stderr: stdout, json: false, color }).print(...lines);
  return text;
}

const markdown = (text: string, width?: number): string =>
  shown([{ style: 'markdown', text }], { ...(width !== undefined && { width }) });

/** With the names of the codes in the place of them. */
const named = (text: string): string =>
  Object.entries(CODES).reduce((all, [code, name]) => all.replaceAll(`\u001b[${code}m`, name), text);

const CODES = {
  '1': '<bold>',
  '2': '<dim>',
  '22': '</>',
  '31': '<red>',
  '32': '<green>',
  '33': '<yellow>',
  '36': '<cyan>',
  '39': '</>',
};

describe('Markdown on a terminal', () => {
  it('has bold headings, coloured code and check boxes, and keeps every mark', () => {
    const text = '# Sum `x`\n- [x] **done**\n- [ ] do `a ** b`\n\n```ts\n# no heading\n```\n---\nplain';
    expect(named(markdown(text))).toBe(
      [
        '<bold># Sum </><cyan>`x`</>',
        '- <green>[x]</> <bold>**done**</>',
        '- <yellow>[ ]</> do <cyan>`a ** b`</>',
        '',
        '<cyan>```ts</>',
        '<cyan># no heading</>',
        '<cyan>```</>',
        '<dim>---</>',
        'plain\n',
      ].join('\n'),
    );
  });

  it('hangs what is broken under the item, and breaks no word', () => {
    const text = '1. one two three four\n   - https://example.com/a/long/address x\n> quoted words go on';
    expect(stripVTControlCharacters(markdown(text, 16))).toBe(
      [
        '1. one two three',
        '   four',
        '   - https://example.com/a/long/address',
        '     x',
        '> quoted words',
        '  go on\n',
      ].join('\n'),
    );
  });

  it('is broken anew where lines of prose do not fit, and stays as it is written where they do', () => {
    const text = 'one two three\nfour `five` six\n- item one\n  two three\n    code one two three';
    expect(markdown(text, 40)).toBe(named(`${text}\n`).replace('`five`', '\u001b[36m`five`\u001b[39m'));
    expect(stripVTControlCharacters(markdown(text, 12))).toBe(
      [
        'one two',
        'three four',
        '`five` six',
        '- item one',
        '  two three',
        '    code one',
        '    two',
        '    three\n',
      ].join('\n'),
    );
  });

  it.each([
    ['two spaces', 'one two three  \nfour'],
    ['a backslash', 'one two three\\\nfour'],
    ['an item', 'one two three\n1. four'],
    ['a heading', 'one two three\n# four'],
    ['a rule', 'one two three\n***'],
    ['an empty line', 'one two three\n\nfour'],
    ['a table', 'one two three\na|b\n-|-'],
    ['a fence', 'one two three\n```\nfour'],
    ['code', '    one two three\n    four'],
  ])('begins a line anew for %s', (_, text) => {
    const lines = stripVTControlCharacters(markdown(text, 12)).trimEnd().split('\n');
    expect(lines.join('\n')).toMatch(/^ *one two *\n *three.{0,2}\n/);
  });

  it('leaves a fence open that ends nowhere, and takes no inline code for one', () => {
    expect(named(markdown('```x``` y\n~~~\n```\n# a'))).toBe(
      '<cyan>```x```</> y\n<cyan>~~~</>\n<cyan>```</>\n<cyan># a</>\n',
    );
  });

  it('hangs nothing where the indentation leaves no room', () => {
    expect(markdown(`${' '.repeat(12)}- one two`, 16)).toBe(`${' '.repeat(12)}- one\ntwo\n`);
  });

  it.each([
    [
      40,
      [
        'name │     what it does      │  # │',
        '─────┼───────────────────────┼────┼─────',
        '寸法 │ 幅の広い文字も列を崩  │  7 │',
        '     │   さない and a long   │    │',
        '     │ explanation in words  │    │',
        '─────┼───────────────────────┼────┼─────',
        'b    │     short \\| `c`      │ 12 │ more',
      ],
    ],
    [
      200,
      [
        'name │                        what it does                        │  # │',
        '─────┼────────────────────────────────────────────────────────────┼────┼─────',
        '寸法 │ 幅の広い文字も列を崩さない and a long explanation in words │  7 │',
        'b    │                        short \\| `c`                        │ 12 │ more',
      ],
    ],
  ])('shows a table at a width of %i, with wide characters', (width, lines) => {
    const table = [
      '| name | what it does | # |',
      '|:--|:-:|--:|',
      '| 寸法 | 幅の広い文字も列を崩さない and a long explanation in words | 7 |',
      '| b | short \\| `c` | 12 | more |',
    ].join('\n');
    const painted = stripVTControlCharacters(markdown(table, width)).trimEnd().split('\n');
    expect(painted.map((line) => line.trimEnd())).toEqual(lines);
    expect(Math.max(...painted.map(displayWidth))).toBeLessThanOrEqual(width);
  });

  it('leaves a table alone that has more columns than there is room for, and what is none', () => {
    const row = `|${'a|'.repeat(20)}`;
    const text = `${row}\n|${'-|'.repeat(20)}\n${row}\na | b\nc | d\na | b\n- | x`;
    expect(stripVTControlCharacters(markdown(text, 200))).toContain('a │ a');
    expect(stripVTControlCharacters(markdown(text, 60))).toBe(`${text}\n`);
  });
});

describe('a row of a table on a terminal', () => {
  const row = (text: string, width: number): string => shown([{ style: 'row', text }], { width });

  it('is broken within its last column, as far as that has room', () => {
    expect(row('REQ-1  one two three', 14)).toBe('REQ-1  one two\n       three\n');
    expect(row('REQ-1  T1  one two three', 18)).toBe('REQ-1  T1  one two three\n');
    expect(row('one two three', 8)).toBe('one two\nthree\n');
  });
});

describe('a diff on a terminal', () => {
  it('tells what was added and removed from what only looks so', () => {
    const text =
      'diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n same\n--- a line\n+++ b line\n\\ no end';
    expect(named(shown([{ style: 'diff', text }]))).toBe(
      [
        '<bold>diff --git a/x b/x</>',
        '<bold>--- a/x</>',
        '<bold>+++ b/x</>',
        '<cyan>@@ -1,2 +1,2 @@</>',
        ' same',
        '<red>--- a line</>',
        '<green>+++ b line</>',
        '\\ no end\n',
      ].join('\n'),
    );
  });
});

/** Links, cursors, titles, colours, direction: what a terminal would obey, and marks of Markdown and diffs around it. */
const HOSTILE = [
  '\u001b]8;;https://evil.example\u0007click\u001b]8;;\u0007',
  '\u001b[2J\u001b[1;1H',
  '\u001b[31m',
  '\u009b1A',
  '\u001b]0;title\u0007',
  '\r',
  '\b',
  '\u202e',
  '\u2066',
  '\u200b',
  '\ufe0f',
];
const MARKS = [
  '# ',
  '- [ ] ',
  '- [x] ',
  '`',
  '**',
  '```\n',
  '~~~',
  '| a | b |\n|---|---|\n',
  '|',
  '> ',
  '\n',
];
const WORDS = ['word', ' ', '寸法', '👩', 'é', '\t', '1. ', '+', '-', '@@', 'diff --git ', '⟨U+001B⟩'];
const texts = array(
  oneof(constantFrom(...HOSTILE, ...MARKS, ...WORDS), string({ unit: 'binary', maxLength: 3 })),
  {
    maxLength: 30,
  },
).map((parts) => parts.join(''));

/** What stays of a text, wherever it is broken and whatever a table is ruled with. */
const substance = (text: string): string => text.replaceAll(/[\s|│─┼:-]/g, '');

describe('text of somebody else', () => {
  it('brings no code of its own in any style, and loses nothing', ({ task }) => {
    let ways = 0;
    const styles = constantFrom('markdown' as const, 'diff' as const, 'row' as const, 'bold' as const);
    assert(
      property(texts, styles, integer({ min: 1, max: 90 }), (text, style, width) => {
        ways += 1;
        tried(task, { ways });
        const written = shown([{ style, text }], { width });
        const left = Object.keys(CODES).reduce((all, code) => all.replaceAll(`\u001b[${code}m`, ''), written);
        // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
        expect(left).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
        // The lines of a cell that is broken stand between those of the cells beside it.
        const inOrder =
          style === 'markdown' && text.includes('|---|')
            ? (all: string) => [...all].toSorted().join('')
            : String;
        expect(inOrder(substance(left))).toBe(inOrder(substance(visibleText(maskSensitiveData(text)))));
      }),
      { numRuns: howMany('DEVS_VISIBLE_TEXTS', 300) },
    );
  });

  it('is not touched without colours', () => {
    const text = `# a\n| b |\n|---|\n| ${'c '.repeat(80)}|`;
    expect(shown([{ style: 'markdown', text }], { width: 20, color: false })).toBe(`${text}\n`);
  });

  it.each([
    ['backticks of every length', Array.from({ length: 600 }, (_, n) => '`'.repeat(n)).join(' ')],
    ['stars', '**a '.repeat(20_000)],
    ['bars', '|\n'.repeat(50_000)],
    ['fences', '```\n'.repeat(50_000)],
    ['tables', '|a|\n|-|\n\n'.repeat(5_000)],
    ['a word in a narrow cell', `|a|b|\n|-|-|\n|${'寸'.repeat(50_000)}|b|`],
  ])('takes no longer where it is made of %s', (_, text) => {
    expect(markdown(text, 12).length).toBeGreaterThan(text.length / 2);
  });
});

describe('wide characters', () => {
  it('are counted as a terminal shows them', () => {
    expect(['寸法', '👩', '🇩🇪', 'e\u0301', '\u0301', 'ｱ', '한', '１'].map(displayWidth)).toEqual([
      4, 2, 2, 1, 0, 1, 2, 2,
    ]);
  });

  it('and what is spelled out keep columns apart', () => {
    expect(
      columns([
        ['寸法', 'x'],
        ['a\u200b', 'y'],
        ['b', 'z'],
      ]),
    ).toEqual(['寸法       x', 'a\u200b  y', 'b          z']);
  });

  it('make the line below the story no longer than the terminal, and it is spelled out once', () => {
    const written: string[] = [];
    const stdout = { isTTY: true, columns: 12, write: (part: string) => written.push(part) };
    const out = new Output({ stdout, stderr: stdout, json: false, color: false });
    out.live('寸法寸法寸法寸法');
    expect(written.at(-1)).toBe('寸法寸法寸');
    out.live('\u0007 x');
    expect(written.at(-1)).toBe('⟨U+0007⟩ x');
  });

  it('count for the length of a page, codes do not', () => {
    const screen = { rows: 2, columns: 4 };
    expect(isLong('寸法寸法\n', screen)).toBe(true);
    expect(isLong('\u001b[1mabcd\u001b[22m\n', screen)).toBe(false);
  });
});

describe('colours', () => {
  const at = (env: Record<string, string>, isTTY = true, isAllowed = true): boolean =>
    wantsColor({ stdout: { isTTY, write: () => true }, env }, isAllowed);

  it('are for a terminal', () => {
    expect([at({}), at({}, false), at({ TERM: 'dumb' }), at({}, true, false)]).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });

  it('are told by NO_COLOR and FORCE_COLOR', () => {
    expect([at({ NO_COLOR: '1' }), at({ NO_COLOR: '' })]).toEqual([false, true]);
    expect([at({ FORCE_COLOR: '1' }, false), at({ FORCE_COLOR: '0' }), at({ FORCE_COLOR: 'false' })]).toEqual(
      [true, false, false],
    );
    expect(at({ FORCE_COLOR: '1', NO_COLOR: '1' }, false)).toBe(false);
    expect(at({ FORCE_COLOR: '1' }, false, false)).toBe(false);
  });
});
