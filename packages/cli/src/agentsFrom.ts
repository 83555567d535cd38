import { existsSync } from 'node:fs';
import path from 'node:path';
import { CommandChecks, GitWorkspace, ReplayAgents } from '@devs/agents';
import type { OrchestratorOptions } from '@devs/core';
import { splitCommand } from './splitCommand.ts';
import { usageError } from './usageError.ts';

/** Who works on a run and what judges the work. Recorded with the run, so that `resume` needs no flags. */
export interface AgentsSpec {
  /** `none`, or `replay:` and an absolute path. */
  readonly agents: string;
  /** Program and arguments. */
  readonly check: readonly string[];
  /** Absolute path of the repository the run works for; `null` when it began empty. */
  readonly repository: string | null;
}

export interface AgentsFlags {
  readonly agents?: string;
  readonly check?: string;
  /** False for a run that begins empty even where there is a repository. */
  readonly repository?: boolean;
}

const DEFAULT_CHECK = ['npm', 'test'] as const;
const REPLAY = 'replay:';
const CHOICES =
  'Choose --agents replay:FILE (a recording) or --agents none (walk the stages, write nothing).';

/**
 * Reads the flags; what they leave out comes from `recorded`. A new run works for the repository at `dir`.
 *
 * @throws DevsError `CONFIG_INVALID` naming the choices.
 */
export function specFrom(
  flags: AgentsFlags,
  { cwd, dir }: { readonly cwd: string; readonly dir: string },
  recorded: AgentsSpec | null,
): AgentsSpec {
  const { agents, check } = flags;
  if (agents === undefined && recorded === null) throw usageError('No agents are named.', CHOICES);
  return {
    agents: agents === undefined ? (recorded?.agents ?? 'none') : absolute(agents, cwd),
    check: check === undefined ? (recorded?.check ?? DEFAULT_CHECK) : splitCommand(check),
    repository: recorded === null ? repositoryAt(dir, flags) : recorded.repository,
  };
}

function repositoryAt(dir: string, { repository = true }: AgentsFlags): string | null {
  return repository && existsSync(path.join(dir, '.git')) ? dir : null;
}

export const specText = (spec: AgentsSpec): string => JSON.stringify(spec);

/** The inverse of {@link specText}; `null` for a run that was started by another program. */
export function parseSpec(text: string | null): AgentsSpec | null {
  const value = parsed(text);
  if (typeof value !== 'object' || value === null) return null;
  const { agents, check, repository = null } = value as Partial<AgentsSpec>;
  return typeof agents === 'string' && Array.isArray(check) ? { agents, check, repository } : null;
}

/** @throws DevsError `CONFIG_INVALID` when a recording cannot be read. */
export function agentsFrom(
  { agents, check, repository }: AgentsSpec,
  dir: string,
): Pick<OrchestratorOptions, 'agents' | 'workspace' | 'checks'> {
  if (agents === 'none') return {};
  return {
    agents: ReplayAgents.open(agents.slice(REPLAY.length)),
    workspace: new GitWorkspace({ dir, ...(repository !== null && { repository }) }),
    checks: new CommandChecks({ argv: check }),
  };
}

function absolute(agents: string, cwd: string): string {
  if (agents === 'none') return agents;
  if (agents.startsWith(REPLAY) && agents.length > REPLAY.length) {
    return `${REPLAY}${path.resolve(cwd, agents.slice(REPLAY.length))}`;
  }
  throw usageError(`There are no agents ${JSON.stringify(agents)}.`, CHOICES);
}

function parsed(text: string | null): unknown {
  try {
    return text === null ? null : JSON.parse(text);
  } catch {
    return null;
  }
}
