import type { Backup } from '../db/backup.ts';
import { clearLog } from '../db/clearLog.ts';
import { StepActivities } from '../engine/activity/StepActivities.ts';
import type { DriveOptions } from '../engine/drive/drive.ts';
import { assertNotFailed, isOver, outcomeOf } from '../engine/drive/RunResult.ts';
import {
  type CancelOptions,
  cancelRequest,
  type PauseOptions,
  pauseRequest,
  type StopReceipt,
} from '../engine/drive/stopRequests.ts';
import { internalsOf } from '../engine/file/appInternals.ts';
import type { RunOptions } from '../engine/file/RunOptions.ts';
import { abandonQuestions } from '../engine/gates/answerForms.ts';
import type { EngineStore } from '../engine/gates/EngineStore.ts';
import { isEdit } from '../engine/gates/engineGates.ts';
import type { ClosedGate, Gate, SentAnswer } from '../engine/gates/Gate.ts';
import { asHuman, type Principal, principalText } from '../engine/gates/principals.ts';
import type { CompactOptions, CompactResult } from '../engine/runs/compactFile.ts';
import {
  decisionNoticeOf,
  type Notice,
  OneFile,
  type RunFiles,
  stopNoticeOf,
} from '../engine/runs/RunFiles.ts';
import type { GateFilter, GatePage, LabelFilter, QueueOptions, RunDriver } from '../engine/runs/Runs.ts';
import type { NewRunRecord } from '../engine/start/RunStarts.ts';
import { DevsError, endingWith } from '../errors/DevsError.ts';
import type { EventBus } from '../events/events.ts';
import { scrub } from '../masking/scrub.ts';
import type { OrchestrationApp } from '../orchestration/graph.ts';
import { type GoalOptions, pipelineGoal } from '../orchestration/pipelineGoals.ts';
import type {
  CodeOfRuns,
  OpenOptions,
  PipelinePorts,
  RemovedWorkspace,
  RunWorkspace,
  Workspace,
} from '../orchestration/ports.ts';
import { afterBarrier } from '../state/commits/CommitBarrier.ts';
import type { DoctorReport } from '../state/doctor/doctor.ts';
import type { HitlSession } from '../state/gates/hitlSession.ts';
import { NullRunStore } from '../state/NullRunStore.ts';
import type { Thread, ThreadStatus } from '../state/threads/threadRecords.ts';
import { assertCountableOf } from './assertCountable.ts';
import { commentedGates } from './gatesOfRun.ts';
import type { PipelineApp } from './PipelineApp.ts';
import { finishRewind } from './rewind/rewindRun.ts';
import { assertAgents, type PipelineResult, type PipelineRunInfo, tellChangedAgents } from './views.ts';

// The pipeline over the file of a run: how it is driven, and everything it is told from outside.

/** A run's handle on its file and on what the pipeline works with; `null` where no agents are given. */
interface PipelineWithPorts {
  readonly app: PipelineApp;
  readonly pipeline: PipelinePorts | null;
}

/** The pipeline over the state file of a run, and its surroundings here; `null` where they are not set. */
export interface PipelineFile extends PipelineWithPorts {
  readonly code: CodeOfRuns | null;
}

/** The members of a {@link PipelineFile} beside its file. */
export type PipelineSurroundings = Omit<PipelineFile, 'app'>;

/** The port of a {@link Run}: its file, here or elsewhere. */
export interface PipelineFiles extends RunFiles<PipelineFile> {
  /** Executes a run in this process. */
  drive(id: string, options: DriveRunOptions): Promise<PipelineResult>;
  /**
   * Calls `use` with a run whose file and folder are here.
   *
   * @throws DevsError `RUN_ELSEWHERE`, naming the method.
   */
  here<T>(id: string, method: string, use: (file: PipelineFile) => Promise<T>): Promise<T>;
}

/** Runs of one open file. */
export class OnePipelineFile extends OneFile<PipelineFile> implements PipelineFiles {
  drive(id: string, options: DriveRunOptions): Promise<PipelineResult> {
    return driveRun(id, options, this.file);
  }

  here<T>(_id: string, _method: string, use: (file: PipelineFile) => Promise<T>): Promise<T> {
    return use(this.file);
  }
}

/**
 * The goal of an execution: `until` a gate is approved, `only` one task (`T4`) or one `epic` (`E1`) with its
 * dependencies. Set at most one. It is stored until it is reached; then the run is paused.
 */
export interface DriveRunOptions extends Omit<RunOptions, 'durability' | 'webhook'>, GoalOptions {}

/** How a drive is called that is told what comes in meanwhile. */
export type PipelineDriveHooks = Pick<DriveOptions, 'prepare' | 'lost' | 'now'>;

/** Drives a run, and gives its branch to the user's repository; see {@link Run.resume}. */
export async function driveRun(
  id: string,
  { until, only, epic, ...options }: DriveRunOptions,
  given: PipelineWithPorts,
  { prepare, ...told }: PipelineDriveHooks = {},
): Promise<PipelineResult> {
  const { app, pipeline } = given;
  const { store } = app;
  const goal = pipelineGoal({ ...(until && { until }), ...(only && { only }), ...(epic && { epic }) });
  assertAgents(id, given);
  if (pipeline !== null) {
    assertCountableOf(id, pipeline.agents, store);
    tellChangedAgents(id, pipeline.agents, store);
  }
  const engine = await app.engine();
  await finishRewindOfEnded(id, given);
  const result = await whileAgentsAreKept(given, () =>
    internalsOf(engine).drive(id, {
      ...options,
      ...told,
      settles: false, // what is handed over has arrived before
      ...(goal && { goal }),
      prepare: async (lease) => {
        await prepare?.(lease);
        abandonQuestions(id, store.steps);
        await finishRewind(lease, { app: engine, pipeline });
      },
    }),
  );
  if (options.throwOnFailure === true) assertNotFailed(id, result);
  const handed = await handOver(id, app.events, (open) => workspaceInUse(id, given, open));
  return { ...outcomeOf(result), ...handed, cost: store.steps.costOf(id) };
}

/** What agents keep running between their calls ends with the drive. */
async function whileAgentsAreKept<Result>(
  { pipeline }: PipelineWithPorts,
  drive: () => Promise<Result>,
): Promise<Result> {
  try {
    return await drive();
  } finally {
    await pipeline?.agents.close?.().catch(() => undefined);
  }
}

/** A run that has ended is not driven, but the files of its last rewind may still have to follow. */
async function finishRewindOfEnded(id: string, { app, pipeline }: PipelineWithPorts): Promise<void> {
  const { threads, rewinds } = app.store;
  if (!isOver(threads.require(id).status) || rewinds.unfinished(id) === null) return;
  const engine = await app.engine();
  await internalsOf(engine).withLease(id, (lease) => finishRewind(lease, { app: engine, pipeline }));
}

/** The workspace of a run; `null` before the first task: opening a workspace makes it. */
export async function workspaceInUse(
  id: string,
  { app, pipeline }: PipelineWithPorts,
  options: OpenOptions = {},
): Promise<RunWorkspace | null> {
  if (pipeline === null) return null;
  const values = await app.values(id);
  return (values?.tasks ?? []).length === 0 ? null : pipeline.workspace.open(id, options);
}

/** Gives a run's branch to the user's repository. Outside of any lease, so what it tells is shown and not kept. */
function handOver(
  threadId: string,
  events: EventBus,
  open: (options: OpenOptions) => Promise<RunWorkspace | null>,
): Promise<Pick<PipelineResult, 'commits' | 'delivery'>> {
  const step = { threadId, lgTaskId: '', name: 'deliver', attempt: 1, node: 'deliver', taskId: null };
  const told = new StepActivities(step, Date.now(), {
    runs: new NullRunStore(events),
    at: { threadId: step.threadId, epoch: null },
    events,
  });
  told.begin();
  return endingWith(
    () => told.end(),
    async () => {
      const workspace = await open({ onActivity: told.tell });
      return {
        commits: (await workspace?.log()) ?? [],
        delivery: (await workspace?.deliver?.()) ?? null,
      };
    },
  );
}

const newIdIn = ({ app }: PipelineFile): string => app.newId();

export function pauseNotice(id: string, options: PauseOptions): Notice<PipelineFile, StopReceipt> {
  const request = pauseRequest(options);
  return stopNoticeOf(request, ({ app }) => app.pause(id, request), newIdIn);
}

export function cancelNotice(id: string, options: CancelOptions): Notice<PipelineFile, StopReceipt> {
  const request = cancelRequest(options);
  return stopNoticeOf(request, async ({ app }) => (await app.engine()).cancel(id, options), newIdIn);
}

export const decisionNotice = (
  id: string,
  gate: Pick<Gate, 'sessionId' | 'artifactHash'>,
  given: SentAnswer,
): Notice<PipelineFile, HitlSession> =>
  decisionNoticeOf(given, {
    session: ({ app }) => app.store.sessions.require(gate.sessionId),
    decide: (file, answer) =>
      afterBarrier(file.app.store.outlet, commentedGates(id, file).decide(gate, answer)),
    signalled: scrubbedAnswer,
  });

/**
 * An answer without secrets, for its way to the run. An edit stays as it is: where it is recorded, placeholders of hidden places are
 * told apart from masks, and then it is scrubbed.
 */
function scrubbedAnswer(given: SentAnswer) {
  if (isEdit(given)) return { answer: given, redacted: 0 };
  const { by, ...said } = given;
  const { value, count: redacted } = scrub(said);
  return { answer: { ...value, by }, redacted };
}

/** A part of the list of runs; without any member, all of it. */
export interface RunListPage extends Pick<LabelFilter, 'metadata' | 'tags' | 'idPrefix' | 'tenant'> {
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
  openGates(filter: GateFilter): Promise<GatePage & { readonly total: number }>;
  gatesNamed(beginning: string): Promise<readonly (Gate | ClosedGate)[]>;
  /** The open questions of a run that this process has driven. */
  gatesOf(id: string): readonly Gate[] | Promise<readonly Gate[]>;
  remove(id: string, removal: Removal): Promise<RemovedRun>;
  collect(workspace: Workspace | undefined): Promise<Collected>;
  compact(options: CompactOptions): Promise<CompactResult>;
  /** @param run - Whoever is told of one run may be told sooner. */
  news(run: string | undefined): Promise<StateNews>;
  dataVersion(): Promise<number>;
  verify(): Promise<DoctorReport>;
  backup(target: string): Promise<Backup>;
  close(): void;
}

export interface Removal {
  readonly by: Principal;
  /** Where the run worked. That of a run that is elsewhere is left alone. @defaultValue its files stay */
  readonly workspace?: Workspace;
  /** Also a run that has not ended, and work that is nowhere else. @defaultValue false */
  readonly force?: boolean;
}

export interface RemovedRun {
  readonly id: string;
  /** The outcome of its branch; `null` without one. */
  readonly branch: RemovedWorkspace['branch'];
  /** Bytes of the state file that can be used again. */
  readonly bytes: number;
}

/** Deletes a run: its folder and store first, so that a kill in between leaves a run that can be removed again. */
export async function removeRun(id: string, removal: Removal, app: OrchestrationApp): Promise<RemovedRun> {
  const { workspace, force = false } = removal;
  const own = internalsOf(app);
  const { store } = own;
  const human = assertRemovable(id, removal, store);
  const removed = await own.withLease(id, async (lease) => {
    const { branch } = (await workspace?.remove?.(id, { force })) ?? { branch: null };
    const { bytes } = store.commit((emit) => {
      const swept = store.remover.remove(lease);
      emit('RUN_REMOVED', { id, principal: principalText(human) });
      return swept;
    });
    return { id, branch, bytes };
  });
  await clearLog(store.db);
  return removed;
}

/** Refuses what {@link removeRun} refuses of the run itself; else says who removes it. */
export function assertRemovable(id: string, { by, force = false }: Removal, store: EngineStore): Principal {
  const human = asHuman(by, id, 'remove');
  const { status } = store.threads.require(id);
  if (!isOver(status) && !force) throw notEnded(id, status);
  return human;
}

const notEnded = (id: string, status: string): DevsError =>
  new DevsError(`Run "${id}" has not ended: it is ${status}.`, {
    code: 'REMOVE_REFUSED',
    remedy: 'Cancel the run, or resume it until it ends. To remove it anyway, use --force.',
    context: { threadId: id, reason: 'not_ended' },
  });
