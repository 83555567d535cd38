import type { StageAgents } from '@devs/core';
import { type CodingAgentsOptions, codingAgents } from '../coding/codingAgents.ts';
import { CommandLine } from './CommandLine.ts';
import type { CommandRecipe } from './CommandRecipe.ts';
import { RECIPES, type RecipeName } from './recipes.ts';

const DEFAULT_MAX_OUTPUT_BYTES = 4 * 1024 * 1024;
const DEFAULT_GRACE_MS = 2_000;

/** The name of a known coding CLI, or your own. */
export type CommandSource = RecipeName | CommandRecipe;

export interface CommandAgentsOptions extends CodingAgentsOptions<CommandSource> {
  /** The CLI of every stage not in `perStage`. */
  readonly command: CommandSource;
  /** Longest call, in milliseconds. @defaultValue 1 800 000 */
  readonly timeoutMs?: number;
  /** Bytes of output to read, from its end. @defaultValue 4 MiB */
  readonly maxOutputBytes?: number;
  /** Time to end after SIGTERM, in milliseconds; then its process group is killed. @defaultValue 2 000 */
  readonly graceMs?: number;
}

/**
 * Creates agents that call an installed coding CLI without a protocol (see `acpAgents` for those with one). The CLI
 * edits the workspace in place, and the engine takes the difference. In stages with documents, a plan or a verdict it
 * answers with JSON; an answer of the wrong shape is returned once.
 *
 * It has a network unless its recipe disables it, and sees only the variables and files of its recipe. Its output is
 * reported as it arrives (`call.onActivity`).
 *
 * @throws DevsError `CONFIG_INVALID` if a program is not installed.
 *
 * @example
 * ```ts
 * const sandbox = await findSandbox('bwrap', { project: process.cwd() });
 * const agents = await commandAgents({ command: 'aider', sandbox });
 * ```
 */
export function commandAgents(options: CommandAgentsOptions): Promise<StageAgents> {
  const { command, maxOutputBytes = DEFAULT_MAX_OUTPUT_BYTES, graceMs = DEFAULT_GRACE_MS } = options;
  return codingAgents(command, { ...options, maxOutputBytes, graceMs }, (source, limits) =>
    CommandLine.find(typeof source === 'string' ? RECIPES[source] : source, limits),
  );
}
