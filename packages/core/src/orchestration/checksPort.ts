import type { OnActivity } from '../events/Activity.ts';

// What judges the work.

export interface CheckResult {
  readonly passed: boolean;
  /** `null` when the command was ended by a signal. */
  readonly exitCode: number | null;
  readonly timedOut: boolean;
  /** Tail of stdout and stderr together, masked. */
  readonly output: string;
  /** The command, as it was run. */
  readonly command: string;
  /** What each named part said, where there is more than one. */
  readonly parts?: readonly CheckPart[];
  /** Test cases by name; absent where the runner does not tell, or there are too many. */
  readonly cases?: readonly TestCase[];
  /** Cases, or commands, that failed and passed on the same tree. */
  readonly flaky?: readonly string[];
  /** A program that is not there: nothing was checked. */
  readonly missing?: string;
}

export interface TestCase {
  /** With the file and suites it stands in, joined by ` › `, as far as the runner tells: unique in its run. */
  readonly name: string;
  readonly state: 'passed' | 'failed' | 'skipped';
  /** Stands for a file whose cases are not told: all of them passed; or it did not load, or not end. */
  readonly whole?: true;
}

/** One of several commands of a check. */
export interface CheckPart {
  readonly name: string;
  /** A lint error is not a red test. */
  readonly kind: 'test' | 'types' | 'lint';
  readonly passed: boolean;
}

export interface CheckRequest {
  /** Where the command runs, absolute. */
  readonly dir: string;
  /** The workspace, where `dir` is a folder inside it. @defaultValue `dir` */
  readonly root?: string;
  readonly signal: AbortSignal;
  /** Told what the checks print. */
  readonly onActivity?: OnActivity;
  /** What is due: a red that is expected is not run again to see whether it is flaky. @defaultValue 'pass' */
  readonly expect?: 'pass' | 'fail';
}

/** Runs the project's own tests. */
export interface Checks {
  run(request: CheckRequest): Promise<CheckResult>;
  /**
   * Runs the command a task is `checked-by` as the project's own are run, with the same rights and limits.
   *
   * @param argv - Program and arguments, without a shell.
   * @defaultValue a run with such a task ends with `CONFIG_INVALID`
   */
  runCommand?(argv: readonly string[], request: CheckRequest): Promise<CheckResult>;
}
