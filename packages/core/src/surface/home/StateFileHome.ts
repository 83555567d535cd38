import path from 'node:path';
import { type Backup, backup } from '../../db/backup.ts';
import { FileNews } from '../../db/FileWatch.ts';
import { dataVersion } from '../../db/fileIdentity.ts';
import { internalsOf } from '../../engine/appInternals.ts';
import {
  type ClosedGate,
  type Gate,
  gatesNamed,
  openGates,
  openGatesOfRuns,
} from '../../engine/gates/Gate.ts';
import { statusesOf } from '../../engine/runs/listRuns.ts';
import { type GatePage, inbox } from '../../engine/runs/openGates.ts';
import { type PageRequest, pageLimit } from '../../engine/runs/pages.ts';
import type { RunDriver } from '../../engine/runs/Runs.ts';
import type { NewRunRecord } from '../../engine/start/RunStarts.ts';
import { DevsError } from '../../errors/DevsError.ts';
import type { Workspace } from '../../orchestration/ports.ts';
import { type DoctorReport, doctor } from '../../state/doctor/doctor.ts';
import { workspaceName } from '../../state/threads/RunFolders.ts';
import type { Thread } from '../../state/threads/ThreadStore.ts';
import { OpenPipeline, type PipelineFile } from '../PipelineFiles.ts';
import { type Removal, type RemovedRun, removeRun } from '../removeRun.ts';
import { runStatus } from '../runStatus.ts';
import type { PipelineRunInfo } from '../views.ts';
import type { Collected, PipelineHome, RunListPage, StateNews } from './PipelineHome.ts';

/** All runs in one local state file. */
export class StateFileHome extends OpenPipeline implements PipelineHome {
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
