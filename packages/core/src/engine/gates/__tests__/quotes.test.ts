import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { howMany } from '../../../../test/support/howMany.ts';
import { maskAtGate } from '../../../masking/maskAtGate.ts';
import type { HitlSession } from '../../../state/gates/hitlSession.ts';
import {
  assertQuoted,
  type GateComment,
  type QuotableSection,
  rejectionText,
  sinceQuoted,
} from '../answerForms.ts';

const numRuns = howMany('DEVS_QUOTE_CASES', 300);

const session = { id: 's' } as HitlSession;
const placeOf = (text: string): QuotableSection => ({ names: ['TAS'], texts: [text] });
const isShown = (comment: Partial<GateComment>, text: string): boolean => {
  const comments = [{ in: 'TAS', quote: '', text: 'Why?', ...comment }];
  try {
    assertQuoted({ comments }, session, () => [placeOf(text)]);
    return true;
  } catch {
    return false;
  }
};

/** Few letters, so that quotes are found again by chance, too; and what regular expressions and terminals read. */
const letter = fc.constantFrom('a', 'b', ' ', '\n', '$', '(', '.', '\u202E', '\u0000', '⟨', 'é', '\r\n');
const someText = fc.array(letter, { maxLength: 40 }).map((parts) => parts.join(''));

/** A text with a quote in it, and where that begins. */
const quoted = fc
  .tuple(
    someText,
    someText.filter((quote) => quote !== ''),
    someText,
  )
  .map(([before, quote, after]) => ({ before, quote, after, text: before + quote + after }));

describe('a quote', () => {
  test('is found where it stands, on its line and on no other', () => {
    fc.assert(
      fc.property(quoted, fc.integer({ min: 1, max: 60 }), ({ before, quote, text }, other) => {
        const line = before.split('\n').length;
        expect(isShown({ quote }, text)).toBe(true);
        expect(isShown({ quote, line }, text)).toBe(true);
        const starts = Array.from(text, (_, at) => at).filter((at) => text.startsWith(quote, at));
        const lines = new Set(starts.map((at) => text.slice(0, at).split('\n').length));
        expect(isShown({ quote, line: other }, text)).toBe(lines.has(other));
      }),
      { numRuns },
    );
  });

  test('is refused in every text that does not have it', () => {
    fc.assert(
      fc.property(
        someText.filter((quote) => quote !== ''),
        someText,
        (quote, text) => {
          expect(isShown({ quote }, text)).toBe(text.includes(quote));
        },
      ),
      { numRuns },
    );
  });

  test('is unchanged by every edit beside it, and changed by every edit of it', () => {
    fc.assert(
      fc.property(quoted, someText, someText, ({ before, quote, after, text }, left, right) => {
        const timesIn = (whole: string): number => whole.split(quote).length - 1;
        const [then, beside] = [placeOf(text), before + left + quote + right + after];
        if (timesIn(beside) >= timesIn(text)) {
          expect(sinceQuoted(quote, then, placeOf(beside))).toBe('unchanged');
        }
        const without = text.replaceAll(quote, '');
        const since = without.includes(quote) ? /changed$/ : /^changed$/;
        expect(sinceQuoted(quote, then, placeOf(without))).toMatch(since);
        expect(sinceQuoted(quote, then, then)).toBe('unchanged');
        expect(sinceQuoted(quote, then, null)).toBe('gone');
      }),
      { numRuns },
    );
  });

  test('of which one of several is gone has changed; one that was removed has once it is back', () => {
    expect(sinceQuoted('x', placeOf('x and x'), placeOf('only x'))).toBe('changed');
    expect(sinceQuoted('x', placeOf('without'), placeOf('without'))).toBe('unchanged');
    expect(sinceQuoted('x', placeOf('without'), placeOf('with x'))).toBe('changed');
    expect(sinceQuoted('x', null, placeOf('with x'))).toBe('unchanged');
  });

  test('is also looked for as a display masks it', () => {
    const text = `token: ghp_${'k3Yx'.repeat(9)}`;
    const masked = maskAtGate(text, { gate: 'read in another process' }).view;
    expect(masked).not.toBe(text);
    expect(isShown({ quote: masked, line: 1 }, text)).toBe(true);
    expect(sinceQuoted(masked, placeOf(text), placeOf(text))).toBe('unchanged');
    expect(sinceQuoted(masked, placeOf(text), placeOf('none'))).toBe('changed');
  });
});

test('a rejection is told as its feedback, and each comment below what it quotes', () => {
  const comments = [
    { in: 'TAS', quote: 'a\nb', line: 2, text: 'Why?' },
    { in: '', quote: 'c', text: 'How?' },
  ];
  expect(rejectionText({ feedback: 'No.', comments })).toBe(
    'No.\n\nOn TAS, line 2:\n> a\n> b\nWhy?\n\nOn what was shown:\n> c\nHow?',
  );
  expect(rejectionText({ feedback: ' ', comments: comments.slice(1) })).toBe('On what was shown:\n> c\nHow?');
  expect(rejectionText({})).toBeNull();
});
