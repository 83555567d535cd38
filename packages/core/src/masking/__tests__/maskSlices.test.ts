import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HARMLESS } from '../../../test/masking-heldout/harmless.ts';
import { SHAPES } from '../../../test/masking-heldout/shapes.ts';
import { howMany } from '../../../test/support/howMany.ts';
import { tried } from '../../../test/support/tried.ts';
import { runToEnd } from '../inTurns.ts';
import { maskSensitiveData } from '../maskSensitiveData.ts';
import { maskInTurns } from '../maskView.ts';
import { SecretRegistry } from '../SecretRegistry.ts';
import { maskSlices } from '../safeCut.ts';

const registry = new SecretRegistry();
/** Of texts shorter than two slices, as a whole. */
const mask = (text: string): string => maskSensitiveData(text, registry);
const RUNS = howMany('DEVS_MASK_TEXTS', 200);

describe('a text that is masked in slices', () => {
  const piece = fc.oneof(
    fc.constantFrom(...SHAPES.map(({ text }) => text)),
    fc.constantFrom(...HARMLESS.map((one) => (typeof one === 'string' ? one : one.text))),
    fc.string(),
  );
  const glue = fc.constantFrom('\n', ' ', ', ', '"', '\n\n', '\\n', '\u001b[0m');
  const composed = fc.tuple(fc.array(piece, { minLength: 4, maxLength: 16 }), glue);

  test('is masked as the whole is, wherever it is cut', ({ task }) => {
    let ways = 0;
    fc.assert(
      fc.property(composed, fc.integer({ min: 50, max: 400 }), ([pieces, between], slice) => {
        const text = pieces.join(between);
        ways += 1;
        tried(task, { ways });
        expect(runToEnd(maskSlices(text, mask, { slice: 4 * slice, reach: 4_000 }))).toBe(mask(text));
      }),
      { numRuns: RUNS },
    );
  });

  test.for([
    ['one character', 'a'],
    ['hex', '0f1e2d3c4b5a69788796a5b4c3d2e1f0'],
    ['base64', 'q7Rk2mWx9LtB4vZs8NdY/+Ab3dEfGh1'],
    ['base64 of a text', Buffer.from('a text in base64, nothing else').toString('base64')],
    ['colours', '\u001b[32m\u001b[0m'],
  ])('has one mark at most where there is no place to cut: %s', ([, unit = '']) => {
    const text = unit.repeat(3_000);
    const sliced = runToEnd(maskSlices(text, mask, { slice: 1_024, reach: 256 }));
    expect(sliced).toBe(mask(text));
  });

  test.for([
    ['nospaceshere', 8_000_000],
    ['0f1e2d3c4b5a6978', 8_000_000],
    ['\u001b[32m', 2_000_000],
    ['"a1B2": 3,', 2_000_000],
  ] as const)('of megabytes comes back, and the event loop turns meanwhile: %s', async ([unit, size]) => {
    let turns = 0;
    let isOver = false;
    const turn = (): void => {
      turns += 1;
      if (!isOver) setImmediate(turn);
    };
    setImmediate(turn);
    const text = unit.repeat(size / unit.length);
    const masked = await maskInTurns(text);
    isOver = true;
    expect(turns).toBeGreaterThan(3);
    expect(masked === text || masked === '[REDACTED:token]').toBe(true);
  });

  test.for(['\n', '\r\n'])('that is bytes in lines is judged by its beginning: line end %j', (end) => {
    const bytes = createHash('shake256', { outputLength: 40_000 }).update('bytes').digest('base64');
    const lines = (bytes.match(/.{76}/g) ?? []).join(end);
    const masked = mask(`before${end}${lines}${end}ghp_${'a1B2c3D4e5'.repeat(4)}${end}after`);
    const rest = masked.split(end).slice(10);
    expect(new Set(rest.slice(0, -2))).toEqual(new Set(['[REDACTED:token]']));
    expect(rest.slice(-2)).toEqual(['[REDACTED:github]', 'after']);
  });

  test('that is a list of hashes, of words or of a few lines keeps each line that is none', () => {
    const digest = (name: number): Buffer => createHash('sha256').update(String(name)).digest();
    const hashes = Array.from({ length: 60 }, (_, name) => digest(name).toString('hex'));
    const words = Array.from(
      { length: 60 },
      (_, name) => `Some${'wordsinsmallletters'.repeat(4)}`.slice(0, 62) + (10 + name),
    );
    const token = digest(1).toString('base64url').repeat(2).slice(0, 64);
    for (const lines of [hashes, words, [...hashes, token, ...hashes]]) {
      const masked = mask(lines.join('\n'));
      expect(masked.split('\n').filter((line) => line !== '[REDACTED:token]')).toEqual(
        lines.filter((line) => line !== token),
      );
    }
  });

  test('keeps what is around a run of bytes, and a secret beside it', () => {
    const bytes = 'q7Rk2mWx9LtB4vZs8NdY'.repeat(20_000);
    const token = `ghp_${'a1B2c3D4e5'.repeat(4)}`.slice(0, 40);
    const text = `${'a line\n'.repeat(40_000)}${token} ${bytes} ${token}\ndone`;
    const masked = mask(text);
    expect(masked).toBe(
      `${'a line\n'.repeat(40_000)}[REDACTED:github] [REDACTED:token] [REDACTED:github]\ndone`,
    );
    expect(mask(masked)).toBe(masked);
  });
});
