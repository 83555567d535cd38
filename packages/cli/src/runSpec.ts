import { existsSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { checkSchema, type ProjectConfig } from './config/ProjectConfig.ts';
import { splitCommand } from './splitCommand.ts';
import { usageError } from './usageError.ts';

/** Who works on a run and what judges the work. Recorded with the run, so that `resume` needs no flags. */
const specSchema = z.object({
  /** `none`, or `replay:` and an absolute path. */
  agents: z.string(),
  checks: z.array(checkSchema).min(1),
  /** Program and arguments that prepare the folder; `null` when nothing has to be prepared. */
  setup: z.array(z.string()).nullable(),
  /** Absolute path of the repository the run works for; `null` when it began empty. */
  repository: z.string().nullable(),
});

export type RunSpec = Readonly<z.infer<typeof specSchema>>;

export interface SpecFlags {
  readonly agents?: string;
  readonly check?: string;
  /** False for a run that begins empty even where there is a repository. */
  readonly repository?: boolean;
}

/** What a command line is read against. */
export interface SpecSource {
  readonly cwd: string;
  /** The project folder, absolute. */
  readonly dir: string;
  readonly config: ProjectConfig;
}

const DEFAULT_CHECK = ['npm', 'test'] as const;
export const REPLAY = 'replay:';
const CHOICES =
  'Choose --agents replay:FILE (a recording) or --agents none (walk the stages, write nothing).';

/**
 * What a new run is done with: the flags, else the project's configuration, else the defaults.
 *
 * @throws DevsError `CONFIG_INVALID` naming the choices.
 */
export function newSpec(flags: SpecFlags, { cwd, dir, config }: SpecSource): RunSpec {
  const { agents = config.agents, check, repository = config.repository } = flags;
  if (agents === undefined) throw usageError('No agents are named.', CHOICES);
  return {
    agents: absolute(agents, flags.agents === undefined ? dir : cwd),
    checks: check !== undefined ? [only(splitCommand(check))] : checksOf(config),
    setup: config.setup ?? null,
    repository: repository && existsSync(path.join(dir, '.git')) ? dir : null,
  };
}

/** What a recorded run goes on with: what it was started with, where no flag says otherwise. */
export function resumedSpec({ agents, check }: SpecFlags, cwd: string, recorded: RunSpec): RunSpec {
  return {
    ...recorded,
    ...(agents !== undefined && { agents: absolute(agents, cwd) }),
    ...(check !== undefined && { checks: [only(splitCommand(check))] }),
  };
}

function checksOf({ checks }: ProjectConfig): RunSpec['checks'] {
  return checks.length > 0 ? checks : [only(DEFAULT_CHECK)];
}

function only(argv: readonly string[]): RunSpec['checks'][number] {
  return checkSchema.parse({ name: 'check', argv });
}

export const specText = (spec: RunSpec): string => JSON.stringify(spec);

/** The inverse of {@link specText}; `null` for a run that was started by another program. */
export function parseSpec(text: string | null): RunSpec | null {
  return specSchema.safeParse(parsed(text)).data ?? null;
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
