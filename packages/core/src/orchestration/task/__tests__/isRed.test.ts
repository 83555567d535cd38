import { describe, expect, it } from 'vitest';
import { aBaseline, aCheck, cases, parts, red } from '../../checks/__tests__/aCheck.ts';
import { isRed } from '../verdicts.ts';

const GREEN = aBaseline(aCheck({ cases: cases('+a', '+b') }));

describe('isRed', () => {
  it.each([
    ['a new case fails', GREEN, red({ cases: cases('+a', '+b', '-c') })],
    ['a case fails that passed', GREEN, red({ cases: cases('+a', '-b') })],
    [
      'a case fails beside an accepted one',
      aBaseline(red({ cases: cases('-a') }), ['a']),
      red({ cases: cases('-a', '-b') }),
    ],
    ['a failure that is the first task', aBaseline(red({ cases: cases('-a') })), red({ cases: cases('-a') })],
    [
      'types fail',
      GREEN,
      red({ parts: parts('-tsd:types', '+ava:test'), cases: cases('+ava: a', '+ava: b') }),
    ],
    ['a linter and a case fail', GREEN, red({ parts: parts('-xo:lint', '-ava'), cases: cases('-ava: c') })],
    ['a part of tests does not load', GREEN, red({ parts: parts('+xo:lint', '-ava') })],
    ['nothing is known but the exit code', null, red()],
    ['a run without cases stays one', aBaseline(aCheck()), red()],
    [
      'an export is missing',
      GREEN,
      red({ output: "SyntaxError: './a.js' does not provide an export named 'b'" }),
    ],
    [
      'an export is missing, which Mocha in Node.js 20 tells in other words',
      GREEN,
      red({
        output:
          ' Exception during run: Error [ERR_INTERNAL_ASSERTION]: Unexpected status of a module that is imported again after being required. Status = 0',
      }),
    ],
    [
      'a file calls what is not there while it is loaded',
      GREEN,
      red({
        output:
          '\nTypeError: overlap is not a function\n    at Suite.<anonymous> (file:///p/test/a.js:5:3)\n',
      }),
    ],
    [
      'the tests do not compile',
      GREEN,
      red({ output: "a.test.ts(1,2): error TS2305: no exported member 'b'" }),
    ],
  ])('%s', (_, baseline, check) => {
    expect(isRed(baseline, check)).toEqual({ holds: true });
  });

  it.each([
    [
      'all pass',
      GREEN,
      aCheck({ cases: cases('+a', '+b', '+c') }),
      'The new test passes before anything is implemented.',
    ],
    ['a program is missing', GREEN, red({ missing: 'ava' }), 'Nothing was checked: ava is not there.'],
    [
      'only a linter fails',
      GREEN,
      red({ parts: parts('-xo:lint', '+ava'), cases: cases('+ava: a') }),
      'No test failed: xo did, and what a linter says is no red test.',
    ],
    [
      'only what was accepted fails',
      aBaseline(red({ cases: cases('-a', '+b') }), ['a']),
      red({ cases: cases('-a', '+b', '+c') }),
      'Only what failed before fails: a.',
    ],
    [
      'the accepted check without names fails',
      aBaseline(red(), ['npm test']),
      red(),
      'Only what failed before fails: npm test.',
    ],
    [
      'a flaky case failed again',
      GREEN,
      red({ cases: cases('-a', '+b'), flaky: ['a'] }),
      'The new test passes before anything is implemented.',
    ],
    [
      'the runner falls over',
      GREEN,
      red({ output: 'Bad option: --frobnicate' }),
      'The tests did not start, so none of them failed.',
    ],
    [
      'the runner has a fault of its own',
      GREEN,
      red({ output: 'TypeError: run is not a function\n    at go (/p/node_modules/mocha/bin/x.js:1:1)\n' }),
      'The tests did not start, so none of them failed.',
    ],
    [
      'Node.js has one',
      GREEN,
      red({ output: 'TypeError: no path\n    at open (node:fs:1:1)\n    at go (/p/a.js:1:1)\n' }),
      'The tests did not start, so none of them failed.',
    ],
  ])('not where %s', (_, baseline, check, why) => {
    expect(isRed(baseline, check)).toEqual({ holds: false, why });
  });
});
