import {
  array,
  assert,
  constantFrom,
  oneof,
  property,
  string,
  stringMatching,
  uniqueArray,
} from 'fast-check';
import { describe, expect, it } from 'vitest';
import { howMany } from '../../../../core/test/support/howMany.ts';
import { tried } from '../../../../core/test/support/tried.ts';
import { artifactLines } from '../../render/renderArtifact.ts';
import { lineText } from '../Line.ts';
import { maskedJson } from '../Output.ts';
import { oneLine, visibleJson, visibleText } from '../visible.ts';

/** Invisible, moving or deceiving, and what the escape itself is made of. */
const NASTY = [
  ...['\u0000', '\u0007', '\u001b', '\r', '\u007f', '\u0085', '\u009b', '\u00a0', '\u00ad', '\u034f'],
  ...['\u061c', '\u115f', '\u1160', '\u180e', '\u200b', '\u200d', '\u200e', '\u202e', '\u2028', '\u2029'],
  ...['\u2060', '\u2066', '\u2069', '\u2800', '\u3000', '\u3164', '\ufe0f', '\ufeff', '\uffa0', '\ufff9'],
  ...['\u{e0001}', '\u{e0041}', '\u{e007f}', '\u{e0100}', '\ud800', '\udc00', '\uffff', '\ufdd1'],
];
const PLAIN = ['a', ' ', '\n', '\t', '⟨', '⟩', 'U+', '200B', '000A', '⟨U+200B⟩', '\\u200b', '\\', '"'];

const texts = array(oneof(constantFrom(...NASTY), constantFrom(...PLAIN)), { maxLength: 8 }).map((parts) =>
  parts.join(''),
);
const pairs = uniqueArray(
  oneof(texts, string({ unit: 'binary', maxLength: 6 }), stringMatching(/^⟨U\+0?20/)),
  {
    minLength: 2,
    maxLength: 2,
  },
);
const runs = { numRuns: howMany('DEVS_VISIBLE_TEXTS', 1_000) };

describe('what is shown', () => {
  it.each(NASTY)('spells out %j', (char) => {
    const code = (char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    expect(visibleText(`a${char}b`)).toBe(`a⟨U+${code}⟩b`);
    expect(visibleJson(JSON.stringify(char))).toMatch(/^"[\x20-\x7e]+"$/);
  });

  it('leaves alone what can be seen', () => {
    const text = 'Größe: 12 €\n\tdie „Höhe“ — 寸法 📏 عربى ⟨x⟩ é';
    expect(visibleText(text)).toBe(text);
  });

  it('is never the same for two different texts, in many lines and in one', ({ task }) => {
    let ways = 0;
    assert(
      property(pairs, ([left = '', right = '']) => {
        ways += 1;
        tried(task, { ways });
        expect(visibleText(left)).not.toBe(visibleText(right));
        expect(visibleText(oneLine(left))).not.toBe(visibleText(oneLine(right)));
        expect(visibleText(oneLine(left))).not.toContain('\n');
      }),
      runs,
    );
  });

  it('is never the same for two different artifacts of an own graph', ({ task }) => {
    let ways = 0;
    const shown = (artifact: unknown): string =>
      artifactLines(artifact)
        .map((line) => visibleText(lineText(line)))
        .join('\n');
    assert(
      property(pairs, ([left = '', right = '']) => {
        ways += 1;
        tried(task, { ways });
        expect(shown({ text: left })).not.toBe(shown({ text: right }));
      }),
      runs,
    );
  });

  it('as JSON is the same JSON, in characters that can be seen', ({ task }) => {
    let ways = 0;
    assert(
      property(texts, (text) => {
        ways += 1;
        tried(task, { ways });
        const json = maskedJson({ [text]: [text] }, 2);
        expect(JSON.parse(json)).toEqual({ [text]: [text] });
        expect(visibleText(json)).toBe(json.replace(/⟨(?=U\+)/g, '⟨U+27E8⟩'));
      }),
      runs,
    );
  });
});
