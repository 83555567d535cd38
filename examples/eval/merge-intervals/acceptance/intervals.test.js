import assert from 'node:assert/strict';
import { it } from 'node:test';
import { covers, intersect, merge } from '../intervals.js';

it('merges nothing', () => assert.deepEqual(merge([]), []));
it('sorts and merges what overlaps', () => {
  const given = [
    [5, 8],
    [1, 3],
    [2, 4],
  ];
  assert.deepEqual(merge(given), [
    [1, 4],
    [5, 8],
  ]);
  assert.deepEqual(given, [
    [5, 8],
    [1, 3],
    [2, 4],
  ]);
});
it('merges what touches and what lies inside', () =>
  assert.deepEqual(
    merge([
      [1, 2],
      [2, 3],
      [0, 10],
      [12, 12],
    ]),
    [
      [0, 10],
      [12, 12],
    ],
  ));
it('sorts by number', () =>
  assert.deepEqual(
    merge([
      [10, 11],
      [9, 9],
      [-1, 0],
    ]),
    [
      [-1, 0],
      [9, 9],
      [10, 11],
    ],
  ));
it('keeps what does not touch', () =>
  assert.deepEqual(
    merge([
      [1, 2],
      [3, 4],
    ]),
    [
      [1, 2],
      [3, 4],
    ],
  ));

it('intersects', () => {
  assert.deepEqual(
    intersect(
      [
        [0, 5],
        [7, 9],
      ],
      [[3, 8]],
    ),
    [
      [3, 5],
      [7, 8],
    ],
  );
  assert.deepEqual(intersect([[0, 1]], [[1, 2]]), [[1, 1]]);
  assert.deepEqual(intersect([[0, 1]], [[2, 3]]), []);
  assert.deepEqual(
    intersect(
      [
        [0, 4],
        [3, 9],
      ],
      [
        [1, 2],
        [2, 8],
      ],
    ),
    [[1, 8]],
  );
});

it('covers', () => {
  assert.equal(covers([[1, 2]], 2), true);
  assert.equal(covers([[1, 2]], 2.5), false);
  assert.equal(covers([], 0), false);
});

for (const bad of [[2, 1], [NaN, 1], [0, Infinity], [1], ['1', 2], null]) {
  it(`refuses ${JSON.stringify(bad)}`, () => {
    assert.throws(() => merge([bad]), RangeError);
    assert.throws(() => intersect([[0, 1]], [bad]), RangeError);
    assert.throws(() => covers([bad], 1), RangeError);
  });
}
