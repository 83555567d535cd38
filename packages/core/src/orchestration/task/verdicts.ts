import { type Baseline, failuresOf, joinNames, ranCases, summariseCheck } from '../checks/CheckSummary.ts';
import { testLosses } from '../checks/testLosses.ts';
import type { FileVersions } from '../checks/testSource.ts';
import type { CheckResult, TestCase, TestLoss } from '../ports.ts';
import type { GraphState } from '../types.ts';

// How the loop judges the result of the checks against the result before any work.

/** Whether something holds and, where it does not, why: one or two sentences for people and agents. */
export type Judgement = { readonly holds: true } | { readonly holds: false; readonly why: string };

const holds: Judgement = { holds: true };

const fails = (why: string): Judgement => ({ holds: false, why });

type Project = Pick<GraphState, 'projectConfig'>;

export const judgeRed = (project: Project, red: CheckResult): Judgement => isRed(baselineKnown(project), red);

export const judgeGreen = (project: Project, now: CheckResult): Judgement =>
  isGreen(baselineKnown(project), now);

/** The baseline with all that is known to be flaky of its cases by now. */
function baselineKnown({ projectConfig: { baseline, flaky = [] } }: Project): Baseline | null {
  if (baseline === undefined) return null;
  const { names = [] } = baseline;
  const seen = flaky.filter((name) => names.includes(name));
  return { ...baseline, flaky: [...new Set([...baseline.flaky, ...seen])] };
}

/**
 * Failures of a check that may have nothing to do with the work: cases that the baseline had and that passed there. `null` where
 * anything else fails, too, or nothing does: then the rest decides nothing.
 */
export function oldFailures(project: Project, now: CheckResult): readonly string[] | null {
  const baseline = baselineKnown(project);
  if (baseline === null || now.missing !== undefined || now.timedOut) return null;
  const open = unexcused(baseline, now);
  const { names = [], failing } = baseline;
  const isOld = (name: string): boolean => names.includes(name) && !failing.includes(name);
  return open.length > 0 && open.every(isOld) ? open : null;
}

/** Failures that are neither accepted nor of a case that is known to be flaky. */
function unexcused(baseline: Baseline | null, now: CheckResult): readonly string[] {
  const { accepted = [], flaky = [] } = baseline ?? {};
  // A command that was flaky as a whole excuses no case: it does not name its cases that fail.
  const cases = new Set((now.cases ?? []).map(({ name }) => name));
  const excused = new Set([...accepted, ...flaky.filter((name) => cases.has(name))]);
  return failuresOf(now).filter((name) => !excused.has(name));
}

/**
 * Whether what was red is green: of cases that are told by name, each that failed before the work has to pass after it. One
 * that was skipped shows nothing, nor does a new one that fails and passes on the same files. One that is not named any more is
 * in a file that passed as a whole, or was itself a file that did not load: then a case passes now that did not before.
 */
export function judgeTurned(project: Project, red: CheckResult, green: CheckResult): Judgement {
  if (red.cases === undefined || green.cases === undefined) return holds;
  const { accepted = [], flaky = [], names = [] } = baselineKnown(project) ?? {};
  const unsteady = new Set(green.flaky);
  const old = names.filter((name) => unsteady.has(name));
  const excused = new Set([...(red.flaky ?? []), ...old, ...accepted, ...flaky]);
  const failed = red.cases.filter(({ name, state }) => state === 'failed' && !excused.has(name));
  const now = new Map(green.cases.map(({ name, state }) => [name, state]));
  const gone = failed.filter(({ name }) => !now.has(name));
  const come = newlyPassed(red.cases, green.cases).length;
  const notLoaded = gone.filter(({ whole }) => whole);
  const shaky = failed.filter(({ name }) => unsteady.has(name)).map(({ name }) => name);
  if (shaky.length > 0) return fails(`New cases fail and pass on the same files: ${joinNames(shaky)}.`);
  const open = [
    ...failed.filter(({ name }) => now.has(name) && now.get(name) !== 'passed'),
    ...gone.filter(({ name, whole }) => !whole && !isInPassedFile(name, green.cases ?? [])),
    ...(notLoaded.length > come ? notLoaded : []),
  ].map(({ name }) => name);
  return open.length === 0 ? holds : fails(`What was red is not green: ${joinNames(open)}.`);
}

/** Passed now, and neither passed before nor failed by this name. */
function newlyPassed(before: readonly TestCase[], now: readonly TestCase[]): readonly TestCase[] {
  const known = new Set(before.filter(({ state }) => state !== 'skipped').map(({ name }) => name));
  return now.filter(({ name, state }) => state === 'passed' && !known.has(name));
}

const isInPassedFile = (name: string, cases: readonly TestCase[]): boolean =>
  cases.some((file) => file.whole && file.state === 'passed' && name.startsWith(`${file.name} › `));

/** The changes in which tests may lose something. */
export interface LossQuestion {
  /** All that differ. */
  readonly files: readonly FileVersions[];
  /** The checks on the tree before; `null` where they are not known. */
  readonly before: CheckResult | null;
  readonly now: CheckResult;
}

/** The losses of tests, and of the settings that judge them, in a piece of work. */
export function findLosses(
  { projectConfig: { baseline } }: Project,
  { files, before, now }: LossQuestion,
): readonly TestLoss[] {
  return testLosses({ files, before: before === null ? (baseline ?? null) : summariseCheck(before), now });
}

/**
 * Whether a check lets work pass. It may fail only with accepted failures of the baseline, and with cases of the baseline that are
 * known to be flaky. With such failures the runner must have reported as many cases as then: one that did not start hides its cases.
 *
 * @param baseline - `null` in a run that has none: then nothing may fail.
 */
export function isGreen(baseline: Baseline | null, now: CheckResult): Judgement {
  if (now.missing !== undefined) return fails(`Nothing was checked: ${now.missing} is not there.`);
  if (now.timedOut) return fails('The checks did not end in their time.');
  const failing = failuresOf(now);
  if (failing.length === 0) return holds;
  const open = unexcused(baseline, now);
  if (open.length > 0) return fails(`These fail: ${joinNames(open)}.`);
  const { cases = null } = baseline ?? {};
  const ran = ranCases(now.cases) ?? 0;
  if (cases !== null && ran < cases) {
    return fails(`What fails was accepted, but only ${ran} of ${cases} cases ran.`);
  }
  return holds;
}

/** A test that names what is not there yet: compilers and loaders of several languages. */
const NOT_THERE_YET =
  /\berror TS\d+|ERR_MODULE_NOT_FOUND|Cannot find (?:module|package)|does not provide an export named|module that is imported again after being required|is not exported by|ModuleNotFoundError|ImportError|cannot import name|error\[E\d+\]|\bundefined: \w|cannot find symbol|\[build failed\]|\berror CS\d+/;

/** Code that calls what is not there while its file is loaded; of a runner's own parts it would be another fault. */
const CALLS_NOTHING =
  /^(?:Uncaught )?(?:TypeError|ReferenceError): .+\n\s+at (?!.*node_modules|node:|.*\(node:)/m;

/**
 * Whether a check shows a test that fails for want of the code it asks for. A case fails that was not accepted at the
 * baseline; or types or tests do not load; a lint error is none. By exit code where nothing else is known.
 *
 * @param baseline - `null` in a run that has none.
 * @param red - The checks on the last integrated tree with the new tests in it.
 */
export function isRed(baseline: Baseline | null, red: CheckResult): Judgement {
  if (red.missing !== undefined) return fails(`Nothing was checked: ${red.missing} is not there.`);
  const failing = failuresOf(red);
  if (failing.length === 0) return fails('The new test passes before anything is implemented.');
  const fresh = unexcused(baseline, red);
  if (fresh.length === 0) return fails(`Only what failed before fails: ${joinNames(failing)}.`);
  const lint = new Set((red.parts ?? []).filter(({ kind }) => kind === 'lint').map(({ name }) => name));
  if (fresh.every((name) => lint.has(name))) {
    return fails(`No test failed: ${joinNames(fresh)} did, and what a linter says is no red test.`);
  }
  return didStart(baseline, red) ? holds : fails('The tests did not start, so none of them failed.');
}

/** A runner that named cases before and names none now fell over something else, unless it says what it misses. */
function didStart(baseline: Baseline | null, { cases, parts, output }: CheckResult): boolean {
  const toldBefore = (baseline?.cases ?? 0) > 0;
  const tellsNow = (cases?.length ?? 0) > 0;
  if (tellsNow || !toldBefore || parts !== undefined) return true;
  return NOT_THERE_YET.test(output) || CALLS_NOTHING.test(output);
}
