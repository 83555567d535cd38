import { expect, test } from 'vitest';
import { type ScriptCounts, SummedCounts } from './SummedCounts.ts';

type Blocks = readonly (readonly [start: number, end: number, count: number])[];

const script = (url: string, ...functions: readonly Blocks[]): ScriptCounts => ({
  scriptId: '1',
  url,
  startOffset: 7,
  functions: functions.map((blocks) => ({
    functionName: '',
    isBlockCoverage: true,
    ranges: blocks.map(([startOffset, endOffset, count]) => ({ startOffset, endOffset, count })),
  })),
});

function layersOf(...files: readonly ScriptCounts[][]) {
  const sum = new SummedCounts();
  for (const counts of files) sum.add(counts);
  return sum.layers();
}

test('adds up what several files have counted in the same blocks', () => {
  const counted = (times: number) =>
    script(
      'a.ts',
      [
        [0, 90, times],
        [10, 20, 0],
      ],
      [[30, 40, 2 * times]],
    );
  expect(layersOf([counted(1)], [counted(2)], [counted(4)])).toEqual([[counted(7)]]);
});

test('keeps what was counted in other blocks of a function apart, and loses none of it', () => {
  const [one, other] = [
    script('a.ts', [
      [0, 90, 3],
      [10, 20, 1],
    ]),
    script('a.ts', [
      [0, 90, 5],
      [50, 60, 0],
    ]),
  ];
  expect(layersOf([one], [other])).toEqual([[one], [other]]);
});

test('has every script, and every function that only one file has called', () => {
  const [first, second] = [script('a.ts', [[0, 90, 1]]), script('a.ts', [[0, 90, 1]], [[30, 40, 6]])];
  const alone = script('b.ts');
  expect(layersOf([first], [second, alone])).toEqual([[script('a.ts', [[0, 90, 2]], [[30, 40, 6]]), alone]]);
});

test('takes what was counted of a whole function for something else than its only block', () => {
  const [whole, block] = [script('a.ts', [[0, 90, 0]]), script('a.ts', [[0, 90, 4]])];
  for (const counted of whole.functions) Object.assign(counted, { isBlockCoverage: false });
  expect(layersOf([whole], [block])).toEqual([[whole], [block]]);
});
