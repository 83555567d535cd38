import type { Database } from 'better-sqlite3';
import { onNews } from '../../db/FileWatch.ts';
import { assertSameFile } from '../../db/fileIdentity.ts';
import { DevsError } from '../../errors/DevsError.ts';
import type { EventStore } from '../../state/events/EventStore.ts';
import type { WebhookRows } from '../../state/events/WebhookStore.ts';
import type { ScheduleRows } from '../../state/schedules/ScheduleStore.ts';
import type { NewRunLabels } from '../drive/givenLabels.ts';
import type { RunInfo, RunResult } from '../drive/RunResult.ts';
import type { SignalReceipt } from '../drive/signals.ts';
import { outsideGraphs } from '../execution/ambientConfig.ts';
import type { FileApp } from '../file/FileApp.ts';
import type { ExecuteOptions, Said, SignalStart, StartOptions } from '../file/RunOptions.ts';
import type { EngineStore } from '../gates/EngineStore.ts';
import { type DeleteOptions, type DeleteResult, deleteRun } from '../runs/deleteRuns.ts';
import { type FollowedFile, followedFile, type SeenAs } from '../runs/followRun.ts';
import { type ForkOptions, type ForkResult, forkRun } from '../runs/forkRun.ts';
import { eventPosition, type GateEventSource, gateEventsAfter } from '../runs/gateEvents.ts';
import { getRun, inbox, listRuns, runNumbers, updateMetadata } from '../runs/lists.ts';
import { OneFile, type RunFiles } from '../runs/RunFiles.ts';
import type {
  GateFilter,
  GatePage,
  QueueOptions,
  RunDriver,
  RunFilter,
  RunNumbers,
  RunPage,
} from '../runs/Runs.ts';
import type { StreamEvent } from '../stream/StreamEvent.ts';
import type { StreamOptions } from '../stream/streamRun.ts';
import {
  type ImportedThread,
  type ImportOptions,
  importThread,
  knownImport,
} from '../transfer/importThread.ts';

/** The port of an app: its runs, in one state file (`LocalRuns`) or in a file each (`RemoteRuns`). */
export interface AppRuns<Graph, State, Update, Output>
  extends RunFiles<FileApp<Graph, State, Update, Output>> {
  start(id: string, input: Update | undefined, options: StartOptions): Promise<void>;
  /** Records a run before its first input; false for a known id. */
  create(id: string, given: NewRunLabels, place: QueueOptions): Promise<boolean>;
  run(id: string, input: Update | undefined, options: ExecuteOptions): Promise<RunResult<Output>>;
  /** With `null` as input it only reads. */
  stream(
    id: string,
    input: Update | null | undefined,
    options: StreamOptions & ExecuteOptions,
  ): AsyncGenerator<StreamEvent, void>;
  /** Signals a run; starts it in the same transaction if it does not exist. */
  signalOrStart(id: string, said: Said, start: SignalStart<Update>): Promise<SignalReceipt>;
  /** Looks at a run again whenever something of it is new. Close it when done. */
  follow(id: string, as: SeenAs): Promise<FollowedFile<FileApp<Graph, State, Update, Output>>>;
  fork(id: string, fork: ForkOptions, place: QueueOptions): Promise<ForkResult>;
  importThread(id: string, options: ImportOptions): Promise<ImportedThread>;
  delete(id: string, options: DeleteOptions): Promise<DeleteResult>;
  list(filter: RunFilter): RunPage | Promise<RunPage>;
  get(id: string): Promise<RunInfo | null>;
  updateMetadata(id: string, patch: RunInfo['metadata']): Promise<RunInfo>;
  openGates(filter: GateFilter): GatePage | Promise<GatePage>;
  numbers(): RunNumbers | Promise<RunNumbers>;
  /** Events about the gates of all runs. */
  readonly gateEvents: GateEventSource;
  /** The same with ends of runs, for telemetry. A driver does not write for it where that can be. */
  readonly outboxEvents: GateEventSource;
  /** Deliveries of webhooks. */
  readonly webhooks: WebhookRows;
  readonly schedules: ScheduleRows;
  /** The graph over the state file of a run that has one of its runs as a child. */
  openIn(parent: EngineStore): FileApp<Graph, State, Update, Output>;
  /** The one state file. @throws DevsError `RUN_ELSEWHERE` where each run has its own. */
  oneFile(what: string): FileApp<Graph, State, Update, Output>;
  /** Executes a run that a worker holds. */
  drive: RunDriver['drive'];
  close(): PromiseLike<void>;
}

/** Reads the log of all runs from where the last call has found nothing more. */
function outboxOfLog(db: Database, log: EventStore): GateEventSource['page'] {
  let looked = 0;
  return ({ after, limit }) => {
    assertSameFile(db);
    const upTo = log.lastSeq();
    const events = log.outboxOfAll({ after: Math.max(eventPosition(after), looked), upTo, limit });
    if (events.length === 0) looked = upTo;
    return events;
  };
}

/** Runs that are all in one open state file: each call goes to it as it is. */
export class LocalRuns<Graph, State, Update, Output>
  extends OneFile<FileApp<Graph, State, Update, Output>>
  implements AppRuns<Graph, State, Update, Output>
{
  readonly gateEvents: GateEventSource;
  readonly outboxEvents: GateEventSource;
  readonly webhooks: WebhookRows;
  readonly schedules: ScheduleRows;
  readonly #close: () => void;

  constructor(file: FileApp<Graph, State, Update, Output>, close: () => void) {
    super(file);
    const { db, gateEvents, log } = file.store;
    const watch = (tell: () => void) => onNews(db, tell);
    this.gateEvents = {
      page: (page) => {
        assertSameFile(db);
        return gateEventsAfter(page, gateEvents);
      },
      watch,
    };
    this.outboxEvents = { page: outboxOfLog(db, log), watch };
    this.webhooks = file.store.webhooks;
    this.schedules = file.store.schedules;
    this.#close = close;
  }

  start(id: string, input: Update | undefined, options: StartOptions): Promise<void> {
    return this.file.start(id, input, options);
  }

  create(id: string, given: NewRunLabels): Promise<boolean> {
    return this.file.create(id, given);
  }

  run(id: string, input: Update | undefined, options: ExecuteOptions): Promise<RunResult<Output>> {
    return this.file.run(id, input, options);
  }

  stream(
    id: string,
    input: Update | null | undefined,
    options: StreamOptions & ExecuteOptions,
  ): AsyncGenerator<StreamEvent, void> {
    return this.file.stream(id, input, options);
  }

  signalOrStart(id: string, said: Said, start: SignalStart<Update>): Promise<SignalReceipt> {
    return this.file.signalOrStart(id, said, start);
  }

  follow(id: string): Promise<FollowedFile<FileApp<Graph, State, Update, Output>>> {
    const { db, threads } = this.file.store;
    return followedFile({
      watch: async (tell) => onNews(db, tell),
      look: async () => {
        assertSameFile(db); // what others record would be in another file
        threads.require(id);
        return { file: this.file, at: '', close: () => {} };
      },
    });
  }

  fork(id: string, fork: ForkOptions): Promise<ForkResult> {
    return this.file.arrived(outsideGraphs(() => forkRun(id, fork, this.file.engine)));
  }

  importThread(id: string, options: ImportOptions): Promise<ImportedThread> {
    const { engine, arrived } = this.file;
    return arrived(importThread(id, options, engine, async (taken) => knownImport(taken, engine)));
  }

  async delete(id: string, options: DeleteOptions): Promise<DeleteResult> {
    return this.file.arrived(deleteRun(id, options, this.file.engine));
  }

  list(filter: RunFilter): RunPage {
    return listRuns(filter, this.file.store);
  }

  async get(id: string): Promise<RunInfo | null> {
    return getRun(id, this.file.store);
  }

  updateMetadata(id: string, patch: RunInfo['metadata']): Promise<RunInfo> {
    return this.file.arrived(updateMetadata(id, patch, this.file.store));
  }

  openGates(filter: GateFilter): GatePage {
    return inbox(filter, this.file.store.sessions);
  }

  numbers(): RunNumbers {
    return runNumbers(this.file.store);
  }

  openIn(_parent: EngineStore): FileApp<Graph, State, Update, Output> {
    return this.file;
  }

  oneFile(): FileApp<Graph, State, Update, Output> {
    return this.file;
  }

  async drive(): Promise<never> {
    throw new DevsError('A worker cannot execute runs in a local state file.', {
      code: 'CONFIG_INVALID',
      remedy: 'Open the app with `runs`, or execute due runs with `app.runDue()`.',
    });
  }

  /** The file is closed when this returns. */
  async close(): Promise<void> {
    this.#close();
  }
}
