import { describe, expect, it } from 'vitest';
import { aBaseline, aCheck, cases, parts, red } from '../../checks/__tests__/aCheck.ts';
import { summariseCheck } from '../../checks/CheckSummary.ts';
import { isGreen } from '../verdicts.ts';

const ACCEPTED = aBaseline(red({ cases: cases('-a', '+b') }), ['a']);

describe('isGreen', () => {
  it.each([
    ['all passes', null, aCheck()],
    ['what was accepted fails', ACCEPTED, red({ cases: cases('-a', '+b', '+c') })],
    ['an accepted failure was mended', ACCEPTED, aCheck({ cases: cases('+a', '+b') })],
    ['a case failed that passed on this tree', null, red({ cases: cases('-a', '+b'), flaky: ['a'] })],
    [
      'an accepted linter fails',
      aBaseline(red({ parts: parts('-xo:lint') }), ['xo']),
      red({ parts: parts('-xo:lint', '+ava') }),
    ],
    ['an accepted command without names fails', aBaseline(red(), ['npm test']), red()],
  ])('%s', (_, baseline, check) => {
    expect(isGreen(baseline, check)).toEqual({ holds: true });
  });

  it.each([
    ['one more case fails', ACCEPTED, red({ cases: cases('-a', '-b') }), 'These fail: b.'],
    [
      'nothing was accepted',
      aBaseline(red({ cases: cases('-a') })),
      red({ cases: cases('-a') }),
      'These fail: a.',
    ],
    [
      'the file of the other cases did not load',
      ACCEPTED,
      red({ cases: cases('-a') }),
      'What fails was accepted, but only 1 of 2 cases ran.',
    ],
    [
      'a part fails without a failing case beside an accepted one',
      aBaseline(red({ parts: parts('-api', '+web'), cases: cases('-api: a') }), ['api: a']),
      red({ parts: parts('-api', '-web'), cases: cases('-api: a') }),
      'These fail: web.',
    ],
    ['the exit code lies', null, aCheck({ cases: cases('+a', '-b') }), 'These fail: b.'],
    ['only the exit code says so', null, red({ cases: cases('+a', '+b') }), 'These fail: npm test.'],
    ['a program is missing', null, red({ missing: 'ava' }), 'Nothing was checked: ava is not there.'],
    [
      'it took too long',
      ACCEPTED,
      red({ timedOut: true, cases: cases('-a', '+b') }),
      'The checks did not end in their time.',
    ],
  ])('not where %s', (_, baseline, check, why) => {
    expect(isGreen(baseline, check)).toEqual({ holds: false, why });
  });

  it('names ten of many', () => {
    const many = Array.from({ length: 12 }, (_, index) => `-${index}`);
    expect(isGreen(null, red({ cases: cases(...many) }))).toEqual({
      holds: false,
      why: 'These fail: 0; 1; 2; 3; 4; 5; 6; 7; 8; 9; and 2 more.',
    });
  });
});

describe('summariseCheck', () => {
  it('keeps how many cases there were, and the names of at most 2,000 that failed', () => {
    const many = Array.from({ length: 2_500 }, (_, index) => `-${index}`);
    const summary = summariseCheck(red({ cases: cases(...many, '+passed'), output: 'long', flaky: ['x'] }));
    expect(summary).toMatchObject({ command: 'npm test', passed: false, cases: 2_501, flaky: ['x'] });
    expect(summary.failing).toHaveLength(2_000);
    expect(summary).not.toHaveProperty('output');
  });
});
