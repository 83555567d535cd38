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
import { inbox, pageLimit, statusesOf } from '../../engine/runs/lists.ts';
import type { GatePage, PageRequest, RunDriver, Runs } from '../../engine/runs/Runs.ts';
import type { NewRunRecord } from '../../engine/start/RunStarts.ts';
import { DevsError } from '../../errors/DevsError.ts';
import { visibleText } from '../../masking/visibleText.ts';
import type { Workspace } from '../../orchestration/ports.ts';
import { type DoctorReport, doctor } from '../../state/doctor/doctor.ts';
import { workspaceName } from '../../state/threads/RunFolders.ts';
import type { Thread } from '../../state/threads/threadRecords.ts';
import { PipelineApp, type PipelineAppOptions } from '../PipelineApp.ts';
import { OpenPipeline, type PipelineFile } from '../PipelineFiles.ts';
import { type Removal, type RemovedRun, removeRun } from '../removeRun.ts';
import { type PipelineRunInfo, runStatus } from '../views.ts';
import type { Collected, PipelineHome, RunListPage, StateNews } from './PipelineHome.ts';
import { RemoteHome } from './RemoteHome.ts';

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
  deps: Omit<PipelineFile, 'app'>,
): PipelineHome {
  const { dir, runs } = options;
  if ((dir === undefined) === (runs === undefined)) throw new TypeError('Expected either `dir` or `runs`.');
  if (runs !== undefined) refuseKey(options.encryptionKey);
  if (runs !== undefined) return new RemoteHome(runs, about, deps);
  const folder = dir ?? '';
  const db = openPipelineFile(folder, options);
  return new StateFileHome({ ...deps, app: PipelineApp.open(deps.pipeline, { db, ...about }) }, folder);
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
class StateFileHome extends OpenPipeline implements PipelineHome {
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

  async ids({ limit, after, status }: RunListPage): Promise<readonly string[]> {
    const { directory, threads } = this.file.app.store;
    if (limit === undefined && after === undefined && status === undefined) return directory.ids();
    const last = after === undefined ? null : threads.require(after);
    if (status === undefined) return directory.idsAfter(after ?? null, pageLimit(limit));
    const page = {
      statuses: statusesOf(status),
      before: { at: last?.createdAt ?? Number.MAX_SAFE_INTEGER, id: after ?? '' },
      limit: pageLimit(limit),
    };
    return directory
      .page({ graph: null, due: false, since: Number.MIN_SAFE_INTEGER, ...page })
      .map(({ id }) => id);
  }

  async statuses(ids: readonly string[]): Promise<readonly PipelineRunInfo[]> {
    return Promise.all(ids.map((id) => runStatus(id, this.file.app)));
  }

  async gates(): Promise<readonly Gate[]> {
    return openGatesOfRuns(this.file.app.store.sessions);
  }

  async openGates(page: PageRequest): Promise<GatePage & { readonly total: number }> {
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
