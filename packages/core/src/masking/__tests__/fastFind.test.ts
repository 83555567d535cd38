import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HARMLESS } from '../../../test/masking-heldout/harmless.ts';
import { SHAPES } from '../../../test/masking-heldout/shapes.ts';
import { BROAD_RULES, KEY_NAME_RULES } from '../broadRules.ts';
import { encodedRules } from '../encodedTexts.ts';
import { type TextEdit, textBecame } from '../fastFind.ts';
import type { AnchoredRules, MaskRule } from '../MaskRule.ts';
import { URL_CREDENTIAL_RULES } from '../urlCredentials.ts';
import { NEWER_RULES, VENDOR_RULES } from '../vendorTokens.ts';

// What is found sooner is what the pattern finds.

const SWIFT = [...encodedRules(() => false), ...VENDOR_RULES, ...URL_CREDENTIAL_RULES, ...BROAD_RULES].filter(
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
    'runs of %s finds what its pattern finds',
    ([, { pattern, find }]) => {
      fc.assert(
        fc.property(text, (given) => {
          expect(placesOf(find?.(given) ?? [])).toEqual(placesOf(given.matchAll(pattern)));
        }),
        { numRuns: 100 },
      );
    },
  );

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
        starts.in(filler);
        expect(found).toEqual(ANCHORED.map((rules) => rules.starts.in(after)));
      }),
      { numRuns: 100 },
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
                : rulesFor(word).filter(({ pattern }) => {
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
