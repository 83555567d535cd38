import { existsSync, mkdirSync, rmdirSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import {
  backup,
  createDatabase,
  DevsError,
  isDevsError,
  openReadOnly,
  type Principal,
  type StartOptions,
} from '@devs/core';
import {
  assertNoRuns,
  endingWith,
  moveRunOut,
  openState,
  packRun,
  placeStateFile,
  receiveRun,
  STATE_FILE,
  ThreadStore,
} from '@devs/core/internal';
import type { PostgresRuns } from '@devs/postgres';
import { parseSpec, repositoryFor } from '../flags/runSpec.ts';
import { usageError } from '../usageError.ts';
import { acceptedStateFile } from './acceptedStateFile.ts';
import { clusterRuns, namedCluster } from './openCluster.ts';
import { rememberStateFile } from './openProject.ts';
import { encryptionKeyOf, type Session } from './Session.ts';

/** Which run, and the state file that it comes from or goes to. */
export interface RunMove {
  readonly id: string;
  /** Of a graph of one's own. @defaultValue that of the project */
  readonly file: string | undefined;
}

export interface Push extends RunMove, Pick<StartOptions, 'tenant' | 'priority'> {
  readonly by: Principal;
  /** Its name in the cluster: needed for a graph of one's own. */
  readonly graph: string | undefined;
}

/** What is found of a run. */
type KnownRun = Pick<ReturnType<ThreadStore['require']>, 'createdAt' | 'briefSha256'>;

const PIPELINE = 'pipeline';

/**
 * Moves a run from a state file into the cluster: taken out, kept in a file of its own, then recorded there. Killed in between, it
 * goes on from that file. False where it was there already.
 *
 * @throws DevsError `THREAD_NOT_FOUND`; `THREAD_EXISTS` where another run has its name there; `STATE_NOT_TRUSTED`; those of `moveRunOut`.
 */
export async function pushRun({ id, file, graph, by, ...place }: Push, session: Session): Promise<boolean> {
  refuseEncrypted(session);
  const stateFile = stateFileOf(file, session);
  const moving = new MovingFile(stateFile, id);
  if (graph !== undefined) assertGraphName(graph);
  if (place.tenant !== undefined) (await import('@devs/postgres')).requireTenant(place.tenant);
  return withClusterRuns(session, async (runs) => {
    const there = await inCluster(id, runs);
    const here = inFile(stateFile, id);
    // The workers would drive what is in it.
    if (here !== null && file === undefined) await acceptedStateFile({ ...session, cluster: null });
    if (there !== null && here !== null) throw idTaken(id, stateFile);
    if (here !== null) await takeOut({ id, by, stateFile, graph, here }, moving);
    if (!moving.exists) {
      if (there !== null) return false;
      throw nowhere(id, stateFile);
    }
    if (there !== null) {
      if (!isSameRun(there, inFile(moving.path, id))) throw idTaken(id, moving.path);
      moving.remove();
      return false;
    }
    const { isPipeline, fingerprint, ...run } = await packRun(
      readStateBytes(moving.path),
      id,
      carryGit(id, session),
      graph,
    );
    const queue = { graph: isPipeline ? PIPELINE : namedGraph(graph), fingerprint };
    if (!(await runs.create({ id, queue, ...run, ...place }))) throw idTaken(id, moving.path);
    moving.remove();
    return true;
  });
}

interface TakenOut extends Pick<Push, 'id' | 'by' | 'graph'> {
  readonly stateFile: string;
  readonly here: KnownRun;
}

async function takeOut({ id, by, stateFile, graph, here }: TakenOut, moving: MovingFile): Promise<void> {
  if (here.briefSha256 === null && graph === undefined) throw graphUnnamed();
  const older = moving.exists ? inFile(moving.path, id) : null;
  if (older !== null && !isSameRun(older, here)) throw idTaken(id, moving.path);
  moving.clear();
  const db = createDatabase({ dbPath: stateFile });
  await endingWith(
    () => db.close(),
    () => moveRunOut(db, id, { by, keep: (bytes) => void copyTo(moving.path, bytes) }),
  );
}

export interface Pulled {
  readonly stateFile: string;
  /** The state file without runs that was there before; `null` for none. */
  readonly kept: string | null;
}

/**
 * Moves a run from the cluster into a state file of its own: held, kept in a file, then deleted there. What it was told and has
 * not taken is in it. Killed in between, it goes on from that file. `null` where it is here already.
 *
 * @throws DevsError `THREAD_NOT_FOUND`; `THREAD_BUSY` while a worker drives it; `CONFIG_INVALID` where the state file has runs.
 */
export async function pullRun({ id, file }: RunMove, session: Session): Promise<Pulled | null> {
  refuseEncrypted(session);
  const stateFile = stateFileOf(file, session);
  const moving = new MovingFile(stateFile, id);
  return withClusterRuns(session, async (runs) => {
    const there = await inCluster(id, runs);
    if (inFile(stateFile, id) !== null) {
      if (there !== null) throw idTaken(id, stateFile);
      moving.remove();
      return null;
    }
    assertNoRuns(stateFile);
    if (there === null && !moving.exists) throw nowhere(id, namedCluster(session).shown);
    if (there !== null) await takeFrom(runs, id, { moving, there, session });
    const db = openReadOnly({ dbPath: moving.path });
    const kept = await endingWith(
      () => db.close(),
      async () => placeStateFile(db, stateFile),
    );
    if (file === undefined) await rememberStateFile(stateFile, session);
    moving.remove();
    return { stateFile, kept };
  });
}

async function takeFrom(
  runs: PostgresRuns,
  id: string,
  {
    moving,
    there,
    session,
  }: { readonly moving: MovingFile; readonly there: KnownRun; readonly session: Session },
): Promise<void> {
  if (moving.exists && !isSameRun(there, inFile(moving.path, id))) throw idTaken(id, moving.path);
  const held = await runs.hold(id);
  try {
    moving.clear();
    const signals = await held.signals();
    const unpack = carryGit(id, session);
    await receiveRun({ id, file: held.db.serialize(), signals, unpack, target: moving.path });
    if (await held.remove()) return;
    moving.remove();
    throw toldMeanwhile(id);
  } finally {
    await held.close();
  }
}

/** Git's objects of a run are in the store of the project while it is in a state file, and in its own file elsewhere. */
const carryGit =
  (id: string, { dir }: Session): Parameters<typeof receiveRun>[0]['unpack'] =>
  async (record, agentsRef) => {
    const spec = parseSpec(agentsRef);
    if (spec === null || spec.agents === 'none') return;
    const { GitWorkspace } = await import('@devs/agents');
    await new GitWorkspace({ dir, ...repositoryFor(spec) }).open(id, { record });
  };

async function withClusterRuns<Result>(
  session: Session,
  work: (runs: PostgresRuns) => Promise<Result>,
): Promise<Result> {
  const runs = await clusterRuns(namedCluster(session), session);
  try {
    return await work(runs);
  } finally {
    await runs.close();
  }
}

function stateFileOf(file: string | undefined, { dir, io }: Session): string {
  return file === undefined ? path.join(dir, '.devs', STATE_FILE) : path.resolve(io.cwd, file);
}

async function inCluster(id: string, runs: PostgresRuns): Promise<KnownRun | null> {
  try {
    const looked = await runs.open(id);
    return await endingWith(looked.close, async () => new ThreadStore(looked.db).require(id));
  } catch (error) {
    if (isDevsError(error, 'THREAD_NOT_FOUND')) return null;
    throw error;
  }
}

function inFile(stateFile: string, id: string): KnownRun | null {
  if ((statSync(stateFile, { throwIfNoEntry: false })?.size ?? 0) === 0) return null;
  const db = openReadOnly({ dbPath: stateFile });
  try {
    return new ThreadStore(db).get(id);
  } finally {
    db.close();
  }
}

function readStateBytes(stateFile: string): Uint8Array {
  const db = openReadOnly({ dbPath: stateFile });
  try {
    return db.serialize();
  } finally {
    db.close();
  }
}

function copyTo(target: string, bytes: Uint8Array): void {
  const db = openState(bytes);
  try {
    backup(db, target);
  } finally {
    db.close();
  }
}

const isSameRun = (a: KnownRun, b: KnownRun | null): boolean =>
  a.createdAt === b?.createdAt && a.briefSha256 === b.briefSha256;

/** The file of a run that is on its way is not encrypted, and lies on the disk. @throws DevsError `CONFIG_INVALID` */
function refuseEncrypted(session: Session): void {
  if (encryptionKeyOf(session).encryptionKey === undefined) return;
  throw usageError(
    'A run cannot be moved into or out of an encrypted state file: the move writes it to disk unencrypted.',
    'Let the run end here, or decrypt the file with devs admin rekey --decrypt, unset DEVS_ENCRYPTION_KEY and move the run.',
  );
}

/** @throws DevsError `CONFIG_INVALID`, before anything is moved. */
function assertGraphName(graph: string): void {
  if (/^[\w-]{1,40}$/.test(graph)) return;
  throw usageError(
    `${JSON.stringify(graph.slice(0, 40))} is not a valid graph name.`,
    'Use 1 to 40 of A-Z a-z 0-9 _ -.',
  );
}

function namedGraph(graph: string | undefined): string {
  if (graph !== undefined) return graph;
  throw graphUnnamed();
}

const graphUnnamed = (): DevsError =>
  usageError(
    'The name of the graph in the cluster is missing.',
    'Add --graph with the name that its workers use: durable(builder, { graph }).',
  );

const nowhere = (id: string, where: string): DevsError =>
  new DevsError(`There is no run "${id}" in ${where}.`, {
    code: 'THREAD_NOT_FOUND',
    remedy: 'List the runs with devs status; add --db for a cluster.',
    context: { threadId: id },
  });

const idTaken = (id: string, where: string): DevsError =>
  new DevsError(`${where} already has another run "${id}", or a copy of this one.`, {
    code: 'THREAD_EXISTS',
    remedy: 'If it is a copy, move or remove that file: a run can be in one place only.',
    context: { threadId: id },
  });

const toldMeanwhile = (id: string): DevsError =>
  new DevsError(`Run "${id}" received a signal or a decision during the move.`, {
    code: 'THREAD_BUSY',
    remedy: 'Pull it again.',
    context: { threadId: id },
  });

/**
 * The file of a run that is on its way between a state file and a cluster, beside the state file. It counts only where the run is
 * in neither: whoever was killed on the way goes on from it.
 */
class MovingFile {
  readonly path: string;

  constructor(stateFile: string, id: string) {
    this.path = path.join(`${stateFile}.moving`, encodeURIComponent(id));
  }

  get exists(): boolean {
    return existsSync(this.path);
  }

  /** Makes room for a newer one. */
  clear(): void {
    mkdirSync(path.dirname(this.path), { recursive: true, mode: 0o700 });
    this.#removeFiles();
  }

  remove(): void {
    this.#removeFiles();
    try {
      rmdirSync(path.dirname(this.path));
    } catch {
      // Others are on their way.
    }
  }

  #removeFiles(): void {
    for (const end of ['', '-wal', '-shm']) rmSync(`${this.path}${end}`, { force: true });
  }
}
