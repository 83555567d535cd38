import { createHash } from 'node:crypto';
import {
  type AcpAgentsOptions,
  acpAgents,
  agentsPerStage,
  CheckSuite,
  type CommandAgentsOptions,
  CommandChecks,
  type CommandChecksOptions,
  commandAgents,
  findSandbox,
  GitWorkspace,
  type GitWorkspaceOptions,
  modelAgents,
  ReplayAgents,
  type Sandbox,
  SteadyChecks,
} from '@devs/agents';
import { ACP_PROGRAMS, checkKind, type ModelStage, RECIPES } from '@devs/agents/internal';
import type { Checks, OrchestratorOptions, StageAgents } from '@devs/core';
import {
  type AgentNames,
  acpSource,
  commandSource,
  REPLAY,
  type ToolKind,
  toolKind,
} from '../flags/agentNames.ts';
import { gitIdentity } from '../flags/gitAuthor.ts';
import { type RunSpec, repositoryFor } from '../flags/runSpec.ts';
import { environmentsOf, type RunEnvironments, type Variables } from './environmentsOf.ts';
import type { Session } from './Session.ts';

/** Installing takes longer than testing. */
const SETUP_TIMEOUT_MS = 15 * 60_000;

/**
 * @throws DevsError `CONFIG_INVALID` when a recording cannot be read, or a model, its package, its key or a command is
 *   missing; `SANDBOX_MISSING` when the run's sandbox does not run here.
 */
export async function agentsFrom(
  spec: RunSpec,
  session: Session,
): Promise<
  Pick<OrchestratorOptions, 'agents' | 'workspace' | 'checks' | 'agentChecks' | 'secrets' | 'limits'>
> {
  const { checks, agentChecks, secrets, limits } = spec;
  const { repository, git, withChanges, sandbox: choice, ...names } = spec;
  const { dir } = session;
  const recorded = { ...(secrets !== undefined && { secrets }), ...(limits !== undefined && { limits }) };
  if (names.agents === 'none') return recorded;
  const sandbox = await findSandbox(choice, { project: dir });
  const given = await environmentsOf(spec, session);
  // What was recorded once is nobody's work of today.
  const author = names.agents.startsWith(REPLAY) ? null : await gitIdentity(dir);
  return {
    ...recorded,
    agents: await namedAgents(names, {
      sandbox,
      variables: given.agents,
      reports: given.reports,
      ...(spec.maxWaitMs !== undefined && { maxWaitMs: spec.maxWaitMs }),
    }),
    workspace: new GitWorkspace({
      dir,
      ...(author !== null && { author }),
      ...repositoryFor({ repository, ...(git && { git }) }),
      ...(git && { commits: { sign: git.sign, hooks: git.hooks } }),
      ...(withChanges && { withChanges }),
      ...setupOf(spec, sandbox, given.setup),
    }),
    checks: suiteOf(checks, sandbox, given.checks),
    ...(agentChecks !== undefined && { agentChecks }),
  };
}

function setupOf(
  { setup, setupInputs, setupNetwork = true, caches }: RunSpec,
  sandbox: Sandbox | null,
  variables: Variables,
): Partial<GitWorkspaceOptions> {
  return {
    ...(setup !== null && {
      setup: setupChecks(setup, { sandbox, network: setupNetwork, variables }),
      setupArgv: [...setup, ...variablesDigest(variables)],
    }),
    ...(setupInputs !== undefined && { setupInputs }),
    ...(caches !== undefined && { caches }),
  };
}

/** The files that setup makes may depend on its environment: then they are made again. */
function variablesDigest(variables: Variables): readonly string[] {
  const named = Object.entries(variables).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return named.length === 0 ? [] : [createHash('sha256').update(JSON.stringify(named)).digest('hex')];
}

/** What it installs comes over the network. */
function setupChecks(
  argv: readonly string[],
  given: Required<Pick<CommandChecksOptions, 'sandbox' | 'network' | 'variables'>>,
): Checks {
  return new CommandChecks({ argv, timeoutMs: SETUP_TIMEOUT_MS, networkSettings: given.network, ...given });
}

/** One check is shown as its command alone. */
function suiteOf(
  checks: RunSpec['checks'],
  sandbox: Sandbox | null,
  variables: readonly Variables[],
): Checks {
  const named = checks.map(
    ({ name, dir, kind: asked, parallel, retries = 2, argv, timeoutMs, report, network = false }, at) => {
      const kind = asked ?? checkKind(argv);
      return {
        name,
        dir,
        kind,
        parallel: parallel ?? onlyReads(kind, argv),
        checks: new SteadyChecks(
          new CommandChecks({
            argv,
            timeoutMs,
            sandbox,
            network,
            networkSettings: network,
            variables: variables[at] ?? {},
            ...(report !== undefined && { report }),
          }),
          retries,
        ),
      };
    },
  );
  const [only, ...rest] = named;
  return only?.dir === '.' && rest.length === 0 ? only.checks : new CheckSuite(named);
}

/** A linter only reads; a compiler may write files that tests use. */
const onlyReads = (kind: NonNullable<RunSpec['checks'][number]['kind']>, argv: readonly string[]): boolean =>
  kind === 'lint'
    ? !argv.some((word) => /^--(?:fix|write)\b/.test(word))
    : kind === 'types' && argv.includes('--noEmit');

/** What agents are made with beside their names. */
export interface AgentSetting {
  readonly sandbox: Sandbox | null;
  /** Of coding CLIs, by their name as in `--agents`. @defaultValue none */
  readonly variables?: Readonly<Record<string, Variables>>;
  /** Figures that coding CLIs report, by the same name. @defaultValue the known ones */
  readonly reports?: RunEnvironments['reports'];
  /** Longest wait at a rate limit or quota, ms. */
  readonly maxWaitMs?: number;
}

/**
 * The agents of these names, loaded: models and coding CLIs may share the stages.
 *
 * @throws DevsError `CONFIG_INVALID` when one cannot be used.
 */
export async function namedAgents(names: AgentNames, setting: AgentSetting): Promise<StageAgents> {
  const { agents, perStage = {} } = names;
  if (agents.startsWith(REPLAY)) return ReplayAgents.open(agents.slice(REPLAY.length));
  const kind = workerKind(agents);
  const stages = new Map<WorkerKind, StageNames>();
  for (const [stage, name] of Object.entries(perStage))
    stages.set(workerKind(name), { ...stages.get(workerKind(name)), [stage]: name });
  const base = await agentsOfKind(
    kind,
    { name: agents, perStage: stages.get(kind) ?? {}, ...promptsOf(names) },
    setting,
  );
  const guests: Partial<Record<ModelStage, StageAgents>> = {};
  for (const [other, theirs] of stages) {
    if (other === kind) continue;
    const [first = agents] = Object.values(theirs);
    const guest = await agentsOfKind(other, { name: first, perStage: theirs, ...promptsOf(names) }, setting);
    for (const stage of Object.keys(theirs) as ModelStage[]) guests[stage] = guest;
  }
  return Object.keys(guests).length === 0 ? base : agentsPerStage(base, guests);
}

type WorkerKind = ToolKind | 'model';
type StageNames = Readonly<Partial<Record<ModelStage, string>>>;

const workerKind = (name: string): WorkerKind => toolKind(name) ?? 'model';

/** Agents of one kind: that of most stages, and those of single ones. */
interface WorkersToLoad extends Pick<AgentNames, 'prompts'> {
  readonly name: string;
  readonly perStage: StageNames;
}

const promptsOf = ({ prompts }: AgentNames): Pick<AgentNames, 'prompts'> =>
  prompts === undefined ? {} : { prompts };

/** All of them models, or all of them coding CLIs that are driven in the same way. */
function agentsOfKind(
  kind: WorkerKind,
  { name, perStage, ...common }: WorkersToLoad,
  { sandbox, variables = {}, reports = {}, ...patience }: AgentSetting,
): Promise<StageAgents> {
  const each = <Source>(source: (text: string) => Source): Partial<Record<ModelStage, Source>> =>
    Object.fromEntries(Object.entries(perStage).map(([stage, text]) => [stage, source(text)]));
  switch (kind) {
    case 'model':
      return modelAgents({ ...common, ...patience, model: name, perStage });
    case 'acp': {
      const program = eachOnce((text) => acpProgram(text, variables[text], reports[text]));
      return acpAgents({
        ...common,
        ...patience,
        sandbox,
        agent: program(name),
        perStage: each(program),
      });
    }
    case 'command': {
      const recipe = eachOnce((text) => commandRecipe(text, variables[text]));
      return commandAgents({
        ...common,
        ...patience,
        sandbox,
        command: recipe(name),
        perStage: each(recipe),
      });
    }
  }
}

/** One source for each name: a program that is found twice would run twice. */
function eachOnce<Source>(source: (text: string) => Source): (text: string) => Source {
  const known = new Map<string, Source>();
  return (text) => {
    const found = known.get(text) ?? source(text);
    known.set(text, found);
    return found;
  };
}

/** @param reports - Only for figures that are not known of a program. */
function acpProgram(
  text: string,
  variables: Variables | undefined,
  reports: RunEnvironments['reports'][string] | undefined,
): AcpAgentsOptions['agent'] {
  const source = acpSource(text);
  if (variables === undefined && reports === undefined) return source;
  return {
    ...(reports && { countsTokens: reports.includes('tokens'), countsCost: reports.includes('cost') }),
    ...(typeof source === 'string' ? ACP_PROGRAMS[source] : source),
    ...(variables && { variables }),
  };
}

function commandRecipe(text: string, variables: Variables | undefined): CommandAgentsOptions['command'] {
  const source = commandSource(text);
  if (variables === undefined) return source;
  return { ...(typeof source === 'string' ? RECIPES[source] : source), variables };
}
