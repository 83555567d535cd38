import { constants } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import path from 'node:path';
import { isDeepStrictEqual, parseEnv } from 'node:util';
import { configBytes, configPath } from '../config/configFile.ts';
import {
  type EnvironmentSettings,
  hasEnvironment,
  isAllowedVariable,
} from '../config/environmentSettings.ts';
import type { ProjectConfig } from '../config/ProjectConfig.ts';
import { readConfig } from '../config/readConfig.ts';
import { registerSecretVariables } from '../config/secretVariables.ts';
import { toolKind } from '../flags/agentNames.ts';
import type { RunSpec } from '../flags/runSpec.ts';
import { usageError } from '../usageError.ts';
import { acceptedConfig } from './acceptedConfig.ts';
import type { Session } from './Session.ts';

export type Variables = Readonly<Record<string, string>>;

/** Additions of single commands of a run to the environment that every command gets. */
export interface RunEnvironments {
  readonly setup: Variables;
  /** In the order of the checks. */
  readonly checks: readonly Variables[];
  /** Of coding CLIs, by name. */
  readonly agents: Readonly<Record<string, Variables>>;
  /** Figures that coding CLIs report, by name. */
  readonly reports: NonNullable<ProjectConfig['agentReports']>;
}

/**
 * The variables of a run's commands as the configuration of the project names them now, once this user has accepted it. A check
 * has those of the check of its name and command.
 *
 * @throws DevsError `CONFIG_INVALID` for an unusable file, or for agents that are not a coding CLI; `CONFIG_NOT_TRUSTED`.
 */
export async function environmentsOf(
  { checks }: Pick<RunSpec, 'checks'>,
  session: Session,
): Promise<RunEnvironments> {
  const config = await configuredEnvironments(session);
  if (config === null) return { setup: {}, checks: [], agents: {}, reports: {} };
  const { setup, agentEnv = {}, agentReports: reports = {} } = config;
  const wrong = Object.keys(agentEnv).find((name) => toolKind(name) === null);
  if (wrong !== undefined) {
    throw usageError(
      `"agentEnv" in .devs/config.json names ${JSON.stringify(wrong)}, which is no coding CLI.`,
      'Use a name as in "agents" or "stages", such as claude. Models run in the process of devs, with its environment.',
    );
  }
  const silent = Object.keys(reports).find((name) => toolKind(name) !== 'acp');
  if (silent !== undefined) {
    throw usageError(
      `"agentReports" in .devs/config.json names ${JSON.stringify(silent)}, which is no CLI with the Agent Client Protocol.`,
      'Use a name as in "agents" or "stages", such as acp:my-agent. Other CLIs have no way to report figures.',
    );
  }
  const ofChecks: Variables[] = [];
  for (const { name, argv } of checks) {
    const now = config.checks.find((each) => each.name === name && isDeepStrictEqual(each.argv, argv));
    ofChecks.push(await variablesOf(now ?? {}, `check ${JSON.stringify(name)}`, session));
  }
  const agents: Record<string, Variables> = {};
  for (const [name, named] of Object.entries(agentEnv)) {
    agents[name] = await variablesOf(named, `agent ${JSON.stringify(name)}`, session);
  }
  const ofSetup = setup === undefined || Array.isArray(setup) ? {} : setup;
  return { setup: await variablesOf(ofSetup, 'setup', session), checks: ofChecks, agents, reports };
}

/** The accepted configuration; `null` for one without an environment or figures, which need not be accepted. */
async function configuredEnvironments(session: Session): Promise<ProjectConfig | null> {
  const bytes = await configBytes(configPath(session.dir));
  // An unreadable one does not stop a run that does not need it.
  if (bytes === null || !/"(?:env|envFile|passEnv|agentReports)"/.test(bytes.toString('utf8'))) return null;
  const { config } = await readConfig(session.dir);
  const { setup, checks, agentEnv = {} } = config;
  const all = [
    ...checks,
    ...Object.values(agentEnv),
    ...(setup === undefined || Array.isArray(setup) ? [] : [setup]),
  ];
  return all.some(hasEnvironment) || config.agentReports !== undefined ? acceptedConfig(session) : null;
}

/**
 * The environment of one command: the variables of its file, over them those of your environment, over both those that the
 * configuration sets. Secrets among them are masked from here on.
 */
async function variablesOf(
  { env = {}, envFile, passEnv = [] }: EnvironmentSettings,
  of: string,
  { dir, io, out }: Pick<Session, 'dir' | 'io' | 'out'>,
): Promise<Variables> {
  const unset = passEnv.filter((name) => io.env[name] === undefined);
  if (unset.length > 0) out.note(`"passEnv" of ${of} names what is not set here: ${unset.join(', ')}`);
  const passed = passEnv.flatMap((name) => {
    const value = io.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const ofFile = envFile === undefined ? {} : await fileVariables(envFile, of, dir);
  const variables = { ...ofFile, ...Object.fromEntries(passed), ...env };
  registerSecretVariables(variables);
  return variables;
}

/** Refuses links that lead out of the project: an author of the repository may have put them there. */
async function fileVariables(file: string, of: string, dir: string): Promise<Variables> {
  const place = path.join(dir, file);
  try {
    const folder = await realpath(path.dirname(place));
    if (path.relative(await realpath(dir), folder).startsWith('..'))
      throw new Error('it is outside of the project');
    const handle = await open(
      path.join(folder, path.basename(place)),
      constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    );
    try {
      if (!(await handle.stat()).isFile()) throw new Error('it is not a file');
      return passable(parseEnv(await handle.readFile('utf8')), file);
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw usageError(
      `Cannot read ${place}, the envFile of ${of}: ${(error as Error).message}`,
      'Create the file (many repositories have an example of it), or remove "envFile" from .devs/config.json.',
      error,
    );
  }
}

function passable(variables: ReturnType<typeof parseEnv>, file: string): Variables {
  const found = Object.entries(variables).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  const refused = found.find(([name]) => !isAllowedVariable(name));
  if (refused !== undefined) throw new Error(`${file} sets ${refused[0]}, which devs sets itself`);
  return Object.fromEntries(found);
}
