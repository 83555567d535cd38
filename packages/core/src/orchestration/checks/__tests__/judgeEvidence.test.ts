import { describe, expect, it } from 'vitest';
import { judgeEvidence } from '../evidence.ts';

const PLACE = {
  changed: ['src/sum.js', 'test/sum.test.js'],
  files: ['src/sum.js', 'test/sum.test.js', 'test/parse.test.js', 'src/parse.js', 'package.json'],
  testsOfOthers: new Map([['test/parse.test.js', 'T1']]),
  mayBeOld: false,
};

const findingsOf = (shownBy: string, place: Partial<typeof PLACE> = {}): readonly string[] =>
  judgeEvidence([{ criterion: 'adds', shownBy }], { ...PLACE, ...place }).findings;

describe('evidence', () => {
  it.each([
    'test/sum.test.js › adds two numbers',
    'sum.test.js, adds two numbers',
    'the test "adds" in sum.test.js, beside src/parse.js which stays as it is',
    'the diff: `a + b`, e.g. for Node.js 20',
    'src/sum.js:3',
    'the run of the checks',
  ])('%j is sound', (shownBy) => {
    expect(findingsOf(shownBy)).toEqual([]);
  });

  it.each([
    ['src/parse.js', 'src/parse.js, which this work does not change'],
    ['parse.test.js › parses', 'parse.test.js, a test of T1'],
    ['sum.test.js and parse.test.js', 'parse.test.js, a test of T1'],
    ['test/total.test.js', 'test/total.test.js, which is not there'],
    ['total.test.js › adds', 'total.test.js, which is not there'],
  ])('%j is a finding', (shownBy, why) => {
    expect(findingsOf(shownBy)).toEqual([`The evidence for "adds" names ${why}.`]);
  });

  it('of refactoring may be what was there; what is not there shows nothing there either', () => {
    expect(findingsOf('parse.test.js › parses', { mayBeOld: true })).toEqual([]);
    expect(findingsOf('test/gone.test.js', { mayBeOld: true })).toHaveLength(1);
  });

  it('that is sound stays, the rest goes', () => {
    const evidence = [
      { criterion: 'adds', shownBy: 'sum.test.js' },
      { criterion: 'parses', shownBy: 'parse.test.js' },
    ];
    expect(judgeEvidence(evidence, PLACE).sound).toEqual(evidence.slice(0, 1));
  });
});
