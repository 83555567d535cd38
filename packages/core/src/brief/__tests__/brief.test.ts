import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseBrief, quickWork, runIdOf } from '../brief.ts';

const SECRET = 'ghp_0123456789abcdefghijklmnopqrstuvwxyz';

describe('a brief', () => {
  test.for([
    ['its first heading', '\nSome words.\n\n# CSV export  \n\n# Later', 'CSV export'],
    ['its first line with words', '\n\n  Export a table.\n\nMore.', 'Export a table.'],
    ['its first line, where a smaller heading is no title', '## Part\n\ntext', '## Part'],
  ] as const)('is called by %s', ([_name, text, title]) => expect(parseBrief(text).title).toBe(title));

  test('is masked before it is hashed, in text and title', () => {
    const { text, title, sha256 } = parseBrief(`# Use ${SECRET}\n\nThe key is ${SECRET}.`);
    expect(text + title).not.toContain(SECRET);
    expect(sha256).toBe(parseBrief(text).sha256);
  });

  test('keeps every other word as it was, code included', () => {
    const text = '# Login\n\n```ts\nconst password=hash(input);\n```\n';
    expect(parseBrief(text).text).toBe(text);
  });

  test.for([
    ['an empty text', ''],
    ['white space', ' \n\t\n'],
    ['a text of more than 256 Ki characters', 'x'.repeat(256 * 1024 + 1)],
    ['no text', undefined],
  ] as const)('cannot be %s', ([_name, text]) => {
    expect(() => parseBrief(text as string)).toThrow(TypeError);
  });
});

describe('the id of a run', () => {
  test('is made of the title and the hash of all words', () => {
    expect(runIdOf(parseBrief('# Größe & Maße: CSV!\n\nx'))).toMatch(/^gro-e-ma-e-csv-[0-9a-f]{6}$/);
    expect(runIdOf(parseBrief('# 寸法'))).toMatch(/^run-[0-9a-f]{6}$/);
  });

  test('is the same for the same brief and another one for another brief', () => {
    const id = (text: string): string => runIdOf(parseBrief(text));
    expect(id('# A\n\none')).toBe(id('# A\n\none'));
    expect(id('# A\n\none')).not.toBe(id('# A\n\ntwo'));
  });

  test('can always name a folder and a branch', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: 'binary' }), (text) => {
        fc.pre(text.trim() !== '');
        expect(runIdOf(parseBrief(text))).toMatch(/^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/);
      }),
    );
  });
});

describe('small work', () => {
  const criteriaOf = (text: string): readonly string[] | undefined =>
    quickWork(parseBrief(text), {}).tasks?.epics[0]?.tasks[0]?.acceptanceCriteria;

  test.for([
    ['its title without a list', '# Export\n\nAll of it.', ['Export']],
    ['each item once', '# E\n\n- a\n* [ ] b\n- a', ['a', 'b']],
    [
      'further lines of an item',
      '# E\n\n- a cell\n  with a comma\n\tis quoted\n- b',
      ['a cell with a comma is quoted', 'b'],
    ],
    ['items within items', '# E\n\n- a\n  - b\n    more', ['a', 'b more']],
    ['no code and no later text', '# E\n\n- a\n  ```js\n  x\n  ```\n\nText.', ['a']],
  ] as const)('has to meet %s', ([_name, text, criteria]) => expect(criteriaOf(text)).toEqual(criteria));
});
