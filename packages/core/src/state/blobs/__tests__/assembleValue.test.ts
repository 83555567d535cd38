import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { assembleValue, commonEnds, type SplicePart } from '../splices.ts';

/** Values over two letters share much; the lengths cross the block size of the comparison. */
const value = fc
  .tuple(
    fc.array(fc.constantFrom(97, 98), { maxLength: 30 }),
    fc.constantFrom(0, 1, 4095, 4096, 9000),
    fc.array(fc.constantFrom(97, 98), { maxLength: 30 }),
  )
  .map(
    ([head, length, tail]) =>
      new Uint8Array(Buffer.concat([Buffer.from(head), Buffer.alloc(length, 'x'), Buffer.from(tail)])),
  );

function spliceOf(base: Uint8Array, next: Uint8Array): SplicePart {
  const { prefix, suffix } = commonEnds(base, next);
  return { prefix, suffix, size: next.length, bytes: next.subarray(prefix, next.length - suffix) };
}

describe('commonEnds', () => {
  test('finds the longest ends that do not overlap', () => {
    fc.assert(
      fc.property(value, value, (a, b) => {
        const { prefix, suffix } = commonEnds(a, b);
        const shorter = Math.min(a.length, b.length);
        expect(prefix + suffix).toBeLessThanOrEqual(shorter);
        expect(Buffer.compare(a.subarray(0, prefix), b.subarray(0, prefix))).toBe(0);
        const [endA, endB] = [a.subarray(a.length - suffix), b.subarray(b.length - suffix)];
        expect(Buffer.compare(endA, endB)).toBe(0);
        if (prefix < shorter) expect(a[prefix]).not.toBe(b[prefix]);
        if (prefix + suffix < shorter) expect(a.at(-suffix - 1)).not.toBe(b.at(-suffix - 1));
      }),
      { numRuns: 300 },
    );
  });

  test.each([
    ['equal values', 'abc', 'abc', { prefix: 3, suffix: 0 }],
    ['an empty one', '', 'abc', { prefix: 0, suffix: 0 }],
    ['a repeated letter', 'aa', 'aaa', { prefix: 2, suffix: 0 }],
    ['a change in the middle', 'abXcd', 'abYYcd', { prefix: 2, suffix: 2 }],
  ])('of %s', (_, a, b, ends) => {
    expect(commonEnds(Buffer.from(a), Buffer.from(b))).toEqual(ends);
  });
});

describe('assembleValue', () => {
  test('gives back the last value of any history', () => {
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 12 }), (history) => {
        const [first = new Uint8Array(), ...later] = history;
        const splices = later.map((next, index) => spliceOf(history[index] ?? first, next));
        const full = { size: first.length, bytes: first };
        expect(Buffer.compare(assembleValue(splices.toReversed(), full), history.at(-1) ?? first)).toBe(0);
      }),
      { numRuns: 300 },
    );
  });

  test('refuses parts that do not fit together', () => {
    const full = { size: 3, bytes: Buffer.from('abc') };
    const splice = { prefix: 1, suffix: 1, size: 3, bytes: Buffer.from('X') };
    expect(Buffer.from(assembleValue([splice], full)).toString()).toBe('aXc');
    for (const wrong of [
      { ...splice, size: 4 },
      { ...splice, prefix: 3, suffix: 3, size: 7 },
      { ...splice, prefix: -1, suffix: 3 },
    ]) {
      expect(() => assembleValue([wrong], full)).toThrow(RangeError);
    }
    expect(() => assembleValue([splice], { ...full, bytes: Buffer.from('ab') })).toThrow(RangeError);
  });
});
