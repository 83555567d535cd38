import { describe, expect, it } from 'vitest';
import { formatBaseline, formatCheck } from '../CheckSummary.ts';
import { aBaseline, aCheck, cases, parts, red } from './aCheck.ts';

describe('a check in a line', () => {
  it.each([
    [
      'the command, where there is one',
      aCheck({ cases: cases('+a', '+b', '~c') }),
      'npm test: 2 passed, 1 skipped',
    ],
    ['its verdict, where no cases are told', aCheck(), 'npm test: passed'],
    [
      'every part with its own counts, whichever decided',
      red({ parts: parts('-unit', '+lint:lint'), cases: cases('-unit: a', '+unit: b') }),
      'unit: 1 failed, 1 passed; lint: passed',
    ],
    [
      'that one failed whose cases passed',
      red({ parts: parts('-unit', '+types:types'), cases: cases('+unit: a') }),
      'unit: failed (1 passed); types: passed',
    ],
    [
      'that it did not end',
      red({ timedOut: true, cases: cases('+a') }),
      'npm test: did not end in its time (1 passed)',
    ],
  ])('names %s', (_, check, words) => {
    expect(formatCheck(check)).toBe(words);
  });

  it('of the baseline names what each part runs', () => {
    const named = parts('+lint:lint').map((part) => ({ ...part, command: 'npm run lint' }));
    const check = aCheck({ parts: named });
    expect(formatBaseline(aBaseline(check))).toContain('made of lint (lint, npm run lint).');
  });
});
