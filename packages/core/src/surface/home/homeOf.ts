import path from 'node:path';
import type { Database } from 'better-sqlite3';
import { STATE_FILE } from '../../config/defaults.ts';
import { type Backup, backup } from '../../db/backup.ts';
import { createDatabase, openReadOnly } from '../../db/createDatabase.ts';
import { type EncryptionKey, refuseKey } from '../../db/encryptionKey.ts';
import { FileNews } from '../../db/FileWatch.ts';
import { dataVersion } from '../../db/fileIdentity.ts';
import { assertUpToDate } from '../../db/ledger.ts';
import { foreignSchema } from '../../db/ownSchema.ts';
import { internalsOf } from '../../engine/file/appInternals.ts';
import {
  type ClosedGate,
  type Gate,
  gatesNamed,
  openGates,
  openGatesOfRuns,
} from '../../engine/gates/Gate.ts';
import { type CompactOptions, type CompactResult, compactFile } from '../../engine/runs/compactFile.ts';
import {
  cursorOf,
  inbox,
  isOfOneFile,
  labelQueryOf,
  pageLimit,
  statusesOf,
} from '../../engine/runs/lists.ts';
import type { Addressee, ClaimOptions, Notice } from '../../engine/runs/RunFiles.ts';
import type { GateFilter, GatePage, QueueOptions, RunDriver, Runs } from '../../engine/runs/Runs.ts';
import type { NewRunRecord } from '../../engine/start/RunStarts.ts';
import { DevsError, isDevsError } from '../../errors/DevsError.ts';
import { News } from '../../events/News.ts';
import { visibleText } from '../../masking/visibleText.ts';
import type { Workspace } from '../../orchestration/ports.ts';
import { type DoctorReport, doctor } from '../../state/doctor/doctor.ts';
import { isUnlabelled } from '../../state/labels/RunLabelStore.ts';
import { workspaceName } from '../../state/threads/RunFolders.ts';
import { runNotFound, type Thread } from '../../state/threads/threadRecords.ts';
import { PipelineApp, type PipelineAppOptions } from '../PipelineApp.ts';
import {
  type Collected,
  type DriveRunOptions,
  OnePipelineFile,
  type PipelineFile,
  type PipelineHome,
  type PipelineSurroundings,
  type Removal,
  type RemovedRun,
  type RunListPage,
  removeRun,
  type StateNews,
} from '../PipelineFiles.ts';
import { type PipelineResult, type PipelineRunInfo, runStatus, statusListed } from '../views.ts';
import type { RemotePipeline } from './remotePipeline.ts';

/** Which runs an orchestrator is opened for. */
export interface HomeOptions {
  readonly dir?: string;
  readonly file?: string;
  readonly busyTimeoutMs?: number | undefined;
  readonly encryptionKey?: EncryptionKey | undefined;
  readonly readOnly?: boolean;
  readonly runs?: Runs;
}

/** @throws TypeError unless there is either a folder or `runs`; DevsError `CONFIG_INVALID` for `runs` with a key. */
export function homeOf(
  options: HomeOptions,
  about: Omit<PipelineAppOptions, 'db'>,
  surroundings: PipelineSurroundings,
): PipelineHome {
  const { dir, runs } = options;
  if ((dir === undefined) === (runs === undefined)) throw new TypeError('Expected either `dir` or `runs`.');
  if (runs !== undefined) {
    refuseKey(options.encryptionKey);
    return new RemoteHome(runs, about, surroundings);
  }
  const folder = dir ?? '';
  const db = openPipelineFile(folder, options);
  return new StateFileHome(
    { ...surroundings, app: PipelineApp.open(surroundings.pipeline, { db, ...about }) },
    folder,
  );
}

function openPipelineFile(
  dir: string,
  { file = STATE_FILE, readOnly = false, busyTimeoutMs, encryptionKey }: HomeOptions,
): Database {
  const waits = busyTimeoutMs === undefined ? {} : { busyTimeoutMs };
  const at = { dbPath: path.join(dir, file), encryptionKey, ...waits };
  if (!readOnly) return createDatabase(at);
  const db = openReadOnly(at);
  try {
    assertUpToDate(db);
    tellForeign(db);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

const announcedHomes = new Set<string>();

/** Who only reads goes on: what is there may be looked at. Once a process and file. */
function tellForeign(db: Database): void {
  const foreign = announcedHomes.has(db.name) ? null : foreignSchema(db);
  if (foreign === null) return;
  announcedHomes.add(db.name);
  const text = `${foreign.message} ${foreign.remedy} The file was not changed.`;
  process.emitWarning(visibleText(text), 'DevsSchemaWarning');
}

/** All runs in one local state file. */
class StateFileHome extends OnePipelineFile implements PipelineHome {
  readonly #dir: string;

  /** @param dir - Folder of the state file. */
  constructor(file: PipelineFile, dir: string) {
    super(file);
    this.#dir = path.resolve(dir);
  }

  async warm(): Promise<void> {
    await this.file.app.engine();
  }

  async driver(): Promise<RunDriver> {
    throw new DevsError('A worker cannot execute runs in a local state file.', {
      code: 'CONFIG_INVALID',
      remedy: 'Open the orchestrator with `runs`, or execute each run with `run.resume()`.',
    });
  }

  async find(id: string): Promise<Thread | null> {
    return this.file.app.store.threads.get(id);
  }

  async require(id: string): Promise<void> {
    this.file.app.store.threads.require(id);
  }

  folderName(folder: string): string {
    return workspaceName(folder, this.#dir);
  }

  async admit(admission: NewRunRecord): Promise<void> {
    await internalsOf(await this.file.app.engine()).recordRun(admission);
  }

  async ids({ limit, after, status, ...filter }: RunListPage): Promise<readonly string[]> {
    const { directory, threads } = this.file.app.store;
    const query = labelQueryOf(filter);
    if (!isOfOneFile(filter)) return [];
    const isAny = status === undefined && isUnlabelled(query);
    if (limit === undefined && after === undefined && isAny) return directory.ids();
    const last = after === undefined ? null : threads.require(after);
    if (isAny) return directory.idsAfter(after ?? null, pageLimit(limit));
    const page = {
      statuses: statusesOf(status),
      before: { at: last?.createdAt ?? Number.MAX_SAFE_INTEGER, id: after ?? '' },
      limit: pageLimit(limit),
    };
    return directory
      .page({ ...query, graph: null, due: false, since: Number.MIN_SAFE_INTEGER, ...page })
      .map(({ id }) => id);
  }

  async statuses(ids: readonly string[]): Promise<readonly PipelineRunInfo[]> {
    return Promise.all(ids.map((id) => runStatus(id, this.file.app)));
  }

  async gates(): Promise<readonly Gate[]> {
    return openGatesOfRuns(this.file.app.store.sessions);
  }

  async openGates(page: GateFilter): Promise<GatePage & { readonly total: number }> {
    const { sessions } = this.file.app.store;
    return { ...inbox(page, sessions), total: sessions.countOpen() };
  }

  async gatesNamed(beginning: string): Promise<readonly (Gate | ClosedGate)[]> {
    return gatesNamed(beginning, this.file.app.store.sessions);
  }

  gatesOf(id: string): readonly Gate[] {
    return openGates(id, this.file.app.store.sessions);
  }

  async remove(id: string, removal: Removal): Promise<RemovedRun> {
    return removeRun(id, removal, await this.file.app.engine());
  }

  async collect(workspace: Workspace | undefined): Promise<Collected> {
    const { directory, remover } = this.file.app.store;
    const { blobs, bytes } = remover.sweep();
    const known = new Set(directory.ids());
    return { values: blobs, bytes, files: (await workspace?.sweep?.(known)) ?? 0 };
  }

  async compact(options: CompactOptions): Promise<CompactResult> {
    return compactFile(this.file.app.store, options);
  }

  async news(): Promise<StateNews> {
    dataVersion(this.file.app.store.db);
    return new FileNews(this.file.app.store.db);
  }

  async dataVersion(): Promise<number> {
    return dataVersion(this.file.app.store.db);
  }

  async verify(): Promise<DoctorReport> {
    return doctor(this.file.app.store.db);
  }

  async backup(target: string): Promise<Backup> {
    return backup(this.file.app.store.db, target);
  }

  close(): void {
    this.file.app.store.db.close();
  }
}

/** Of a list that is read to its end. */
const PAGE = 1000;

/** Each run in a file of its own that is not here, such as in a cluster. */
class RemoteHome implements PipelineHome {
  readonly #runs: Runs;
  readonly #about: Omit<PipelineAppOptions, 'db'>;
  readonly #surroundings: PipelineSurroundings;
  #pipeline: Promise<RemotePipeline> | null = null;
  #watching: Promise<() => void> | null = null;
  #version = 0;

  constructor(runs: Runs, about: Omit<PipelineAppOptions, 'db'>, surroundings: PipelineSurroundings) {
    this.#runs = runs;
    this.#about = about;
    this.#surroundings = surroundings;
  }

  async warm(): Promise<void> {
    await this.#work();
  }

  driver(): Promise<RunDriver> {
    return this.#work();
  }

  #work(): Promise<RemotePipeline> {
    this.#pipeline ??= import('./remotePipeline.ts').then(({ remotePipeline }) =>
      remotePipeline(this.#runs, this.#about, this.#surroundings),
    );
    return this.#pipeline;
  }

  async find(id: string): Promise<Thread | null> {
    try {
      return await (await this.#work()).access.readRecord(id, ({ threads }) => threads.get(id));
    } catch (error) {
      if (isDevsError(error, 'THREAD_NOT_FOUND')) return null;
      throw error;
    }
  }

  async require(id: string): Promise<void> {
    if (!(await this.#runs.indexed([id])).has(id)) runNotFound(id);
  }

  /** Every machine has a folder of its own. */
  folderName(): null {
    return null;
  }

  async admit(admission: NewRunRecord, place: QueueOptions): Promise<void> {
    await (await this.#work()).admit(admission, place);
  }

  async read<T>(id: string, use: (file: PipelineFile) => T | Promise<T>): Promise<T> {
    const { access, over } = await this.#work();
    return access.read(id, (file) => use(over(file)));
  }

  async claim<T>(
    id: string,
    change: (file: PipelineFile) => T | Promise<T>,
    options?: ClaimOptions,
  ): Promise<T> {
    const { access, over } = await this.#work();
    return access.claim(id, (file) => change(over(file)), options);
  }

  async notify<T>(to: Addressee, { apply, draft }: Notice<PipelineFile, T>): Promise<T> {
    const { access, over } = await this.#work();
    return access.notify(to, { apply: (file) => apply(over(file)), draft: (file) => draft(over(file)) });
  }

  async drive(id: string, options: DriveRunOptions): Promise<PipelineResult> {
    return (await this.#work()).driveHere(id, options);
  }

  async here(id: string, method: string): Promise<never> {
    throw onlyHere(method, id);
  }

  async ids({ limit, after, status, ids: _, ...filter }: RunListPage): Promise<readonly string[]> {
    const isAll = limit === undefined && after === undefined && status === undefined;
    const most = isAll ? Number.POSITIVE_INFINITY : pageLimit(limit);
    const ids: string[] = [];
    let place: string | null = after === undefined ? null : await this.#placeOf(after);
    do {
      const wanted = {
        ...filter,
        limit: Math.min(PAGE, most - ids.length),
        ...(place !== null && { after: place }),
      };
      const { runs, next } = await this.#runs.list({ ...wanted, ...(status !== undefined && { status }) });
      ids.push(...runs.map(({ id }) => id));
      place = next;
    } while (place !== null && ids.length < most);
    return ids;
  }

  /** Where a page begins after a run. @throws DevsError `THREAD_NOT_FOUND` */
  async #placeOf(id: string): Promise<string> {
    const run = (await this.#runs.indexed([id])).get(id) ?? runNotFound(id);
    return cursorOf({ at: run.createdAt, id });
  }

  async statuses(ids: readonly string[]): Promise<readonly PipelineRunInfo[]> {
    const indexed = await this.#runs.indexed(ids);
    const statuses: PipelineRunInfo[] = [];
    for (const id of ids) {
      const index = indexed.get(id)?.index ?? null;
      statuses.push(
        (index && statusListed(id, index)) ?? (await this.read(id, ({ app }) => runStatus(id, app))),
      );
    }
    return statuses;
  }

  async gates(): Promise<readonly Gate[]> {
    const gates: Gate[] = [];
    let after: string | null | undefined;
    while (after !== null) {
      const page = await this.#runs.gates({ limit: PAGE, ...(after !== undefined && { after }) });
      gates.push(...page.gates);
      after = page.next;
    }
    return gates;
  }

  async openGates(page: GateFilter): Promise<GatePage & { readonly total: number }> {
    return { ...(await this.#runs.gates(page)), total: await this.#runs.countGates() };
  }

  /** Open ones by the beginning, closed ones by the whole id: that is how they are indexed. */
  async gatesNamed(beginning: string): Promise<readonly (Gate | ClosedGate)[]> {
    const id = beginning === '' ? null : await this.#runs.runOfGate(beginning);
    if (id !== null)
      return (await this.#work()).access.readRecord(id, ({ sessions }) => gatesNamed(beginning, sessions));
    return (await this.gates()).filter(({ sessionId }) => sessionId.startsWith(beginning));
  }

  async gatesOf(id: string): Promise<readonly Gate[]> {
    return (await this.#work()).access.readRecord(id, ({ sessions }) => openGates(id, sessions));
  }

  async news(run: string | undefined): Promise<StateNews> {
    const news = new News();
    const stop = await this.#runs.watch(run ?? null, () => news.tell());
    return { next: (ms, signal) => news.next(ms, signal), stop };
  }

  /** Counts the news of all runs, from the first time that it is asked. */
  async dataVersion(): Promise<number> {
    this.#watching ??= this.#runs.watch(null, () => {
      this.#version += 1;
    });
    await this.#watching.catch((error: unknown) => {
      this.#watching = null;
      throw error;
    });
    return this.#version;
  }

  async remove(id: string, removal: Removal): Promise<RemovedRun> {
    return (await this.#work()).remove(id, removal);
  }

  async collect(): Promise<never> {
    throw onlyHere('collect');
  }

  async compact(): Promise<never> {
    throw onlyHere('compact');
  }

  async verify(): Promise<never> {
    throw onlyHere('verify');
  }

  async backup(): Promise<never> {
    throw onlyHere('backup');
  }

  /** Whoever made `runs` closes it. */
  close(): void {
    this.#watching?.then(
      (end) => end(),
      () => undefined,
    );
  }
}

/** For what needs the file or the folder of runs where it is called. @param what - Name of the method. */
function onlyHere(what: string, id?: string): DevsError {
  const whose = id === undefined ? 'These runs are' : `Run "${id}" is`;
  return new DevsError(`${whose} not in a local state file, which ${what} needs.`, {
    code: 'RUN_ELSEWHERE',
    remedy: 'Fetch the run with devs pull, or run the command on the machine with its files.',
    context: { what, ...(id !== undefined && { threadId: id }) },
  });
}
