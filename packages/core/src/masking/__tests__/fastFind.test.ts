import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HARMLESS } from '../../../test/masking-heldout/harmless.ts';
import { SHAPES } from '../../../test/masking-heldout/shapes.ts';
import { ALL_NAME_RULES, BROAD_RULES, KEY_NAME_RULES } from '../broadRules.ts';
import { encodedRules } from '../encodedTexts.ts';
import { holdsLiteral, type TextEdit, textBecame } from '../fastFind.ts';
import type { AnchoredRules, MaskRule } from '../MaskRule.ts';
import { URL_CREDENTIAL_RULES } from '../urlCredentials.ts';
import { NEWER_RULES, VENDOR_RULES } from '../vendorTokens.ts';

// What is found sooner is what the pattern finds.

const SWIFT = [...encodedRules(() => true), ...VENDOR_RULES, ...URL_CREDENTIAL_RULES, ...BROAD_RULES].filter(
  (rule): rule is MaskRule => 'find' in rule && rule.find !== undefined,
);
const ANCHORED: readonly AnchoredRules[] = [...VENDOR_RULES, ...NEWER_RULES, ...KEY_NAME_RULES].filter(
  (rule) => 'starts' in rule,
);

const text = fc
  .array(
    fc.oneof(
      fc.constantFrom(...SHAPES.map((one) => one.text), ...HARMLESS.map((one) => one.text)),
      fc.stringMatching(/^[A-Za-z0-9+/_.:=!~-]{0,60}$/),
      fc.string({ unit: 'binary' }),
      fc.constantFrom(
        '\u001b[32m',
        '%3D',
        '\\n',
        '\u009b1m',
        'пароль',
        '==',
        '30'.repeat(20),
        'xoxb-',
        'TOKEN',
      ),
    ),
    { maxLength: 8 },
  )
  .map((parts) => parts.join(''));

const placesOf = (matches: Iterable<RegExpExecArray>): readonly (readonly [number, string])[] =>
  [...matches].map(({ 0: whole, index }) => [index, whole]);

describe('a faster way to find', () => {
  test.for(SWIFT.map((rule, index) => [`${rule.name} ${index}`, rule] as const))(
    'runs of %s finds what its pattern finds, but for what the rule leaves',
    ([, { pattern, find, replace }]) => {
      fc.assert(
        fc.property(text, (given) => {
          const found = placesOf(find?.(given) ?? []);
          const left = [...given.matchAll(pattern)].filter((match) => replace(match, given) === match[0]);
          const isLeft = ([at]: readonly [number, string]): boolean => left.some(({ index }) => index === at);
          const all = placesOf(given.matchAll(pattern));
          expect(found.filter((place) => !isLeft(place))).toEqual(all.filter((place) => !isLeft(place)));
          expect(all).toEqual(expect.arrayContaining([...found]));
        }),
        { numRuns: 100 },
      );
    },
  );

  test('literals finds none only where there is none', () => {
    fc.assert(
      fc.property(text, text, fc.nat(), fc.integer({ min: 2, max: 9 }), (given, other, from, length) => {
        const at = from % (given.length + 1);
        for (const literal of [given.slice(at, at + length), other.slice(0, length)]) {
          // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII
          if (!/^[\u0000-\u007f]{2,}$/.test(literal)) continue;
          expect(holdsLiteral(given, literal) || !given.includes(literal)).toBe(true);
        }
      }),
      { numRuns: 200 },
    );
  });

  test('names is not asked of a text that goes on as after no name, or with a mark alone', () => {
    const words =
      'token password api_key auth_data secret pass key my_key sig salt-data session-id credential'.split(
        ' ',
      );
    const part = fc.constantFrom(
      ...[
        '=',
        ':',
        ': ',
        ' ',
        '"',
        "'",
        '\\',
        '->',
        ', ',
        '(',
        '>',
        '%3d',
        ']',
        '_',
        '-',
        '.',
        '\u001b[1m',
        '\n',
      ],
      ...[
        '[REDACTED:github]',
        '[REDACTED]',
        'hunter2',
        'Xk29fLq81ZmP4tRv',
        'value',
        'credential("a", "x1y2z3w4")',
      ],
    );
    const [, , { starts, wordAt, rulesFor }] = KEY_NAME_RULES as readonly AnchoredRules[] as [
      never,
      never,
      AnchoredRules,
    ];
    const every = ALL_NAME_RULES;
    fc.assert(
      fc.property(fc.constantFrom(...words), fc.array(part, { maxLength: 6 }), (word, parts) => {
        const given = `a ${word}${parts.join('')}`;
        for (const index of starts.in(given)) {
          const found = wordAt(given, index);
          if (found === null) continue;
          const asked = new Set(rulesFor(found, given, index));
          const changing = every.filter((rule) => {
            rule.pattern.lastIndex = index;
            const match = rule.pattern.exec(given);
            return match !== null && rule.replace(match, given) !== match[0];
          });
          expect(changing.filter((rule) => !asked.has(rule)).map(({ name }) => name)).toEqual([]);
        }
      }),
      { numRuns: 1_000 },
    );
  });

  test('words in a text that was changed finds what it would in the new one', () => {
    const [{ starts }] = ANCHORED as [AnchoredRules];
    const edited = fc.array(fc.tuple(text, text, fc.nat(12)), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(edited, (parts) => {
        const filler = 'some words, a %3Dxoxb- and more\n'.repeat(200);
        let [before, after] = [filler, filler];
        const edits: TextEdit[] = [];
        for (const [kept, changed, length] of parts) {
          const [was, now] = [changed.slice(0, length), `[${changed.slice(length, 2 * length)}`];
          edits.push({ at: before.length, length: was.length, now: now.length });
          before += was + kept;
          after += now + kept;
        }
        starts.in(before);
        textBecame(before, after, edits);
        const found = ANCHORED.map((rules) => rules.starts.in(after));
        expect(['some words', 'and more', 'xoxb-'].filter((word) => !holdsLiteral(after, word))).toEqual([]);
        starts.in(filler);
        expect(found).toEqual(ANCHORED.map((rules) => rules.starts.in(after)));
      }),
      { numRuns: 600 }, // numbers of texts begin anew at 255
    );
  });

  test('words has every place where one begins that a rule could match at', () => {
    expect(ANCHORED).toHaveLength(5);
    fc.assert(
      fc.property(text, (given) => {
        for (const { starts, wordAt, rulesFor } of ANCHORED) {
          const found = new Set(starts.in(given));
          for (let index = 0; index < given.length; index += 1) {
            const word = found.has(index) ? null : wordAt(given, index);
            const missed =
              word === null
                ? []
                : rulesFor(word, given, index).filter(({ pattern }) => {
                    pattern.lastIndex = index;
                    return pattern.test(given);
                  });
            expect(missed.map(({ name }) => name)).toEqual([]);
          }
        }
      }),
      { numRuns: 100 },
    );
  });
});
