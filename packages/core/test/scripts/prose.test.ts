import { describe, expect, test } from 'vitest';

interface Counted {
  readonly words: number;
  readonly lengths: readonly number[];
  readonly counts: Readonly<Record<string, number>>;
}

interface Prose {
  commentProse(comment: string): readonly string[];
  countProse(blocks: readonly string[]): Counted;
  debt(counted: Counted): object;
  markdownProse(text: string): readonly string[];
  rates(counted: Counted): object;
  sourceComments(text: string, name: string): readonly string[];
  sum(counted: readonly Counted[]): Counted;
}

const script = new URL('../../../../scripts/prose.mjs', import.meta.url).href;
const { commentProse, countProse, debt, markdownProse, rates, sourceComments, sum } = (await import(
  script
)) as Prose;

describe('prose', () => {
  test('of a page is its paragraphs and list items', () => {
    const page = [
      '# What is told',
      '',
      'You use [the `run` method](run.md) to',
      'start a run.',
      '',
      '| what | told |',
      '| --- | --- |',
      '<!-- what',
      'told -->',
      '- First item',
      '  goes on.',
      '- Second *item*.',
      '```ts',
      'const what = told;',
      '```',
      '> A quoted line.',
    ].join('\n');
    expect(markdownProse(page)).toEqual([
      'You use the CODE method to start a run.',
      'First item goes on.',
      'Second item .',
      'A quoted line.',
    ]);
  });

  test('of a source is its comments, without what looks like one in a string, a pattern or a template', () => {
    const source = [
      'const a = "// what"; // Returns the first.',
      '// And the second.',
      '',
      '// Another block.',
      'const b = /\\/\\/ what/; const c = `/* told $' + '{/* Inner. */ a} */`;',
      '/**',
      ' * Sends a signal. {@link Signal}',
      ' *',
      ' * @param what - The name.',
      ' * @example',
      ' * told();',
      ' * @throws RangeError for a bad name.',
      ' */',
    ].join('\n');
    expect(sourceComments(source, 'a.ts').flatMap(commentProse)).toEqual([
      'Returns the first. And the second.',
      'Another block.',
      'Inner.',
      'Sends a signal. CODE',
      'The name.',
      'RangeError for a bad name.',
    ]);
  });

  test('is counted by 1,000 words, and a noun is no verb', () => {
    const counted = countProse(['You run the run.', "What it's told, e.g. nothing, is what it says."]);
    expect(counted.counts).toEqual({ what: 2, told: 2, who: 0, none: 1, you: 1, verbs: 1 });
    expect(counted.lengths).toEqual([4, 9]);
    const long = countProse([`${'word '.repeat(26)}.`]);
    const both = sum([counted, long]);
    expect(rates(both)).toEqual({
      words: 39,
      what: 51.3,
      told: 51.3,
      who: 0,
      none: 25.6,
      you: 25.6,
      verbs: 25.6,
      median: 9,
      p90: 26,
    });
    expect(debt(both)).toEqual({ what: 2, told: 2, who: 0, none: 1, long: 1 });
  });
});
