import type { OnActivity } from '../events/Activity.ts';

// What judges the work.

export interface CheckResult {
  readonly passed: boolean;
  /** `null` if a signal ended the command. */
  readonly exitCode: number | null;
  readonly timedOut: boolean;
  /** End of stdout and stderr together, masked. */
  readonly output: string;
  /** The executed command. */
  readonly command: string;
  /** Results of each named part, if there are several. */
  readonly parts?: readonly CheckPart[];
  /** Test cases by name; absent if the runner does not report them, or reports too many. */
  readonly cases?: readonly TestCase[];
  /** Cases or commands that failed and then passed on the same tree. */
  readonly flaky?: readonly string[];
  /** A missing program: the check did not run. */
  readonly missing?: string;
}

export interface TestCase {
  /** Name with its file and suites, joined by ` › `; unique in its run. */
  readonly name: string;
  readonly state: 'passed' | 'failed' | 'skipped';
  /** Represents a file without reported cases: all passed, or it did not load or end. */
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
  /** Absolute path of the folder to run in. */
  readonly dir: string;
  /** The workspace, if `dir` is a folder inside it. @defaultValue `dir` */
  readonly root?: string;
  readonly signal: AbortSignal;
  /** Receives the output of the checks. */
  readonly onActivity?: OnActivity;
  /** The expected result: an expected failure is not repeated to find flaky tests. @defaultValue 'pass' */
  readonly expect?: 'pass' | 'fail';
}

/** Runs the project's own tests. */
export interface Checks {
  run(request: CheckRequest): Promise<CheckResult>;
  /**
   * Runs the command of a `checked-by` task, with the rights and limits of the project's checks.
   *
   * @param argv - Program and arguments, without a shell.
   * @defaultValue a run with such a task ends with `CONFIG_INVALID`
   */
  runCommand?(argv: readonly string[], request: CheckRequest): Promise<CheckResult>;
}
