import type { CallUsage } from '@devs/core';

/** How a coding CLI is called: its prompt on stdin, its files edited in place. */
export interface CommandRecipe {
  /** Shown wherever the run is shown. */
  readonly name: string;
  /** Program and arguments; `{promptFile}` becomes the path of a file with the prompt. */
  readonly argv: readonly string[];
  /** The same where a sandbox confines it, for a CLI that brings one of its own. @defaultValue `argv` */
  readonly argvInSandbox?: readonly string[];
  /** Names of the variables it may see, its key among them. @defaultValue none */
  readonly env?: readonly string[];
  /** Files below your home that are copied into its own: how it is logged in. @defaultValue none */
  readonly home?: readonly string[];
  /** False for a program that asks nobody: a sandbox then gives it no network. @defaultValue true */
  readonly network?: boolean;
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
