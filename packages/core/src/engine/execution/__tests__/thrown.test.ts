import { describe, expect, test } from 'vitest';
import { asThrowable, describeThrown, LONGEST_TEXT, shownText } from '../thrown.ts';

const TOKEN = `ghp_${'a1B2'.repeat(9)}`;

/** Whatever is read of it throws. */
const closed: unknown = new Proxy(
  {},
  {
    get: () => {
      throw new Error('closed');
    },
    getPrototypeOf: () => {
      throw new Error('closed');
    },
  },
);

describe('what was thrown', () => {
  test.for([
    ['undefined', undefined, { name: 'undefined', message: 'undefined' }],
    ['a text', 'quota', { name: 'string', message: 'quota' }],
    ['an object', { status: 429 }, { name: 'object', message: '{"status":429}' }],
    ['an object with a message', { message: 'quota' }, { name: 'object', message: 'quota' }],
    ['an error', new RangeError('far'), { name: 'RangeError', message: 'far' }],
    ['a message that is none', Object.assign(new Error(), { message: 5n }), { message: '5' }],
    ['what cannot be read', closed, { name: 'object', message: 'what cannot be read' }],
  ] as const)('is read in words: %s', ([, thrown, words]) => {
    expect(describeThrown(thrown)).toMatchObject(words);
  });

  test('is masked, and has no half characters', () => {
    const { message, stack } = describeThrown(new Error(`with ${TOKEN} \ud800`));
    expect(message).toBe('with [REDACTED:github] \ufffd');
    expect(stack).not.toContain(TOKEN);
  });

  test('is told by its beginning where it is long, without looking at the rest', () => {
    const words = 'one word after the other, ';
    const long = words.repeat(3_000_000);
    const shown = shownText(long);
    expect(shown.length).toBeLessThan(LONGEST_TEXT + 100);
    expect(shown).toMatch(/^one word after the other, .* … \(78000000 characters\)$/);
    const secret = `${'x '.repeat(LONGEST_TEXT / 2 - 10)}${TOKEN} ${words.repeat(1000)}`;
    expect(shownText(secret)).not.toMatch(/ghp_/);
  });
});

describe('what LangGraph cannot handle', () => {
  test.for([
    ['undefined', undefined],
    ['null', null],
    ['a text', 'quota'],
    ['what cannot be read', closed],
  ] as const)('is stood for by an error: %s', ([, thrown]) => {
    const error = asThrowable(thrown) as Error & { pregelTaskId?: string };
    expect(error).toBeInstanceOf(Error);
    expect(error.message).toContain(describeThrown(thrown).message);
  });

  test('is stood for by what inherits from it, where it is frozen', () => {
    const frozen = Object.freeze(new RangeError('cold'));
    const error = asThrowable(frozen) as Error;
    expect(error).toBeInstanceOf(RangeError);
    expect([error.message, describeThrown(error).stack]).toEqual(['cold', expect.stringContaining('cold')]);
    expect(Object.assign(error, { pregelTaskId: 'a' })).toHaveProperty('pregelTaskId', 'a');
  });

  test('is not what it can: that is the very error', () => {
    const error = new Error('plain');
    expect(asThrowable(error)).toBe(error);
  });
});
