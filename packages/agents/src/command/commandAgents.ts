import type { StageAgents } from '@devs/core';
import { type CodingAgentsOptions, codingAgents } from '../coding/codingAgents.ts';
import { CommandLine } from './CommandLine.ts';
import type { CommandRecipe } from './CommandRecipe.ts';
import { RECIPES, type RecipeName } from './recipes.ts';

const DEFAULT_MAX_OUTPUT_BYTES = 4 * 1024 * 1024;
const DEFAULT_GRACE_MS = 2_000;

/** A coding CLI known by name, or one of your own. */
export type CommandSource = RecipeName | CommandRecipe;

export interface CommandAgentsOptions extends CodingAgentsOptions<CommandSource> {
  /** Of every stage that `perStage` does not name. */
  readonly command: CommandSource;
  /** Time limit of one call, ms. @defaultValue 1 800 000 */
  readonly timeoutMs?: number;
  /** Bytes of output read, from its end. @defaultValue 4 MiB */
  readonly maxOutputBytes?: number;
  /** Time it has to end after SIGTERM, ms; then it is killed, with its group. @defaultValue 2 000 */
  readonly graceMs?: number;
}

/**
 * Agents that call an installed coding CLI that speaks no protocol (those that do are for `acpAgents`). It edits the
 * workspace in place, and the engine takes the difference; where a stage is about documents, a plan or a verdict it
 * answers with JSON, and an answer of the wrong shape is sent back once.
 *
 * It is given a network unless its recipe needs none, the variables and files its recipe names, and nothing else of this
 * process's environment. What it prints is told as it comes (`call.onActivity`).
 *
 * @throws DevsError `CONFIG_INVALID` when a program is not installed.
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
