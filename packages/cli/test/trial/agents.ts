import type { SituationName } from './situations/Situation.ts';

/** The agents of the trial, each with one vice; without it each does what a careful colleague would. */
export const AGENTS = [
  ['wrong-test', 'its first test asserts what is wrong; it is corrected in the next attempt'],
  ['flaky-check', 'none: one in three runs of a test of the repository fails'],
  ['gutted-test', 'at first it empties the tests and leaves wrong code'],
  ['skipped-test', 'at first it skips the new test and leaves wrong code'],
  ['edited-check', 'at first it makes the script of the check `true` and leaves wrong code'],
  ['special-case', 'at first its code knows the inputs of the test and nothing else'],
  ['red-baseline', 'none: a test of the repository fails from the start'],
  ['no-test', 'none: the task is about documentation, no test can show it'],
  ['refusal', 'at first it refuses in words'],
  ['invalid-answers', 'its first answer of each document, plan and verdict has the wrong shape'],
  ['endless-reading', 'at first it reads and never ends'],
  ['other-task', 'at first it does the work of another task'],
] as const;

export type AgentName = (typeof AGENTS)[number][0];

/** Tried beside the twelve: a check whose tool is not installed. */
export const MISSING_TOOL = 'missing-tool';
export type TrialName = AgentName | typeof MISSING_TOOL | SituationName;

/** Attempts that fail by the agent's fault alone: they end a drive, and somebody has to type `devs resume`. */
export const MAY_STOP: ReadonlySet<TrialName> = new Set(['refusal', 'invalid-answers', 'endless-reading']);

/** What a person has to decide beside design and plan. */
export const NEEDED_GATES: Readonly<Partial<Record<TrialName, readonly string[]>>> = {
  'red-baseline': ['baseline'],
  [MISSING_TOOL]: ['baseline'],
};
