import { describe, expect, test } from 'vitest';
import { RecentMap } from '../../../values/RecentMap.ts';
import { ValueBudget, ValueCache } from '../ValueCache.ts';

const hash = (number: number): Uint8Array => new Uint8Array(32).fill(number);
const sized = (size: number) => {
  const bytes = new Uint8Array(size / 2);
  const stored = { size, encoding: 'raw' as const, baseId: null, prefix: null, suffix: null, bytes };
  return { bytes, stored, fullSize: size, chainBytes: 0 };
};

describe('ValueCache', () => {
  test('keeps at most its capacity in bytes and drops what was used longest ago', () => {
    const cache = new ValueCache(100);
    for (const number of [1, 2, 3]) cache.set(hash(number), sized(30));
    expect(cache.get(hash(1))).toBeDefined();
    cache.set(hash(4), sized(30));
    expect(cache.size).toBe(90);
    expect(cache.get(hash(2))).toBeUndefined();
    expect(cache.get(hash(1))).toBeDefined();
  });

  test('keeps at most 512 values, however small', () => {
    const cache = new ValueCache();
    const hashes = Array.from({ length: 600 }, (_, number) => Uint8Array.of(number >> 8, number & 255));
    for (const sha256 of hashes) cache.set(sha256, sized(2));
    expect(cache.size).toBe(512 * 2);
    expect(cache.get(hashes[87] as Uint8Array)).toBeUndefined();
    expect(cache.get(hashes[88] as Uint8Array)).toBeDefined();
  });

  test('counts a replaced and a deleted value once or not at all', () => {
    const cache = new ValueCache(100);
    cache.set(hash(1), sized(50));
    cache.set(hash(1), sized(40));
    expect(cache.size).toBe(40);
    cache.delete(hash(1));
    cache.delete(hash(1));
    expect(cache.size).toBe(0);
  });

  test('keeps two large values beside its capacity, whatever their size: the one used longest ago goes', () => {
    const cache = new ValueCache(100);
    cache.set(hash(9), sized(50));
    cache.set(hash(8), sized(50));
    for (const number of [1, 2]) cache.set(hash(number), sized(1_000));
    expect(cache.get(hash(1))).toBeDefined();
    cache.set(hash(3), sized(52));
    expect([1, 2, 3, 8, 9].filter((number) => cache.get(hash(number)) !== undefined)).toEqual([1, 3, 8, 9]);
    expect(cache.size).toBe(100);
    cache.delete(hash(3));
    cache.set(hash(4), sized(1_000));
    expect(cache.get(hash(1))).toBeDefined();
    cache.set(hash(7), sized(50));
    expect([1, 4, 7, 8, 9].filter((number) => cache.get(hash(number)) !== undefined)).toEqual([1, 4, 7, 9]);
  });
});

describe('the caches of a process', () => {
  test('share one budget: what was used longest ago in any of them goes first', () => {
    const budget = new ValueBudget(100);
    const [one, other] = [new ValueCache(90, budget), new ValueCache(90, budget)];
    one.set(hash(1), sized(30));
    other.set(hash(1), sized(30));
    one.set(hash(2), sized(30));
    expect(one.get(hash(1))).toBeDefined();
    other.set(hash(3), sized(30));
    expect([one.size, other.size]).toEqual([60, 30]);
    expect(other.get(hash(1))).toBeUndefined();
    one.delete(hash(2));
    other.set(hash(4), sized(30));
    expect([one.size, other.size]).toEqual([30, 60]);
  });

  test('keep four large values together', () => {
    const budget = new ValueBudget(100);
    const caches = Array.from({ length: 5 }, () => new ValueCache(100, budget));
    for (const cache of caches) cache.set(hash(1), sized(1_000));
    expect(caches.map((cache) => cache.get(hash(1)) !== undefined)).toEqual([false, true, true, true, true]);
  });

  test('is that of the process where none is given: forty connections hold 32 MiB', () => {
    const MIB = 1024 * 1024;
    const caches = Array.from({ length: 40 }, () => new ValueCache());
    for (const cache of caches) cache.set(hash(1), sized(MIB));
    expect(caches.reduce((sum, { size }) => sum + size, 0)).toBe(32 * MIB);
    for (const cache of caches) cache.delete(hash(1));
  });
});

describe('RecentMap', () => {
  test('drops the entry used longest ago', () => {
    const map = new RecentMap<string, number>(2);
    map.set('a', 1);
    map.set('b', 2);
    expect(map.get('a')).toBe(1);
    map.set('c', 3);
    expect(['a', 'b', 'c'].map((key) => map.get(key))).toEqual([1, undefined, 3]);
  });
});
