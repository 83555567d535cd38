import type { CheckResult } from '../ports.ts';
import type { Baseline } from './CheckSummary.ts';
import { failuresOf } from './failuresOf.ts';
import { fails, holds, type Judgement } from './Judgement.ts';
import { joinNames } from './joinNames.ts';

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
  const accepted = new Set(baseline?.accepted);
  const fresh = failing.filter((name) => !accepted.has(name));
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
