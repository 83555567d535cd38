import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LineMasker } from '../../src/masking/LineMasker.ts';
import { maskPrecise, maskSensitiveData } from '../../src/masking/maskSensitiveData.ts';
import { SecretRegistry } from '../../src/masking/SecretRegistry.ts';
import { HARMLESS } from '../masking-heldout/harmless.ts';
import { SHAPES } from '../masking-heldout/shapes.ts';
import { howMany } from '../support/howMany.ts';
import { tried } from '../support/tried.ts';
import { HELD_OUT_FAMILIES, heldOutAlarms, heldOutRecall, leaves } from './corpus/heldOutSet.ts';

const RUNS = howMany('DEVS_MASK_TEXTS', 300);

const registry = new SecretRegistry();
const precise = (text: string): string => maskPrecise(text, registry).value;
const broad = (text: string): string => maskSensitiveData(text, registry);

describe('the precise rules, on texts they were not written for', () => {
  test('mask 97 % of what its own form gives away, and change no harmless text', async ({
    annotate,
    task,
  }) => {
    const seen = { ways: 0, open: 0 };
    for (const family of HELD_OUT_FAMILIES) {
      const { masked, of } = heldOutRecall(precise, family);
      await annotate(`${family}: ${masked} of ${of}`);
      seen.ways += of;
      seen.open += of - masked;
      tried(task, seen);
      if (family === 'own-shape' || family === 'key-block') expect(masked / of).toBeGreaterThanOrEqual(0.97);
    }
    expect(heldOutAlarms(precise)).toEqual([]);
  });
});

describe('the broad rules, on texts they were not written for', () => {
  test('mask 99 % of all, and change at most 1 % of the harmless texts', async ({ annotate, task }) => {
    const recalls = HELD_OUT_FAMILIES.map((family) => heldOutRecall(broad, family));
    const [masked, of] = [recalls.reduce((sum, one) => sum + one.masked, 0), SHAPES.length];
    tried(task, { ways: of, open: of - masked });
    const alarms = heldOutAlarms(broad).length;
    await annotate(`${masked} of ${of}, ${alarms} false alarms in ${HARMLESS.length}`);
    expect(masked / of).toBeGreaterThanOrEqual(0.99);
    expect(alarms / HARMLESS.length).toBeLessThanOrEqual(0.01);
  });
});

describe('any composition of secrets and harmless texts', () => {
  const piece = fc.oneof(fc.constantFrom(...SHAPES), fc.constantFrom(...HARMLESS), fc.string());
  const glue = fc.constantFrom('\n', ' ', '', ', ', '"', '=', ': ', '\\n', '&', '\u001b[0m');
  const composition = fc.tuple(fc.array(piece, { minLength: 1, maxLength: 6 }), glue);
  type Pieces = readonly (string | { readonly text: string })[];
  const compose = (pieces: Pieces, between: string): string =>
    pieces.map((one) => (typeof one === 'string' ? one : one.text)).join(between);

  test('loses by the broad rules whatever it loses by the precise ones', ({ task }) => {
    let ways = 0;
    fc.assert(
      fc.property(composition, ([pieces, between]) => {
        const text = compose(pieces, between);
        const [byPrecise, byBroad] = [precise(text), broad(text)];
        ways += 1;
        tried(task, { ways });
        for (const one of pieces) {
          if (typeof one === 'string' || !('secrets' in one)) continue;
          const entry = { ...one, text };
          if (!leaves(byPrecise, entry)) expect(leaves(byBroad, entry)).toBe(false);
        }
      }),
      { numRuns: RUNS },
    );
  });

  test('is changed no more when it is masked again, by either rules', ({ task }) => {
    let ways = 0;
    fc.assert(
      fc.property(composition, ([pieces, between]) => {
        const text = compose(pieces, between);
        const [byPrecise, byBroad] = [precise(text), broad(text)];
        ways += 1;
        tried(task, { ways });
        expect(precise(byPrecise)).toBe(byPrecise);
        expect(broad(byBroad)).toBe(byBroad);
        expect(precise(byBroad)).toBe(byBroad);
      }),
      { numRuns: RUNS },
    );
  });

  test('loses, shown line by line while it comes, whatever it loses as a whole', ({ task }) => {
    let ways = 0;
    fc.assert(
      fc.property(composition, fc.integer({ min: 1, max: 300 }), ([pieces, between], size) => {
        const text = compose(pieces, between);
        ways += 1;
        tried(task, { ways });
        const masker = new LineMasker();
        const cut = text.match(new RegExp(`[\\s\\S]{1,${size}}`, 'g')) ?? [];
        const shown = cut.map((one) => {
          masker.push(one);
          return masker.take();
        });
        const out = [...shown, masker.end()].join('');
        for (const one of pieces) {
          if (typeof one === 'string' || !('secrets' in one)) continue;
          const entry = { ...one, text };
          if (!leaves(broad(text), entry)) expect(leaves(out, entry)).toBe(false);
        }
      }),
      { numRuns: Math.ceil(RUNS / 3) },
    );
  });
});
