import fc from 'fast-check';
import { expect, test } from 'vitest';
import { howMany } from '../../../test/support/howMany.ts';
import { isLasting, lastingJson, makeLasting, onceForLasting } from '../lasting.ts';

test('plain data is frozen all the way down', () => {
  const plan = { tasks: [{ name: 'a', needs: ['b'] }], size: 1, at: null, left: undefined };
  expect(isLasting(plan)).toBe(false);
  expect(makeLasting(plan)).toBe(true);
  expect(isLasting(plan)).toBe(true);
  expect(() => plan.tasks.push({ name: 'c', needs: [] })).toThrow(TypeError);
  expect(() => plan.tasks[0]?.needs.push('c')).toThrow(TypeError);
});

class Point {
  readonly x = 1;
}
const cycle: { self?: unknown } = {};
cycle.self = cycle;
const accessor = {
  get now() {
    return performance.now();
  },
};

test.each<[string, object]>([
  ['an accessor', accessor],
  ['a proxy', new Proxy({}, {})],
  ['an instance of a class', new Point()],
  ['a date', new Date(0)],
  ['a map', new Map()],
  ['bytes', new Uint8Array(1)],
  ['a list with a hole', new Array<number>(2)],
  ['a list with a property', Object.assign(['a'], { b: 1 })],
  ['a function', { run: () => 1 }],
  ['a cycle', cycle],
])('%s is left as it is, and so is what holds it', (_what, value) => {
  const holder = { list: [value] };
  expect(makeLasting(holder)).toBe(false);
  expect([isLasting(holder), isLasting(holder.list), Object.isFrozen(holder)]).toEqual([false, false, false]);
  expect(isLasting(value)).toBe(false);
});

test('its JSON is what JSON.stringify says', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue(), { maxLength: 6 }), (value) => {
      const expected = JSON.stringify(value);
      expect(makeLasting(value)).toBe(true);
      expect([lastingJson(value), lastingJson(value)]).toEqual([expected, expected]);
    }),
    { numRuns: howMany('DEVS_LASTING_RUNS', 200) },
  );
  const gaps = [{ a: undefined, b: [undefined, 1] }, { c: Number.NaN }];
  makeLasting(gaps);
  expect(lastingJson(gaps)).toBe('[{"b":[null,1]},{"c":null}]');
});

test('what follows from a value is worked out once where it can never change', () => {
  const asked: object[] = [];
  const sizeOf = onceForLasting((value: readonly number[]) => {
    asked.push(value);
    return value.length;
  });
  const list = [1, 2];
  expect([sizeOf(list), list.push(3), sizeOf(list)]).toEqual([2, 3, 3]);
  makeLasting(list);
  expect([sizeOf(list), sizeOf(list)]).toEqual([3, 3]);
  expect(asked).toHaveLength(3);
});
