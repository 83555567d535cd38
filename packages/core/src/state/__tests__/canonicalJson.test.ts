import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isDevsError } from '../../errors/DevsError.ts';
import { canonicalJson, hashOf, sha256Hex } from '../../values/canonicalJson.ts';

function refusalOf(value: unknown): { code: string; path: unknown } {
  try {
    canonicalJson(value);
  } catch (error) {
    if (isDevsError(error)) return { code: error.code, path: error.context['path'] };
    throw error;
  }
  throw new Error('the value was accepted');
}

/** Plain JSON values, without the few keys and characters that are refused. */
const storable = fc
  .jsonValue({ noUnicodeString: false })
  .filter((value) => !/__proto__|constructor|prototype/.test(JSON.stringify(value)));

describe('canonicalJson', () => {
  test('sorts keys at every level and keeps the order of arrays', () => {
    expect(canonicalJson({ b: 1, a: { d: [3, 1], c: null } })).toBe('{"a":{"c":null,"d":[3,1]},"b":1}');
  });

  test('drops object properties that are undefined', () => {
    expect(canonicalJson({ a: undefined, b: 1 })).toBe('{"b":1}');
  });

  test('writes negative zero as zero', () => {
    expect(canonicalJson(-0)).toBe('0');
  });

  test('accepts objects without a prototype and the same object twice', () => {
    const shared = { x: 1 };
    const bare: Record<string, unknown> = Object.assign(Object.create(null), { shared, again: shared });
    expect(canonicalJson(bare)).toBe('{"again":{"x":1},"shared":{"x":1}}');
  });

  const cycle: { self?: unknown } = {};
  cycle.self = { back: [cycle] };
  class Money {
    readonly amount = 1;
  }

  test.each<[string, unknown, string]>([
    ['undefined', undefined, '$'],
    ['undefined in an array', { a: [1, undefined] }, '$.a[1]'],
    ['a function', { a: [0, 0, 0, { b: () => 1 }] }, '$.a[3].b'],
    ['a symbol', [Symbol('s')], '$[0]'],
    ['a bigint', { n: 1n }, '$.n'],
    ['NaN', { n: Number.NaN }, '$.n'],
    ['Infinity', [Number.POSITIVE_INFINITY], '$[0]'],
    ['a date', { at: new Date(0) }, '$.at'],
    ['a map', { m: new Map() }, '$.m'],
    ['a set', { s: new Set() }, '$.s'],
    ['an instance', { price: new Money() }, '$.price'],
    ['bytes', { b: new Uint8Array(2) }, '$.b'],
    ['a sparse array', { a: new Array(3) }, '$.a'],
    ['an array with a property', { a: Object.assign([1], { extra: 1 }) }, '$.a'],
    ['a symbol as a key', { [Symbol('k')]: 1 }, '$'],
    ['a cycle', cycle, '$.self.back[0]'],
    ['a lone surrogate', { text: 'a\ud800b' }, '$.text'],
    ['a lone surrogate in a key', { '\udc00': 1 }, '$.\udc00'],
    ['the key __proto__', JSON.parse('{"a":{"__proto__":{"approved":true}}}'), '$.a.__proto__'],
    ['the key constructor', { constructor: 1 }, '$.constructor'],
    ['the key prototype', { prototype: 1 }, '$.prototype'],
  ])('refuses %s and names its place', (_, value, path) => {
    expect(refusalOf(value)).toEqual({ code: 'VALUE_NOT_STORABLE', path });
  });

  test('refuses a value that is too deep instead of exhausting the stack', () => {
    let deep: unknown = 0;
    for (let level = 0; level < 100_000; level += 1) deep = [deep];
    expect(refusalOf(deep).code).toBe('VALUE_TOO_LARGE');
  });

  test('gives back an equal value, and equal text whatever the order of keys', () => {
    fc.assert(
      fc.property(storable, (value) => {
        const text = canonicalJson(value);
        expect(canonicalJson(JSON.parse(text))).toBe(text);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
        expect(canonicalJson(reversed(value))).toBe(text);
      }),
    );
  });
});

describe('hashes', () => {
  test('of text and of its UTF-8 bytes are equal', () => {
    expect(sha256Hex('grün')).toBe(sha256Hex(new TextEncoder().encode('grün')));
    expect(sha256Hex('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
  });

  test('of values do not depend on the order of keys', () => {
    expect(hashOf({ a: 1, b: 2 })).toBe(hashOf({ b: 2, a: 1 }));
    expect(hashOf([1, 2])).not.toBe(hashOf([2, 1]));
  });
});

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, item]) => [key, reversed(item)]),
  );
}
