import { describe, expect, test } from 'vitest';
import { maskPrecise, maskSensitiveData } from '../../src/masking/maskSensitiveData.ts';
import { SecretRegistry } from '../../src/masking/SecretRegistry.ts';
import { scrub } from '../../src/masking/scrub.ts';
import { CLEAN_TEXTS } from './corpus/cleanTexts.ts';
import { FAMILIES, HELD_OUT, NEWER, TUNING } from './corpus/families.ts';
import { falseAlarmsOf, recallOf } from './corpus/measure.ts';

const registry = new SecretRegistry();
const precise = (text: string): string => maskPrecise(text, registry).value;
const broad = (text: string): string => maskSensitiveData(text, registry);

describe('the corpus', () => {
  test('is large, and split before rules were written for it', () => {
    expect(FAMILIES.length).toBeGreaterThanOrEqual(200);
    expect(CLEAN_TEXTS.length).toBeGreaterThanOrEqual(100);
    expect(Math.abs(TUNING.length - HELD_OUT.length)).toBeLessThanOrEqual(1);
    expect(FAMILIES.every(({ samples }) => samples.length >= 2)).toBe(true);
  });
});

describe('the broad rules', () => {
  test('mask at least 95 % of the families they were not tuned on', () => {
    const { families, of } = recallOf(broad, HELD_OUT);
    expect(families / of).toBeGreaterThanOrEqual(0.95);
  });

  test('mask every family they were tuned on', () => {
    expect(recallOf(broad, [...TUNING, ...NEWER]).misses).toEqual([]);
  });

  test('change no clean text', () => {
    expect(falseAlarmsOf(broad)).toEqual([]);
  });

  test('change nothing when they are applied again', () => {
    for (const { samples } of FAMILIES) {
      for (const { text } of samples) expect(broad(broad(text))).toBe(broad(text));
    }
  });
});

describe('scrubbing', () => {
  const scrubbed = (text: string): string => scrub(text, registry).value;

  test('takes out what begins like nothing else, and changes no clean text', () => {
    expect(recallOf(scrubbed, NEWER).misses).toEqual([]);
    const { families, of } = recallOf(scrubbed, TUNING, ['shape', 'place']);
    expect(families / of).toBeGreaterThanOrEqual(0.8);
    expect(falseAlarmsOf(scrubbed)).toEqual([]);
  });

  test('leaves the marks of all rules alone', () => {
    for (const { samples } of FAMILIES) {
      for (const { text } of samples) expect(scrubbed(broad(text))).toBe(broad(text));
    }
  });
});

describe('the precise rules', () => {
  test('mask every token shape, key block and URL they were tuned on', () => {
    expect(recallOf(precise, TUNING, ['shape', 'place']).misses).toEqual([]);
  });

  test('change no clean text', () => {
    expect(falseAlarmsOf(precise)).toEqual([]);
  });

  test('leave the marks of the broad rules alone', () => {
    for (const { samples } of FAMILIES) {
      for (const { text } of samples) expect(precise(broad(text))).toBe(broad(text));
    }
  });

  test('change nothing when they are applied again', () => {
    for (const { samples } of FAMILIES) {
      for (const { text } of samples) expect(precise(precise(text))).toBe(precise(text));
    }
  });
});
