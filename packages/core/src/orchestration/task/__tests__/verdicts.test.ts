import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aCheck, cases, red } from '../../checks/__tests__/aCheck.ts';
import type { CheckResult, TestCase } from '../../ports.ts';
import { judgeTurned } from '../verdicts.ts';

const STATE = { projectConfig: {} } as unknown as Parameters<typeof judgeTurned>[0];
const turned = (
  before: readonly string[],
  now: readonly string[],
  told: Partial<CheckResult> = {},
): boolean =>
  judgeTurned(STATE, red({ cases: cases(...before), ...told }), aCheck({ cases: cases(...now) })).holds;

describe('what was red is green', () => {
  it.each([
    ['the case passes', ['-adds'], ['+adds']],
    ['a file did not load, and has a case now', ['-[test/add.test.js]'], ['+adds']],
    ['so it is of one part among several', ['+xo: a', '-[ava: test/add.test.js]'], ['+xo: a', '+ava: adds']],
    ['it loads, and passes as a whole', ['-[test/add.test.js]'], ['+[test/add.test.js]']],
    ['files that pass are told, not their cases', ['-a.test.js › adds', '+[b.test.js]'], ['+[a.test.js]']],
    ['what fails now and then did so', ['-adds', '-weather'], ['+adds'], { flaky: ['weather'] }],
  ])('where %s', (_, before, now, told: Partial<CheckResult> = {}) => {
    expect(turned(before, now, told)).toBe(true);
  });

  it.each([
    ['the case is gone', ['+doubles', '-adds'], ['+doubles']],
    ['it is gone, and another came', ['-adds'], ['+is here']],
    ['a case is named like a file', ['-parses a.js'], ['+is here']],
    ['the case is skipped', ['-adds'], ['~adds']],
    ['a file did not load, and no case came', ['+old', '-[test/add.test.js]'], ['+old']],
    ['fewer came than files did not load', ['-[a.test.js]', '-[b.test.js]'], ['+adds']],
    ['the file still fails', ['-[test/add.test.js]'], ['+new', '-[test/add.test.js]']],
    ['another file passes', ['-a.test.js › adds'], ['+[a.test.jsx]', '+[b.test.js]']],
    ['a file passes whose name is its beginning', ['-a.test.jsx › adds'], ['+[a.test.js]']],
    ['a case passes that is named like its suite', ['-sum › adds'], ['+sum']],
    ['the file is skipped', ['-a.test.js › adds'], ['~[a.test.js]']],
  ])('but not where %s', (_, before, now) => {
    expect(turned(before, now)).toBe(false);
  });
});

/** What somebody's tests are, by file and case. */
interface Suite {
  readonly file: string;
  readonly loads: boolean;
  readonly cases: readonly { readonly title: string; readonly state: TestCase['state'] }[];
}

type Runner = (suites: readonly Suite[]) => readonly TestCase[];

const notLoaded = ({ file }: Suite): TestCase => ({ name: file, state: 'failed', whole: true });

/** As `node --test`, Vitest with `verbose`, and Vitest without it tell the same. */
const RUNNERS: Readonly<Record<'plain' | 'verbose' | 'brief', Runner>> = {
  plain: (suites) =>
    suites.flatMap((suite) =>
      suite.loads ? suite.cases.map(({ title, state }) => ({ name: title, state })) : [notLoaded(suite)],
    ),
  verbose: (suites) =>
    suites.flatMap((suite) =>
      suite.loads
        ? suite.cases.map(({ title, state }) => ({ name: `${suite.file} › ${title}`, state }))
        : [notLoaded(suite)],
    ),
  brief: (suites) =>
    RUNNERS.verbose(suites.filter((suite) => !isFine(suite))).concat(
      suites.filter(isFine).map(({ file }) => ({ name: file, state: 'passed', whole: true })),
    ),
};

const isFine = ({ loads, cases }: Suite): boolean => loads && cases.every(({ state }) => state !== 'failed');

/** Suites of which at least one case is red, each title once. */
const someSuites: fc.Arbitrary<readonly Suite[]> = fc
  .array(
    fc.record({
      loads: fc.boolean(),
      states: fc.array(fc.constantFrom('passed' as const, 'failed' as const), { minLength: 1, maxLength: 4 }),
    }),
    { minLength: 1, maxLength: 4 },
  )
  .map((files) =>
    files.map(({ loads, states }, at) => ({
      file: `test/${at}.test.js`,
      loads,
      cases: states.map((state, nth) => ({ title: `case ${at}.${nth}`, state })),
    })),
  )
  .filter((suites) => suites.some((suite) => !isFine(suite)));

const turnedGreen = (suites: readonly Suite[]): readonly Suite[] =>
  suites.map(({ file, cases }) => ({
    file,
    loads: true,
    cases: cases.map(({ title }) => ({ title, state: 'passed' })),
  }));

type Case = Suite['cases'][number];
type Way = (found: Case) => readonly Case[];

/** The tests when the work is done, but for what became of one case that was red. */
const butFor = (suites: readonly Suite[], title: string, way: Way): readonly Suite[] =>
  turnedGreen(suites).map((suite) => ({
    ...suite,
    cases: suite.cases.flatMap((found) => (found.title === title ? way(found) : [found])),
  }));

/** Suites, and the title of a case in them that was seen to fail. */
const someRed: fc.Arbitrary<readonly [suites: readonly Suite[], title: string]> = someSuites
  .map((suites) => [suites, failedIn(suites)] as const)
  .filter(([, titles]) => titles.length > 0)
  .chain(([suites, titles]) => fc.constantFrom(...titles).map((title) => [suites, title] as const));

const failedIn = (suites: readonly Suite[]): readonly string[] =>
  suites
    .filter(({ loads }) => loads)
    .flatMap(({ cases }) => cases.filter(({ state }) => state === 'failed').map(({ title }) => title));

function isTurned(runner: Runner, before: readonly Suite[], now: readonly Suite[]): boolean {
  return judgeTurned(STATE, red({ cases: runner(before) }), aCheck({ cases: runner(now) })).holds;
}

it.each(Object.entries(RUNNERS))('what passes now is believed however it is told: %s', (_, runner) => {
  fc.assert(fc.property(someSuites, (suites) => isTurned(runner, suites, turnedGreen(suites))));
});

it.each(Object.entries(RUNNERS))('a case that still fails is seen: %s', (_, runner) => {
  const still: Way = (found) => [{ ...found, state: 'failed' }];
  fc.assert(
    fc.property(someRed, ([suites, title]) => !isTurned(runner, suites, butFor(suites, title, still))),
  );
});

it.each(['plain', 'verbose'] as const)('a red case that is taken away is seen: %s', (kind) => {
  const ways = fc.constantFrom<Way>(
    () => [],
    ({ title }) => [{ title: `${title}, or so`, state: 'passed' }],
    ({ title }) => [{ title, state: 'skipped' }],
  );
  fc.assert(
    fc.property(
      someRed,
      ways,
      ([suites, title], way) => !isTurned(RUNNERS[kind], suites, butFor(suites, title, way)),
    ),
  );
});
