import { describe, expect, it } from 'vitest';
import { CHEATS, type Change, HARMLESS } from '../../../../test/support/testChanges.ts';
import { testLosses } from '../testLosses.ts';
import { aBaseline, aCheck, cases, red } from './aCheck.ts';

const lossesOf = (...files: Parameters<typeof testLosses>[0]['files']) =>
  testLosses({ files, before: null, now: null });

const listed = (changes: readonly Change[]) => changes.map(([what, ...files]) => ({ what, files }));

describe('testLosses', () => {
  it.each(listed(CHEATS))('sees a cheat: $what', ({ files }) => {
    expect(lossesOf(...files)).not.toEqual([]);
  });

  it.each(listed(HARMLESS))('lets pass: $what', ({ files }) => {
    expect(lossesOf(...files)).toEqual([]);
  });

  it('says of which file, and what', () => {
    const before = "it('a', () => { expect(f()).toBe(1); });\n";
    expect(lossesOf({ path: 'a.test.ts', before, after: before.replace('it(', 'it.skip(') })).toEqual([
      { kind: 'skipped', path: 'a.test.ts', words: 'now has it.skip' },
    ]);
    expect(lossesOf({ path: 'a.test.ts', before, after: null })).toEqual([
      { kind: 'deleted', path: 'a.test.ts', words: 'deleted, and with it "a"' },
    ]);
  });
});

describe('cases that ran', () => {
  const before = aBaseline(aCheck({ cases: cases('+a', '+b') }));

  it.each([
    ['one is gone', aCheck({ cases: cases('+a') })],
    ['one is skipped', aCheck({ cases: cases('+a', '~b') })],
  ])('are fewer where %s and no file says why', (_, now) => {
    expect(testLosses({ files: [], before, now })).toEqual([
      { kind: 'fewer-cases', path: null, words: '1 cases ran, where 2 did before' },
    ]);
  });

  it.each([
    ['they are as many', aCheck({ cases: cases('+a', '+c') })],
    ['the runner tells none', aCheck()],
    ['it did not pass', red({ cases: cases('-a') })],
    ['there was no check', null],
  ])('are no loss where %s', (_, now) => {
    expect(testLosses({ files: [], before, now })).toEqual([]);
  });
});
