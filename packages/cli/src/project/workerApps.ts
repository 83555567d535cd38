// Work for `devs worker`: the apps of a module, or the pipeline of a project folder.

import { accessSync, constants, existsSync } from 'node:fs';
import path from 'node:path';
import { askGit } from '@devs/agents/internal';
import { type DurableApp, isDevsError, loadOrchestratorConfig, Orchestrator, type Runs } from '@devs/core';
import type { RunDriver } from '@devs/core/internal';
import type { PostgresRuns } from '@devs/postgres';
import { newSpec, type RunSpec } from '../flags/runSpec.ts';
import { usageError } from '../usageError.ts';
import { acceptedConfig } from './acceptedConfig.ts';
import { agentsFrom } from './agentsFrom.ts';
import { exportedBy, importedModule } from './moduleApps.ts';
import type { Session } from './Session.ts';

/** What a worker drives, and where its runs are. */
export type ClusterApp = RunDriver & { readonly runs: PostgresRuns };

/** A worker's app over a state file. */
export type FileApp = Pick<DurableApp<unknown, unknown, unknown>, 'queue' | 'runs' | 'work' | 'close'>;

interface LoadedApps {
  readonly apps: readonly ClusterApp[];
  readonly runs: PostgresRuns;
}

/**
 * The apps of a module for a worker: over state files, or over one cluster.
 *
 * @param file - Absolute.
 * @throws DevsError `CONFIG_INVALID` for a module that cannot be loaded, exports no app, or apps in files and in a cluster, or of
 *   several clusters.
 */
export async function loadApps(file: string): Promise<LoadedApps | readonly FileApp[]> {
  const exported = exportedBy(await importedModule(file));
  const fileApps = exported.filter(isFileApp);
  const apps = exported.filter(isClusterApp);
  const [first] = apps;
  if (first === undefined) {
    if (fileApps.length > 0) return fileApps;
    throw usageError(
      `${file} does not export an app.`,
      'Export durable(graph, { file }), or for a cluster durable(graph, { runs: postgres(url), name: NAME }), as default or app, or a list of them as apps.',
    );
  }
  if (fileApps.length > 0) {
    const remedy = 'Move the apps with state files into a module of their own.';
    throw usageError(`The apps of ${file} are in state files and in a cluster.`, remedy);
  }
  if (apps.some(({ runs }) => runs !== first.runs)) {
    const remedy = 'Call postgres(url) once, and pass the result to each app.';
    throw usageError(`The apps of ${file} use different clusters.`, remedy);
  }
  return { apps, runs: first.runs };
}

function isFileApp(value: unknown): value is FileApp {
  const { queue, work, runs } = Object(value) as Partial<Record<keyof FileApp, unknown>>;
  return typeof Object(queue).graph === 'string' && typeof work === 'function' && runs === null;
}

function isClusterApp(value: unknown): value is ClusterApp {
  const { queue, drive, runs } = Object(value) as Partial<Record<keyof ClusterApp, unknown>>;
  return (
    typeof Object(queue).graph === 'string' &&
    typeof drive === 'function' &&
    typeof Object(runs).work === 'function'
  );
}

/** Git that knows the settings the engine gives it. */
const GIT = { major: 2, minor: 36 } as const;

/** What the pipeline is driven with on this machine: as the configuration of its project says, like `devs run`. */
async function workerSpec(session: Session): Promise<RunSpec> {
  const { io, dir } = session;
  return newSpec({}, { cwd: io.cwd, dir, config: await acceptedConfig(session) });
}

/**
 * The pipeline, to be driven over `runs` by a worker in a project folder.
 *
 * @throws DevsError as `devs run`, for a configuration, agents or a sandbox that cannot be used here.
 */
export async function pipelineDriver(runs: Runs, session: Session): Promise<RunDriver> {
  const working = await agentsFrom(await workerSpec(session), session);
  const config = loadOrchestratorConfig(session.io.env, (text) => session.out.note(text));
  const prices = session.io.env['DEVS_PRICES']?.trim();
  const devs = await Orchestrator.open({ runs, config, ...(prices && { prices }), ...working });
  return devs.driver();
}

/** Something that a worker of this project needs and this machine does not have. */
export interface Missing {
  readonly what: 'git' | 'program' | 'agents';
  /** For people. */
  readonly why: string;
}

/** What this machine lacks to drive the pipeline; nothing is run but `git --version` and the sandbox's own test. */
export async function missingHere(session: Session): Promise<readonly Missing[]> {
  const spec = await workerSpec(session);
  const programs = [...spec.checks.map(({ argv }) => argv), ...(spec.setup === null ? [] : [spec.setup])];
  const names = [...new Set(programs.flatMap(([name = '']) => (name.includes('/') ? [] : [name])))];
  const lost = names.filter((name) => !isOnPath(name, session.io.env['PATH'] ?? ''));
  return [
    ...(await withoutGit(session.dir)),
    ...lost.map(
      (name) => ({ what: 'program', why: `${name} is not on PATH; checks and setup need it` }) as const,
    ),
    ...(await withoutAgents(spec, session)),
  ];
}

async function withoutGit(cwd: string): Promise<readonly Missing[]> {
  const why = `git ${GIT.major}.${GIT.minor} or newer is not on PATH`;
  try {
    const stdout = await askGit(['--version'], { cwd });
    const [, major = 0, minor = 0] = (/(\d+)\.(\d+)/.exec(stdout) ?? []).map(Number);
    return major > GIT.major || (major === GIT.major && minor >= GIT.minor) ? [] : [{ what: 'git', why }];
  } catch {
    return [{ what: 'git', why }];
  }
}

/** Loading them tells: models, their packages and keys, coding CLIs and the sandbox. */
async function withoutAgents(spec: RunSpec, session: Session): Promise<readonly Missing[]> {
  try {
    await agentsFrom(spec, session);
    return [];
  } catch (error) {
    if (!isDevsError(error)) throw error;
    return [{ what: 'agents', why: `${error.message} ${error.remedy}` }];
  }
}

const isOnPath = (name: string, places: string): boolean =>
  places.split(path.delimiter).some((folder) => isProgram(path.join(folder, name)));

function isProgram(file: string): boolean {
  if (!existsSync(file)) return false;
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
