import type { CallUsage } from '@devs/core';
import type { CodingProgram } from '../coding/CodingTool.ts';

/**
 * How a coding CLI is called: its prompt on stdin, its files edited in place. In `argv`, `{promptFile}` becomes the path
 * of a file with the prompt.
 */
export interface CommandRecipe extends CodingProgram {
  /** `argv` where a sandbox confines it, for a CLI that brings one of its own. @defaultValue `argv` */
  readonly argvInSandbox?: readonly string[];
  /** Reads what it printed. @defaultValue all of it is the answer */
  readonly read?: (stdout: string) => CommandReply;
}

/** What a coding CLI said, and what it says it cost. */
export interface CommandReply {
  readonly text: string;
  readonly usage: CallUsage;
  /** Why the CLI says it failed, whatever its exit code; `null` when it does not. */
  readonly problem: string | null;
}
