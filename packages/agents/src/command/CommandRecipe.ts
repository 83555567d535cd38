import type { CallUsage } from '@devs/core';
import type { CodingProgram } from '../coding/CodingTool.ts';

/**
 * How to call a coding CLI: prompt on stdin, files edited in place. In `argv`, `{promptFile}` becomes the path of a
 * file with the prompt.
 */
export interface CommandRecipe extends CodingProgram {
  /** `argv` inside a sandbox, for a CLI that brings its own. @defaultValue `argv` */
  readonly argvInSandbox?: readonly string[];
  /** Reads its output. @defaultValue all output is the answer */
  readonly read?: (stdout: string) => CommandReply;
}

/** Answer and cost of a coding CLI. */
export interface CommandReply {
  readonly text: string;
  readonly usage: CallUsage;
  /** Error that the CLI reports, regardless of its exit code; `null` without one. */
  readonly problem: string | null;
}
