import fc from 'fast-check';
import type { ComponentChild, VNode } from 'preact';
import { describe, expect, test } from 'vitest';
import { PieceCursor, type TextPiece, textChanges } from '../page/gate/textChanges.ts';
import { planPicture } from '../page/graph/pictures.ts';
// @ts-expect-error: compiled with the page
import { Markdown } from '../page/Markdown.tsx';
import { taskTag } from '../page/words.ts';

const without = (pieces: readonly TextPiece[], kind: TextPiece['kind']): string =>
  pieces.map((piece) => (piece.kind === kind ? '' : piece.text)).join('');

const texts = fc.array(fc.constantFrom('one', 'two words', 'two other words', 'three', '', 'a b c d'), {
  maxLength: 8,
});

describe('what is new since a text was read', () => {
  test('no word is lost: with what is gone it is the text before, with what is new the text now', () => {
    fc.assert(
      fc.property(texts, texts, (before, after) => {
        const { units, goneAfter } = textChanges(before, after);
        expect(units.map(({ pieces }) => without(pieces, 'removed'))).toEqual(after);
        const old = units.flatMap(({ goneBefore, pieces }) => [...goneBefore, without(pieces, 'added')]);
        expect([...old, ...goneAfter].join('').replaceAll(' ', '')).toBe(before.join('').replaceAll(' ', ''));
      }),
    );
  });

  test('words within a paragraph are marked, and a paragraph of other words takes its place', () => {
    expect(textChanges(['Pay in tea.', 'Same.'], ['Pay in coffee.', 'Same.', 'More.']).units).toEqual([
      {
        goneBefore: [],
        pieces: [
          { kind: 'same', text: 'Pay in ' },
          { kind: 'removed', text: 'tea' },
          { kind: 'added', text: 'coffee' },
          { kind: 'same', text: '.' },
        ],
      },
      { goneBefore: [], pieces: [{ kind: 'same', text: 'Same.' }] },
      { goneBefore: [], pieces: [{ kind: 'added', text: 'More.' }] },
    ]);
    expect(textChanges(['xyz'], ['A whole new sentence']).units[0]?.pieces.map(({ kind }) => kind)).toEqual([
      'removed',
      'added',
    ]);
    expect(textChanges(['gone', 'kept'], ['kept'])).toMatchObject({ units: [{ goneBefore: ['gone'] }] });
    expect(textChanges(['kept', 'gone'], ['kept']).goneAfter).toEqual(['gone']);
  });

  test('pieces are handed out as the elements of the text cut it', () => {
    const cursor = new PieceCursor([
      { kind: 'same', text: 'ab' },
      { kind: 'removed', text: 'x' },
      { kind: 'added', text: 'cd' },
    ]);
    expect(cursor.take(3)).toEqual([
      { kind: 'same', text: 'ab' },
      { kind: 'removed', text: 'x' },
      { kind: 'added', text: 'c' },
    ]);
    expect([cursor.take(1), cursor.take(5)]).toEqual([[{ kind: 'added', text: 'd' }], []]);
  });
});

/** The rendered elements, without those that `isLeftOut` names. */
function rendered(child: ComponentChild, isLeftOut: (tag: string) => boolean): string {
  if (Array.isArray(child)) return child.map((each: ComponentChild) => rendered(each, isLeftOut)).join('');
  if (typeof child !== 'object' || child === null)
    return typeof child === 'boolean' ? '' : String(child ?? '');
  const { type, props } = child as VNode<{ children?: ComponentChild; class?: string }>;
  if (typeof type === 'function') {
    const component = type as (given: object) => ComponentChild;
    return rendered(component(props), isLeftOut);
  }
  const inside = rendered(props.children, isLeftOut);
  if (isLeftOut(type) || props.class === 'gone') return '';
  return type === 'ins' || type === 'span' ? inside : `<${type}>${inside}</${type}>`;
}

const page = (text: string, before: string | null): string =>
  rendered(Markdown({ text, before }) as ComponentChild, (tag) => tag === 'del');

const MARKDOWN = [
  '# Pay\n\nWe pay in *tea*, see [the list](https://example.org/list).\n',
  '- one\n- two `code` words\n  - inner\n- three\n',
  '| a | b |\n| --- | ---: |\n| tea | 1 |\n| coffee | 2 |\n',
  '```js\nconst a = 1;\n```\n\n---\n\n> said  \n> twice\n',
  'https://example.org and ![a picture](https://example.org/p.png) [x](./y)\n\n1. a\n\n   b\n2. c\n',
  '# Pay\n\nWe pay in *coffee*, see [the list](https://example.org/other).\n\nMore.\n',
];

describe('rendered text with marks', () => {
  const text = fc.array(fc.constantFrom(...MARKDOWN), { maxLength: 3 }).map((parts) => parts.join('\n'));

  test('is the text as it is without marks, whatever it was before', () => {
    fc.assert(
      fc.property(text, text, (now, before) => {
        expect(page(now, before)).toBe(page(now, null));
      }),
    );
  });

  test('marks a word in an emphasis and the target of a link, and shows what is gone', () => {
    const [before = '', , , , , now = ''] = MARKDOWN;
    const all = JSON.stringify(marksOf(Markdown({ text: now, before }) as ComponentChild));
    expect(all).toContain('"ins:coffee"');
    expect(all).toContain('"del:tea"');
    expect(all).toContain('ins:other');
    expect(all).toContain('"ins:More.');
    expect(marksOf(Markdown({ text: before, before }) as ComponentChild)).toEqual([]);
  });
});

/** `ins:` and `del:` with their texts, in order. */
function marksOf(child: ComponentChild): readonly string[] {
  if (Array.isArray(child)) return child.flatMap((each: ComponentChild) => marksOf(each));
  if (typeof child !== 'object' || child === null) return [];
  const { type, props } = child as VNode<{ children?: ComponentChild }>;
  if (typeof type === 'function') return marksOf((type as (given: object) => ComponentChild)(props));
  if (type !== 'ins' && type !== 'del') return marksOf(props.children);
  return [`${type}:${rendered(props.children, () => false)}`];
}

describe('the picture of a plan', () => {
  test('has the number of criteria in its boxes, and what is new', () => {
    const tasks = [
      { taskId: 'r:1', name: 'One', dependsOn: [], detail: '2 criteria' },
      { taskId: 'r:2', name: 'Two', dependsOn: ['r:1'], detail: '1 criterion', news: '1 new' },
    ];
    const { nodes, edges } = planPicture(tasks, taskTag, null, (from) => from === 'r:1');
    expect(nodes.map(({ detail, news }) => [detail, news])).toEqual([
      ['2 criteria', undefined],
      ['1 criterion', '1 new'],
    ]);
    expect(edges).toEqual([{ from: 'r:1', to: 'r:2', isNew: true }]);
  });
});
