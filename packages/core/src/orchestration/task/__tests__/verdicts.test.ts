import { describe, expect, it } from 'vitest';
import { aCheck, cases, red } from '../../checks/__tests__/aCheck.ts';
import { judgeTurned } from '../verdicts.ts';

const STATE = { projectConfig: {} } as unknown as Parameters<typeof judgeTurned>[0];
const turned = (before: readonly string[], now: readonly string[]): boolean =>
  judgeTurned(STATE, red({ cases: cases(...before) }), aCheck({ cases: cases(...now) })).holds;

describe('what was red is green', () => {
  it.each([
    ['the case passes', ['-adds'], ['+adds']],
    ['a file did not load, and has a case now', ['-test/add.test.js'], ['+adds']],
    ['so it is of one part among several', ['+xo: a', '-ava: test/add.test.js'], ['+xo: a', '+ava: adds']],
  ])('where %s', (_, before, now) => {
    expect(turned(before, now)).toBe(true);
  });

  it.each([
    ['the case is gone', ['+doubles', '-adds'], ['+doubles']],
    ['the case is skipped', ['-adds'], ['~adds']],
    ['a file did not load, and no case came', ['+old', '-test/add.test.js'], ['+old']],
    ['the file still fails', ['-test/add.test.js'], ['+new', '-test/add.test.js']],
  ])('but not where %s', (_, before, now) => {
    expect(turned(before, now)).toBe(false);
  });
});
