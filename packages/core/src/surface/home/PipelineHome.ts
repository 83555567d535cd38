import type { Backup } from '../../db/backup.ts';
import type { ClosedGate, Gate } from '../../engine/gates/Gate.ts';
import type { GatePage, PageRequest, QueueOptions, RunDriver } from '../../engine/runs/Runs.ts';
import type { NewRunRecord } from '../../engine/start/RunStarts.ts';
import type { Workspace } from '../../orchestration/ports.ts';
import type { DoctorReport } from '../../state/doctor/doctor.ts';
import type { Thread, ThreadStatus } from '../../state/threads/threadRecords.ts';
import type { PipelineFiles } from '../PipelineFiles.ts';
import type { Removal, RemovedRun } from '../removeRun.ts';
import type { PipelineRunInfo } from '../views.ts';

/** A part of the list of runs; without any member, all of it. */
export interface RunListPage {
  /** These runs, in this order; without the other members. */
  readonly ids?: readonly string[] | undefined;
  /** At most this many, from 1 to 1,000. @defaultValue 50 */
  readonly limit?: number | undefined;
  /** The last run of the page before. @defaultValue the first page */
  readonly after?: string | undefined;
  /** Only runs that stand there; a list of them is always a page. @defaultValue any */
  readonly status?: ThreadStatus | readonly ThreadStatus[] | undefined;
}

/** For who looks, waits until there may be something new, and looks again. Stop it when done. */
export interface StateNews {
  /** Resolves when there may be news since the last time, after `atMostMs`, or when `signal` is aborted. */
  next(atMostMs: number, signal?: AbortSignal): Promise<void>;
  stop(): void;
}

/** What was deleted. */
export interface Collected {
  /** Rows of the state file, and the bytes in it that can be used again. */
  readonly values: number;
  readonly bytes: number;
  /** Bytes of folders and stores. */
  readonly files: number;
}

/** Where the runs of an orchestrator are: in one state file, or each in a file of its own elsewhere. */
export interface PipelineHome extends PipelineFiles {
  /** Loads what driving needs. */
  warm(): Promise<void>;
  /** What drives its runs where they are handed out. @throws DevsError `CONFIG_INVALID` for those of a local file. */
  driver(): Promise<RunDriver>;
  /** What is recorded of a run; `null` where there is none. */
  find(id: string): Promise<Thread | null>;
  /** @throws DevsError `THREAD_NOT_FOUND` */
  require(id: string): Promise<void>;
  /** What a run's folder is called in its record; `null` where that says nothing to whoever reads it. */
  folderName(folder: string): string | null;
  /** Records a run; one that is known stays as it is. */
  admit(admission: NewRunRecord, place: QueueOptions): Promise<void>;
  /** Newest first. */
  ids(page: RunListPage): Promise<readonly string[]>;
  /** In the order of the ids. @throws DevsError `THREAD_NOT_FOUND` */
  statuses(ids: readonly string[]): Promise<readonly PipelineRunInfo[]>;
  gates(): Promise<readonly Gate[]>;
  openGates(page: PageRequest): Promise<GatePage & { readonly total: number }>;
  gatesNamed(beginning: string): Promise<readonly (Gate | ClosedGate)[]>;
  /** The open questions of a run that this process has driven. */
  gatesOf(id: string): readonly Gate[] | Promise<readonly Gate[]>;
  remove(id: string, removal: Removal): Promise<RemovedRun>;
  collect(workspace: Workspace | undefined): Promise<Collected>;
  /** @param run - Whoever is told of one run may be told sooner. */
  news(run: string | undefined): Promise<StateNews>;
  dataVersion(): Promise<number>;
  verify(): Promise<DoctorReport>;
  backup(target: string): Promise<Backup>;
  close(): void;
}
