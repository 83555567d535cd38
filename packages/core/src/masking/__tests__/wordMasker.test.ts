import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LineMasker } from '../LineMasker.ts';
import { maskSensitiveData } from '../maskSensitiveData.ts';

const TOKEN = `ghp_${'a1B2c3D4e5'.repeat(4)}`.slice(0, 40);

/** What is shown of a text after each piece of it. */
function shown(pieces: readonly string[]): readonly string[] {
  const masker = new LineMasker({ by: 'word' });
  const told = pieces.map((piece) => {
    masker.push(piece);
    return masker.take();
  });
  return [...told, masker.end()];
}

/** Parts of them, too. */
const SECRETS = [TOKEN.slice(4, 12), 'hunter22'];

const PARTS = fc.constantFrom(
  ...[
    'tea',
    'and',
    ' ',
    ' ',
    '\n',
    '"',
    ': ',
    '=',
    'password',
    'api_key',
    'Bearer ',
    TOKEN,
    'hunter22hunter',
    '.',
  ],
);

describe('a text that is shown word by word', () => {
  test('shows a word once it is whole', () => {
    expect(shown(['The', ' te', 'a is', ' hot.'])).toEqual(['', 'The ', 'tea ', 'is ', 'hot.']);
  });

  test('shows what is quoted once the quote is closed', () => {
    expect(shown(['say "two ', 'words" ', 'now'])).toEqual(['say ', '"two words" ', '', 'now']);
    expect(shown(['say "two\n', 'words" ', 'now']).join('')).toBe('say "two\nwords" now');
  });

  test('shows no secret that is masked in the whole, however the text is cut', () => {
    const texts = fc.array(PARTS, { maxLength: 12 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(texts, fc.array(fc.nat(200), { maxLength: 8 }), (text, cuts) => {
        const ends = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].sort((a, b) => a - b);
        const pieces = [...ends, text.length].map((end, at) => text.slice(ends[at - 1] ?? 0, end));
        const whole = shown(pieces).join('');
        const masked = maskSensitiveData(text);
        for (const secret of SECRETS) if (!masked.includes(secret)) expect(whole).not.toContain(secret);
        // What looks like the value of a password may turn out to be none: it was masked then.
        if (masked === text && !whole.includes('[REDACTED')) expect(whole).toBe(text);
      }),
    );
  });
});
