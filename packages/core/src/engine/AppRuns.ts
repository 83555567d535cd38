import type { RunResult } from './drive/RunResult.ts';
import type { EngineStore } from './EngineStore.ts';
import type { FileApp } from './FileApp.ts';
import type { Principal } from './gates/HumanInTheLoopManager.ts';
import type { RunOptions, RunStartOptions } from './RunOptions.ts';
import type { DeleteResult } from './runs/deleteRuns.ts';
import type { FollowedFile, SeenAs } from './runs/FollowedRun.ts';
import type { ForkOptions, ForkResult } from './runs/forkRun.ts';
import type { RunFilter, RunPage } from './runs/listRuns.ts';
import type { GatePage } from './runs/openGates.ts';
import type { PageRequest } from './runs/pages.ts';
import type { RunFiles } from './runs/RunFiles.ts';
import type { QueueOptions, RunDriver } from './runs/Runs.ts';
import type { StreamEvent } from './stream/StreamEvent.ts';
import type { StreamOptions } from './stream/streamRun.ts';

/** Options with which a run is recorded, wherever it is. */
export type StartOptions = RunStartOptions & QueueOptions;

/** Options with which a run is recorded and executed. */
export type ExecuteOptions = RunOptions & StartOptions;

/** The port of an app: its runs, in one state file (`LocalRuns`) or in a file each (`RemoteRuns`). */
export interface AppRuns<Graph, State, Update, Output>
  extends RunFiles<FileApp<Graph, State, Update, Output>> {
  start(id: string, input: Update | undefined, options: StartOptions): Promise<void>;
  run(id: string, input: Update | undefined, options: ExecuteOptions): Promise<RunResult<Output>>;
  /** With `null` as input it only reads. */
  stream(
    id: string,
    input: Update | null | undefined,
    options: StreamOptions & ExecuteOptions,
  ): AsyncGenerator<StreamEvent, void>;
  /** Looks at a run again whenever something of it is new. Close it when done. */
  follow(id: string, as: SeenAs): Promise<FollowedFile<FileApp<Graph, State, Update, Output>>>;
  fork(id: string, fork: ForkOptions, place: QueueOptions): Promise<ForkResult>;
  delete(id: string, options: { readonly by: Principal }): Promise<DeleteResult>;
  list(filter: RunFilter): RunPage | Promise<RunPage>;
  openGates(page: PageRequest): GatePage | Promise<GatePage>;
  /** The graph over the state file of a run that has one of its runs as a child. */
  openIn(parent: EngineStore): FileApp<Graph, State, Update, Output>;
  /** The one state file. @throws DevsError `RUN_ELSEWHERE` where each run has its own. */
  oneFile(what: string): FileApp<Graph, State, Update, Output>;
  /** Executes a run that a worker holds. */
  drive: RunDriver['drive'];
  close(): PromiseLike<void>;
}
