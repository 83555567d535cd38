// A check as the state of a run keeps it: the names of its failures, its summary, and the baseline before any work.
import type { CheckPart, CheckResult, TestCase } from '../ports.ts';

const SHOWN = 10;

/** Names in a sentence, the first ten of them. */
export function joinNames(names: readonly string[]): string {
  const more = names.length - SHOWN;
  const shown = names.slice(0, SHOWN).join('; ');
  return more > 0 ? `${shown}; and ${more} more` : shown;
}

/**
 * What fails in a check, by the most exact name there is: its failing cases; a part that fails without one of its cases
 * failing, by the part's name; the command, where nothing else is told. A case that also passed on this tree is none.
 */
export function failuresOf(result: CheckResult): readonly string[] {
  const { passed, cases = [], parts = [], flaky = [], command } = result;
  const failed = cases.filter(({ state }) => state === 'failed').map(({ name }) => name);
  const unexplained = parts.filter((part) => !part.passed && !failed.some((name) => isOf(part, name)));
  const explained = passed || failed.length > 0 || unexplained.length > 0;
  const names = [...failed, ...unexplained.map(({ name }) => name), ...(explained ? [] : [command])];
  return [...new Set(names)].filter((name) => !flaky.includes(name));
}

/** Where a check has several parts, the names of its cases begin with the part they ran in. */
const isOf = ({ name }: CheckPart, caseName: string): boolean => caseName.startsWith(`${name}: `);

/** Names that are kept of one check. */
const MAX_NAMES = 2_000;

/** A check, small enough for the state of a run. */
export interface CheckSummary {
  readonly command: string;
  readonly passed: boolean;
  readonly parts?: readonly CheckPart[];
  /** Of several checks, each with its counts; see {@link formatCheck}. */
  readonly summary?: string;
  /** How many test cases ran, skipped ones left out; `null` where the runner does not tell. */
  readonly cases: number | null;
  /** {@link failuresOf}, at most 2,000. */
  readonly failing: readonly string[];
  readonly flaky: readonly string[];
  /** A program that is not there: nothing was checked. */
  readonly missing?: string;
}

/** How a project's checks went before anything was done. */
export interface Baseline extends CheckSummary {
  /** Git tree they ran on. */
  readonly tree: string;
  /** Failures a human accepted: later work may leave them. */
  readonly accepted: readonly string[];
  /** Of what fails: what did not when a human was asked before. Absent where nothing is new, or nobody was asked. */
  readonly appeared?: readonly string[];
  /** There were no tests yet: what failed is no failure of theirs. */
  readonly nothing?: true;
  /** The checks that took more than half of their time, in a sentence with the setting. */
  readonly slow?: string;
  /** Names of the cases that ran; absent where they are not reported, are more than 2,000, or in a run of an older release. */
  readonly names?: readonly string[];
}

export function summariseCheck(result: CheckResult): CheckSummary {
  const { command, passed, parts, cases, flaky = [], missing } = result;
  return {
    command,
    passed,
    cases: ranCases(cases),
    failing: failuresOf(result).slice(0, MAX_NAMES),
    flaky: flaky.slice(0, MAX_NAMES),
    ...(parts && { parts, summary: formatCheck(result) }),
    ...(missing !== undefined && { missing }),
  };
}

const formatPart = ({ name, kind, command }: CheckPart): string =>
  `${name} (${kind}${command === undefined ? '' : `, ${command}`})`;

/** What failed, for a later comparison; `undefined` where nothing was checked, or not every name is known. */
export function comparableFailures({ failing, missing }: CheckSummary): readonly string[] | undefined {
  return missing === undefined && failing.length < MAX_NAMES ? failing : undefined;
}

/** The names of the cases that ran, where there are not too many to keep. */
export function namesKept({ cases = [] }: CheckResult): readonly string[] | undefined {
  const ran = cases.filter(({ state }) => state !== 'skipped').map(({ name }) => name);
  return ran.length === 0 || ran.length > MAX_NAMES ? undefined : ran;
}

/** How many of these cases ran; `null` if the runner did not report cases. */
export function ranCases(cases: readonly TestCase[] | undefined): number | null {
  return cases?.filter(({ state }) => state !== 'skipped').length ?? null;
}

const MINUTE_MS = 60_000;

/** A check takes longer with the work. */
const PATIENCE = 4;

/** Proposes a limit for each check that took more than half of its own; `undefined` without one. */
export function proposeLimits({ parts, command, durationMs, limitMs }: CheckResult): string | undefined {
  const checks = parts ?? [{ name: command, durationMs, limitMs }];
  const slow = checks.flatMap(({ name, durationMs: took = 0, limitMs: limit }) => {
    if (limit === undefined) return [];
    const proposed = Math.max(1, Math.round((PATIENCE * took) / MINUTE_MS)) * MINUTE_MS;
    const times = `took ${Math.round(took / 1000)} of the ${Math.round(limit / 1000)} s that it may take`;
    return [`${name} ${times}: set its "timeoutMs" to ${proposed} before you start other runs.`];
  });
  return slow.length === 0 ? undefined : slow.join(' ');
}

/** Every check of a result with its counts, in a line: `unit: 487 passed, 2 skipped; lint: passed`. */
export function formatCheck(result: CheckResult): string {
  const { parts, cases = [], command, passed, timedOut } = result;
  if (parts === undefined) return `${command}: ${formatCases(cases, { passed, timedOut })}`;
  return parts
    .map((part) => {
      const own = cases.filter(({ name }) => isOf(part, name));
      return `${part.name}: ${formatCases(own, { passed: part.passed, timedOut: false })}`;
    })
    .join('; ');
}

/** Adds the verdict where the counts do not show the failure. */
function formatCases(
  cases: readonly TestCase[],
  { passed, timedOut }: Pick<CheckResult, 'passed' | 'timedOut'>,
): string {
  const verdict = passed ? 'passed' : timedOut ? 'did not end in its time' : 'failed';
  const counts = (['failed', 'passed', 'skipped'] as const)
    .map((state) => ({ state, count: cases.filter((found) => found.state === state).length }))
    .filter(({ count }) => count > 0);
  if (counts.length === 0) return verdict;
  const words = counts.map(({ state, count }) => `${count} ${state}`).join(', ');
  const isTold = passed || counts.some(({ state }) => state === 'failed');
  return isTold ? words : `${verdict} (${words})`;
}

/** The project's checks and how they went before any work, for agents. */
export function formatBaseline(baseline: Baseline): string {
  const { command, parts = [], failing, accepted, flaky, missing, nothing } = baseline;
  const kinds = parts.map(formatPart).join(', ');
  const lines = [`The checks: ${command}${kinds === '' ? '' : `, made of ${kinds}`}.`];
  if (nothing === true) return [...lines, 'There was nothing for them to check yet.'].join('\n');
  if (missing !== undefined) lines.push(`They could not run: ${missing} is not there.`);
  const open = failing.filter((name) => !accepted.includes(name));
  if (failing.length === 0 && missing === undefined) lines.push('Before any work they passed.');
  if (open.length > 0) lines.push(`Before any work these failed: ${joinNames(open)}.`);
  if (accepted.length > 0)
    lines.push(
      `These failed too, and a person accepted that they may go on failing: ${joinNames(accepted)}.`,
    );
  if (flaky.length > 0) lines.push(`Flaky, failed and passed on the same files: ${joinNames(flaky)}.`);
  return lines.join('\n');
}
