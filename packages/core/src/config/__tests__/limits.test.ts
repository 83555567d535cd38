import { constants } from 'node:buffer';
import { describe, expect, test } from 'vitest';
import { DEFAULT_LIMITS, type LimitName, MAX_LIMITS, tooLarge, validLimits } from '../limits.ts';

const NAMES = Object.keys(DEFAULT_LIMITS) as LimitName[];
const MIB = 1024 * 1024;

describe('limits', () => {
  test('are 8 MiB a write and 64 MiB a channel where nothing is said', () => {
    expect(validLimits()).toEqual(DEFAULT_LIMITS);
    expect(DEFAULT_LIMITS).toMatchObject({ valueBytes: 8 * MIB, channelBytes: 64 * MIB });
    expect(validLimits({ depth: 3 })).toEqual({ ...DEFAULT_LIMITS, depth: 3 });
  });

  test.for(NAMES)('%s is a whole number from 1 to the most that can be kept', (name) => {
    for (const bad of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '9', null, MAX_LIMITS[name] + 1]) {
      expect(() => validLimits({ [name]: bad })).toThrow(RangeError);
    }
    expect(validLimits({ [name]: MAX_LIMITS[name] })[name]).toBe(MAX_LIMITS[name]);
    expect(MAX_LIMITS[name]).toBeGreaterThan(DEFAULT_LIMITS[name]);
  });

  test('no single value may have more than SQLite and Node.js take', () => {
    const { checkpointBytes: _, ...single } = MAX_LIMITS;
    expect(Math.max(...Object.values(single))).toBeLessThanOrEqual(
      Math.min(1_000_000_000, constants.MAX_STRING_LENGTH),
    );
  });

  test('of another name are refused: a typing error would leave the default in force', () => {
    expect(() => validLimits({ valueByte: 1 } as object)).toThrow('limits.valueByte');
  });

  test('beyond what can be kept are not named as a way out', () => {
    const { remedy } = tooLarge({ what: 'It', limit: 'valueBytes', bytes: MAX_LIMITS.valueBytes + 1 });
    expect(remedy).not.toContain('raise');
  });
});
