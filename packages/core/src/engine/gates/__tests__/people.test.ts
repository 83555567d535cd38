import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isSameId, isSamePrincipal, namedTwice, principalOf } from '../principals.ts';

const human = (id: string) => ({ kind: 'human', id }) as const;

/** How a person's id may be spelled so that a reader takes it for the same one. */
const SAME: readonly (readonly [string, string])[] = [
  ['ada', 'Ada'],
  ['ada@example.org', 'ADA@Example.ORG'],
  ['zoë', 'zoe\u0308'],
  ['ada', '\uff41\uff44\uff41'],
  ['strasse', 'STRAßE'],
  ['ΝΊΚΟΣ', 'νίκος'],
  ['ﬁnn', 'finn'],
  ['ada b', 'ada\u00a0b'],
];

describe('an id', () => {
  test.for(SAME)('names one person: %j and %j', ([a, b]) => {
    expect(isSameId(a, b)).toBe(true);
    expect(namedTwice([a, 'somebody else', b])).toBe(b);
    expect(isSamePrincipal(human(a), human(b))).toBe(true);
    expect(isSamePrincipal(human(a), { kind: 'agent', id: a })).toBe(false);
  });

  test.for([
    ['ada', 'adam'],
    ['ada', 'аda'], // the first letter is Cyrillic: look-alikes stay two people
    ['zoe', 'zoë'],
  ] as const)('names two people: %j and %j', ([a, b]) => {
    expect(isSameId(a, b)).toBe(false);
    expect(namedTwice([a, b])).toBeUndefined();
  });

  test('of a policy or an agent is compared as it is', () => {
    expect(isSamePrincipal({ kind: 'agent', id: 'a' }, { kind: 'agent', id: 'A' })).toBe(false);
  });

  test('is the same whatever its case and form, and comparing is an equivalence', () => {
    const ids = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 });
    const form = fc.constantFrom('NFC', 'NFD', 'NFKC', 'NFKD');
    fc.assert(
      fc.property(ids, ids, form, (a, b, to) => {
        expect(isSameId(a, a.normalize(to))).toBe(true);
        expect(isSameId(a, a.toUpperCase())).toBe(true);
        expect(isSameId(a, b)).toBe(isSameId(b, a));
        expect(isSameId(a, b)).toBe(isSameId(a.toUpperCase(), b.normalize(to)));
      }),
    );
  });
});

describe('a human', () => {
  test.for([
    ' ada',
    'ada ',
    'ada\u00a0',
    '\u3000ada',
    'ada\n',
    'a\u200bda', // no width
    'a\u00adda', // soft hyphen
    'ada\u{e0061}', // tag
    'ada\ufe0f', // variation selector
    '\u202eada', // direction
    'ada\u3164', // filler
    'ada\u2800', // empty braille
    'a\0da',
    'ada\ud800',
    'human:ada',
    'Agent:ada',
    'ｐｏｌｉｃｙ:ada',
    'human :ada',
  ])('is not named by %j', (id) => {
    expect(() => principalOf(human(id))).toThrow(expect.objectContaining({ code: 'INVALID_PRINCIPAL' }));
  });

  test.for([
    'ada',
    'Ada Lovelace',
    'zoe\u0308',
    'O’Neill',
    'ada@example.org',
    '日本 太郎',
    'مریم',
    'team:ada',
    '🦊',
  ])('may be called %j, and that stays as it is', (id) => {
    expect(principalOf(human(id))).toEqual(human(id));
  });

  test('a policy or an agent may have any id', () => {
    for (const kind of ['policy', 'agent'] as const)
      expect(principalOf({ kind, id: 'agent:x ' })).toEqual({ kind, id: 'agent:x ' });
  });
});
