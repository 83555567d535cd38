import path from 'node:path';
import type { GitWorkspaceOptions } from '@devs/agents';
import { MODEL_STAGES } from '@devs/agents/internal';
import { z } from 'zod';
import {
  agentChecksSchema,
  gitSchema,
  limitsSchema,
  type ProjectConfig,
  REPOSITORY_URL,
  recordedCheckSchema,
  sandboxSchema,
  secretsSchema,
} from '../config/ProjectConfig.ts';
import { repositoryAround } from '../config/repositoryAround.ts';
import { usageError } from '../usageError.ts';
import { agentNames, REPLAY } from './agentNames.ts';
import { splitCommand } from './commandWords.ts';

/** Who works on a run and what judges the work. Recorded with the run, so that `resume` needs no flags. */
const specSchema = z.object({
  /** `none`, `replay:` and an absolute path, `provider:model`, or a coding CLI. */
  agents: z.string(),
  perStage: z.partialRecord(z.enum(MODEL_STAGES), z.string()).exactOptional(),
  /** What a model is asked with; a run keeps the version it was started with. */
  prompts: z.string().exactOptional(),
  checks: z.array(recordedCheckSchema).min(1),
  agentChecks: agentChecksSchema.exactOptional(),
  /** Program and arguments that prepare the folder; `null` when nothing has to be prepared. */
  setup: z.array(z.string()).nullable(),
  /** False for a setup without a network. */
  setupNetwork: z.boolean().exactOptional(),
  /** Patterns of what it reads beside manifests and lockfiles. */
  setupInputs: z.array(z.string()).exactOptional(),
  /** Paths that are kept from one check to the next. */
  caches: z.array(z.string()).exactOptional(),
  /** Every process that writes to the run masks alike. */
  secrets: secretsSchema.exactOptional(),
  /** How large may be what is recorded of it. */
  limits: limitsSchema.exactOptional(),
  /** `none` is a permission that was given: part of the record. */
  sandbox: sandboxSchema,
  /** Absolute path or URL of the repository the run works for; `null` when it began empty. */
  repository: z.string().nullable(),
  /** What git starts of the user's own configuration. */
  git: gitSchema.exactOptional(),
  /** Longest wait at a rate limit or quota, ms. */
  maxWaitMs: z.int().nonnegative().exactOptional(),
  /** Whose uncommitted changes it began with. */
  withChanges: z
    .object({ author: z.object({ name: z.string(), email: z.string() }), principal: z.string() })
    .exactOptional(),
});

export type RunSpec = Readonly<z.infer<typeof specSchema>>;

export interface SpecFlags {
  /** As often as the option was given. */
  readonly agents?: readonly string[];
  readonly check?: string;
  /** False for a run whose commands may do what this user can. */
  readonly sandbox?: boolean;
  /** False for a run that begins empty even where there is a repository. */
  readonly repository?: boolean;
  /** Milliseconds. */
  readonly maxWait?: number;
}

export const MAX_WAIT_HELP =
  'longest wait for a provider that takes no more requests, such as 2h (default: 30m); then the run is due at the hour that it names';

/** What a command line is read against. */
export interface SpecSource {
  readonly cwd: string;
  /** The project folder, absolute. */
  readonly dir: string;
  readonly config: ProjectConfig;
}

const DEFAULT_CHECK = ['npm', 'test'] as const;

/**
 * What a new run is done with: the flags, else the project's configuration, else the defaults.
 *
 * @throws DevsError `CONFIG_INVALID` naming the choices; also in a folder inside a repository.
 */
export function newSpec(flags: SpecFlags, { cwd, dir, config }: SpecSource): RunSpec {
  const { agents, check } = flags;
  return {
    ...(agents === undefined ? agentNames(configured(config), dir) : agentNames(agents, cwd)),
    checks: check !== undefined ? [only(splitCommand(check))] : checksOf(config),
    ...(config.agentChecks !== undefined && { agentChecks: config.agentChecks }),
    ...setupSpec(config),
    ...(config.caches !== undefined && { caches: config.caches }),
    ...(config.secrets !== undefined && { secrets: config.secrets }),
    ...(config.limits !== undefined && { limits: config.limits }),
    sandbox: flags.sandbox === false ? 'none' : config.sandbox,
    repository: flags.repository === false ? null : repositoryOf(config.repository, dir),
    ...(config.git !== undefined && { git: config.git }),
    ...(flags.maxWait !== undefined && { maxWaitMs: flags.maxWait }),
  };
}

/** A run of a folder inside a repository would begin without the files that lie in it: nobody expects that. */
function repositoryOf(repository: ProjectConfig['repository'], dir: string): string | null {
  if (typeof repository === 'string') return repository;
  if (!repository) return null;
  const top = repositoryAround(dir);
  if (top === null || top === dir) return top;
  throw usageError(
    `${dir} is inside the repository ${top}, and a run needs the whole repository.`,
    `Use its top folder with --dir ${top}, or --no-repository to start with an empty folder.`,
  );
}

/** What a recorded run goes on with: what it was started with, where no flag says otherwise. */
export function resumedSpec(
  { agents, check, sandbox, maxWait }: SpecFlags,
  cwd: string,
  recorded: RunSpec,
): RunSpec {
  const { agents: recordedAgents, perStage, prompts, ...rest } = recorded;
  const names = { agents: recordedAgents, ...(perStage && { perStage }), ...(prompts && { prompts }) };
  return {
    ...rest,
    ...(agents === undefined ? names : agentNames(agents, cwd)),
    ...(check !== undefined && { checks: [only(splitCommand(check))] }),
    ...(sandbox === false && { sandbox: 'none' }),
    ...(maxWait !== undefined && { maxWaitMs: maxWait }),
  };
}

/** The configuration in the words of `--agents`. */
function configured({ agents, stages = {} }: ProjectConfig): readonly string[] {
  const forStages = Object.entries(stages).map(([stage, model]) => `${stage}=${model}`);
  return agents === undefined ? forStages : [agents, ...forStages];
}

function setupSpec({ setup }: ProjectConfig): Pick<RunSpec, 'setup' | 'setupInputs' | 'setupNetwork'> {
  if (setup === undefined) return { setup: null };
  if (Array.isArray(setup)) return { setup };
  const { argv, inputs, network } = setup;
  return {
    setup: argv,
    ...(inputs !== undefined && { setupInputs: inputs }),
    ...(network !== undefined && { setupNetwork: network }),
  };
}

function checksOf({ checks }: ProjectConfig): RunSpec['checks'] {
  return checks.length > 0 ? checks.map(withoutEnvironment) : [only(DEFAULT_CHECK)];
}

/** Its environment is not recorded. */
function withoutEnvironment(check: ProjectConfig['checks'][number]): RunSpec['checks'][number] {
  const { env: _env, envFile: _envFile, passEnv: _passEnv, ...recorded } = check;
  return recorded;
}

function only(argv: readonly string[]): RunSpec['checks'][number] {
  return recordedCheckSchema.parse({ name: 'check', argv });
}

/**
 * A spec as every machine of a cluster reads it: files of the project are named from its folder.
 *
 * @throws DevsError `CONFIG_INVALID` for one that names a place of this machine.
 */
export function travellingSpec(spec: RunSpec, dir: string): RunSpec {
  const { repository, agents } = spec;
  if (repository !== null && !REPOSITORY_URL.test(repository)) {
    throw usageError(
      `A cluster run cannot use ${repository}: other machines do not have it.`,
      'Set the URL of the repository in .devs/config.json, "repository": "https://…", or use --no-repository to start with an empty folder.',
    );
  }
  if (!agents.startsWith(REPLAY)) return spec;
  const file = path.relative(dir, agents.slice(REPLAY.length));
  if (!file.startsWith('..') && !path.isAbsolute(file)) return { ...spec, agents: `${REPLAY}${file}` };
  throw usageError(
    `A cluster run cannot replay ${agents.slice(REPLAY.length)}: other machines do not have it.`,
    `Put the recording into the project folder, ${dir}, on every machine.`,
  );
}

/** The inverse of {@link travellingSpec}, on a machine that has the project in `dir`; any other spec as it is. */
export function specHere(spec: RunSpec, dir: string): RunSpec {
  const { agents } = spec;
  return agents.startsWith(REPLAY)
    ? { ...spec, agents: `${REPLAY}${path.resolve(dir, agents.slice(REPLAY.length))}` }
    : spec;
}

/** The repository a run works for, as its workspace takes it. */
export const repositoryFor = ({
  repository,
  git,
}: Pick<RunSpec, 'repository' | 'git'>): Pick<GitWorkspaceOptions, 'repository' | 'credentials'> =>
  repository === null ? {} : { repository, credentials: git?.credentials ?? false };

export const specText = (spec: RunSpec): string => JSON.stringify(spec);

/** The inverse of {@link specText}; `null` for a run that was started by another program. */
export function parseSpec(text: string | null): RunSpec | null {
  return specSchema.safeParse(parseJsonText(text)).data ?? null;
}

function parseJsonText(text: string | null): unknown {
  try {
    return text === null ? null : JSON.parse(text);
  } catch {
    return null;
  }
}
