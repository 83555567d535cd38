import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { askGit } from '@devs/agents/internal';
import {
  createDatabase,
  DevsError,
  isDevsError,
  loadOrchestratorConfig,
  Orchestrator,
  type OrchestratorOptions,
  type Runs,
} from '@devs/core';
import { endingWith, nameStateFile, STATE_FILE } from '@devs/core/internal';
import { configBytes, configPath } from '../config/configFile.ts';
import { KnownStateFiles } from '../config/KnownStateFiles.ts';
import { repositoryAround } from '../config/repositoryAround.ts';
import { usageError } from '../usageError.ts';
import { clusterRuns } from './openCluster.ts';
import { encryptionKeyOf, type Session } from './Session.ts';

/** What is read beside the state file. */
type ProjectExtras = Pick<OrchestratorOptions, 'code'>;

/** Whether there may be runs: those of a cluster are asked for. */
export const hasRuns = ({ cluster, dir }: Session): boolean =>
  cluster !== null || existsSync(path.join(dir, '.devs', STATE_FILE));

/**
 * Opens the project, creating its state file when it is missing, and closes it when `work` is done.
 *
 * @throws DevsError `CONFIG_INVALID` when the state file came with the repository.
 */
export async function withProject<Result>(
  session: Session,
  options: Omit<OrchestratorOptions, 'dir'>,
  work: (devs: Orchestrator) => Promise<Result>,
): Promise<Result> {
  return useProject(await openHere(session, options), work);
}

/** What is open, and what is closed after it. */
interface OpenedProject {
  readonly devs: Orchestrator;
  readonly runs: Pick<Runs, 'close'> | null;
}

async function useProject<Result>(
  { devs, runs }: OpenedProject,
  work: (devs: Orchestrator) => Promise<Result>,
): Promise<Result> {
  try {
    return await endingWith(
      () => devs.close(),
      () => work(devs),
    );
  } finally {
    await runs?.close();
  }
}

async function openHere(session: Session, options: Omit<OrchestratorOptions, 'dir'>): Promise<OpenedProject> {
  const config = loadOrchestratorConfig(session.io.env, (text) => session.out.note(text));
  const prices = session.io.env['DEVS_PRICES']?.trim();
  const limits = await limitsIn(session.dir);
  const about = { config, ...(prices && { prices }), ...(limits && { limits }), ...options };
  if (session.cluster !== null) {
    const runs = await clusterRuns(session.cluster, session);
    return { devs: await Orchestrator.open({ ...about, runs }), runs };
  }
  const dir = path.join(session.dir, '.devs');
  const file = path.join(dir, STATE_FILE);
  await refuseForeignState(file);
  const isNew = isNewFile(file);
  const devs = await Orchestrator.open({ dir, ...about });
  if (isNew) await rememberStateFile(file, session);
  return { devs, runs: null };
}

/**
 * The project's state file, made where it is missing, for graphs of the project's own.
 *
 * @returns Its path.
 * @throws DevsError `CONFIG_INVALID` when it came with the repository; those of `createDatabase`.
 */
export async function projectStateFile(session: Session): Promise<string> {
  const file = path.join(session.dir, '.devs', STATE_FILE);
  await refuseForeignState(file);
  if (isNewFile(file)) await rememberStateFile(file, session);
  return file;
}

const isNewFile = (file: string): boolean => (statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0;

/** What bounds an edit, also of who has not accepted the rest of what the project's configuration says. */
export async function limitsIn(dir: string): Promise<OrchestratorOptions['limits']> {
  try {
    // Whoever only looks loads nothing that makes schemas.
    if ((await configBytes(configPath(dir)))?.includes('"limits"') !== true) return undefined;
    const { readConfig } = await import('../config/readConfig.ts');
    return (await readConfig(dir)).config.limits;
  } catch {
    return undefined; // whoever needs the configuration is told
  }
}

/**
 * Opens a project that has runs: reading must not create a state file.
 *
 * @throws DevsError `THREAD_NOT_FOUND` when nothing was ever run here.
 */
export async function withRuns<Result>(
  session: Session,
  work: (devs: Orchestrator) => Promise<Result>,
  options: ProjectExtras = {},
): Promise<Result> {
  assertRuns(session);
  return withProject(session, options, work);
}

/**
 * {@link withRuns} for what only looks: works where the state file cannot be written, too, because its disk is full or
 * read-only, or may not be, because of what was planted in its schema.
 */
export async function withView<Result>(
  session: Session,
  work: (devs: Orchestrator) => Promise<Result>,
  options: ProjectExtras = {},
): Promise<Result> {
  assertRuns(session);
  return useProject(await openToView(session, options), work);
}

/** What keeps a file from being written, and not from being read. */
const VIEWED_ALL_THE_SAME = ['STATE_IO', 'STATE_DISK_FULL', 'SCHEMA_FOREIGN'] as const;

async function openToView(session: Session, options: ProjectExtras): Promise<OpenedProject> {
  try {
    return await openHere(session, options);
  } catch (error) {
    if (session.cluster !== null) throw error;
    if (!VIEWED_ALL_THE_SAME.some((code) => isDevsError(error, code))) throw error;
    const [viewer] = await Promise.allSettled([openHere(session, { ...options, readOnly: true })]);
    if (viewer.status === 'fulfilled') return viewer.value;
    throw error;
  }
}

/** @throws DevsError `THREAD_NOT_FOUND` */
export function assertRuns(session: Session): void {
  if (hasRuns(session)) return;
  throw new DevsError(`There are no runs in ${session.dir}.`, {
    code: 'THREAD_NOT_FOUND',
    remedy: 'Name the project folder with --dir, or start a run with devs run.',
  });
}

/** A recorded run says which commands go on with it, and whether anything confines them. */
export async function refuseForeignState(file: string): Promise<void> {
  const folder = path.dirname(file);
  const names = [STATE_FILE, `${STATE_FILE}-wal`].filter((name) => existsSync(path.join(folder, name)));
  if (names.length === 0 || !(await isTracked(folder, names))) return;
  throw usageError(
    `${file} is part of the repository: its runs would execute commands on this machine.`,
    "Remove it to start again. If the runs are your own, remove it from git with git rm --cached '.devs/state.sqlite*'.",
  );
}

/**
 * Whether one of these files of a folder is part of the repository around it: then whoever wrote the repository wrote the file.
 * Where there is a repository and git cannot say, it counts as part of it.
 */
async function isTracked(folder: string, names: readonly string[]): Promise<boolean> {
  try {
    // Read where it belongs to another user, too.
    const settings = ['safe.directory=*'];
    return (await askGit(['ls-files', '--', ...names], { cwd: folder, settings })) !== '';
  } catch {
    return repositoryAround(folder) !== null;
  }
}

/** Keeps that a state file is this user's. Where it cannot be kept, that is said, and the command goes on. */
export async function rememberStateFile(dbPath: string, session: Session): Promise<void> {
  const { io, out } = session;
  const db = createDatabase({ dbPath, ...encryptionKeyOf(session) });
  const id = nameStateFile(db);
  db.close();
  const known = KnownStateFiles.of(io.env);
  try {
    if (known !== null) return await known.add(id, dbPath);
    out.note(`not stored, HOME is not set: to resume these runs set DEVS_TRUST=${id}`);
  } catch (error) {
    out.note(`not stored: ${(error as Error).message}; to resume these runs set DEVS_TRUST=${id}`);
  }
}

/** The code of the runs of a project; what knows git is loaded with the first text that is asked for. */
export const codeInGit = ({ dir }: Pick<Session, 'dir'>): NonNullable<OrchestratorOptions['code']> => ({
  readAt: async (threadId, tree, path) => {
    const { GitWorkspace } = await import('@devs/agents');
    return new GitWorkspace({ dir }).readAt(threadId, tree, path);
  },
  diff: async (threadId, range) => {
    const { GitWorkspace } = await import('@devs/agents');
    return new GitWorkspace({ dir }).diff(threadId, range);
  },
});
