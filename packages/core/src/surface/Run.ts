import { asAsked } from '../engine/activity/ActivityMasker.ts';
import type { AcceptedGraph, GraphAcceptance } from '../engine/change/takeGraph.ts';
import type { CancelOptions, PauseOptions, StopReceipt } from '../engine/drive/stopRequests.ts';
import { exchangesAt, type GateExchange, type QuotableSection } from '../engine/gates/answerForms.ts';
import type { EngineStore } from '../engine/gates/EngineStore.ts';
import {
  type ClosedGate,
  closedGates,
  type Gate,
  type GateAnswer,
  gatesOf,
  sentAnswer,
} from '../engine/gates/Gate.ts';
import type { RevealedPlace } from '../engine/gates/hiddenPlaces.ts';
import { asHuman, type Principal, principalOf, principalText } from '../engine/gates/principals.ts';
import type { CheckpointPage, CheckpointValues, CheckpointView } from '../engine/runs/snapshots.ts';
import type { Retention } from '../engine/saver/ThreadPruner.ts';
import type { RunSpan } from '../engine/telemetry/RunSpan.ts';
import { type GateEdit, gateDraft } from '../orchestration/gates/pipelineGates.ts';
import type { OpenPipeline } from '../orchestration/graph.ts';
import type { CommitView } from '../orchestration/ports.ts';
import type { LastComment } from '../orchestration/review/lastComments.ts';
import type { GraphState } from '../orchestration/types.ts';
import type { PruneResult } from '../state/checkpoints/CheckpointPruner.ts';
import { afterBarrier } from '../state/commits/CommitBarrier.ts';
import type { EventPage, EventRecord } from '../state/events/EventStore.ts';
import type { HitlSession } from '../state/gates/hitlSession.ts';
import type { AskOptions } from './askGate.ts';
import {
  commentedGates,
  type PlacesOptions,
  recordViewed,
  revealHidden,
  sessionOfRun,
  shownBefore,
} from './gatesOfRun.ts';
import type { RecursionDepth } from './graphWork.ts';
import { runOptionsOf } from './orchestratorOptions.ts';
import { graphWork } from './PipelineApp.ts';
import {
  cancelNotice,
  type DriveRunOptions,
  decisionNotice,
  type PipelineFile,
  type PipelineFiles,
  pauseNotice,
  workspaceInUse,
} from './PipelineFiles.ts';
import type { RewindPlan, RewindRequest, RewindUndone, Rewound } from './rewind/rewindRun.ts';
import { type TranscriptEntry, type TranscriptQuery, transcript } from './transcripts.ts';
import {
  type Adopted,
  type Adoption,
  adoptChanges,
  type SyncedRun,
  type SyncRequest,
  syncRun,
} from './userChanges.ts';
import {
  assertAgents,
  currentState,
  type GraphView,
  graphView,
  type LogEntry,
  type PipelineResult,
  type PipelineRunInfo,
  requirePipeline,
  runStatus,
  type StepView,
  stepView,
} from './views.ts';

export type { DriveRunOptions };

/**
 * A handle on one recorded run. It reads everything from the state file and keeps nothing open. Methods return a
 * promise and reject for a wrong call.
 */
export class Run {
  readonly id: string;
  readonly #files: PipelineFiles;

  constructor(id: string, files: PipelineFiles) {
    this.id = id;
    this.#files = files;
  }

  /** Returns the status of the run without executing it. */
  async status(): Promise<PipelineRunInfo> {
    return this.#files.read(this.id, ({ app }) => runStatus(this.id, app));
  }

  /** Returns the open gates of the run, oldest first. */
  async gates(): Promise<readonly Gate[]> {
    return this.#files.read(this.id, ({ app }) => gatesOf(this.id, app.store));
  }

  /** Returns the decided and withdrawn gates, oldest first, with content, hash and decision. */
  async closedGates(): Promise<readonly ClosedGate[]> {
    return this.#files.read(this.id, ({ app }) => closedGates(this.id, app.store.sessions));
  }

  /**
   * Returns the version of a gate that a person viewed last, other than this one; `null` if this is their first. Unlike
   * {@link recordViewed}, it writes nothing.
   */
  async lastViewed(gate: Gate, by: Principal): Promise<Gate | null> {
    return this.#files.read(this.id, ({ app }) => shownBefore(gate, principalOf(by), app.store));
  }

  /** Returns the questions and answers at a gate, open or closed, oldest first. */
  async exchanges({ sessionId }: Pick<Gate, 'sessionId'>): Promise<readonly GateExchange[]> {
    return this.#files.read(this.id, ({ app }) => exchangesAt(this.id, sessionId, app.store.steps));
  }

  /**
   * Returns a gate's content in the form that an `edit` of {@link decide} accepts.
   *
   * @throws DevsError `INVALID_ANSWER` if gates of this kind cannot be edited; `GATE_STALE` if the run has continued.
   */
  async draft(gate: Gate): Promise<GateEdit> {
    return this.#files.read(this.id, async ({ app }) => gateDraft(gate, await app.values(this.id)));
  }

  /**
   * Returns a page of the run's events, oldest first.
   *
   * @param page - Defaults: `afterSeq` 0, `limit` 1,000. With `beforeSeq` the page ends there; use
   *   `Number.MAX_SAFE_INTEGER` for the newest.
   */
  async log(page: EventPage = {}): Promise<readonly LogEntry[]> {
    return this.#files.read(this.id, ({ app }) =>
      app.store.log.list(this.id, runOptionsOf('log', page)).map(logEntry),
    );
  }

  /** Returns every step of the run in order of its start, with times, attempts and cost. */
  async steps(): Promise<readonly StepView[]> {
    return this.#files.read(this.id, ({ app }) => app.store.steps.listForThread(this.id).map(stepView));
  }

  /** Returns nodes, edges taken and node executions of the run's graph, from the state file. */
  async graph(): Promise<GraphView> {
    const { nextNodesOf } = await graphWork();
    return this.#files.read(this.id, async ({ app: { store } }) =>
      graphView(this.id, await nextNodesOf(this.id, store), store),
    );
  }

  /**
   * Returns a page of the run's stored checkpoints, newest first.
   *
   * @throws RangeError for a bad limit; DevsError `CHECKPOINT_NOT_FOUND` for an unknown `before`.
   */
  async checkpoints(page: CheckpointPage = {}): Promise<readonly CheckpointView[]> {
    const asked = runOptionsOf('checkpoints', page);
    const { checkpointViews } = await graphWork();
    return this.#files.read(this.id, ({ app }) => checkpointViews(this.id, asked, app.store));
  }

  /**
   * Returns the values at a checkpoint, and the earlier values of those that changed.
   *
   * @throws DevsError `CHECKPOINT_NOT_FOUND`
   *
   * @example
   * ```ts
   * const [newest] = await run.checkpoints({ limit: 1 });
   * if (newest) console.log((await run.valuesAt(newest.checkpointId)).changed);
   * ```
   */
  async valuesAt(checkpointId: string): Promise<CheckpointValues> {
    const { checkpointValues } = await graphWork();
    return this.#files.read(this.id, ({ app }) => checkpointValues(this.id, checkpointId, app.store));
  }

  /**
   * Returns stored activity of agents, checks and setup, oldest first and masked. After a kill, the last second is
   * missing. A long transcript keeps its start and its end.
   *
   * @throws RangeError for an unknown stage or attempt, naming the known ones.
   *
   * @example
   * ```ts
   * const entries = await run.transcript({ stage: 'T4.implement' });
   * ```
   */
  async transcript(query: TranscriptQuery = {}): Promise<readonly TranscriptEntry[]> {
    const asked = runOptionsOf('transcript', query);
    return this.#files.read(this.id, ({ app }) => transcript(this.id, asked, app.store.transcripts));
  }

  /**
   * Returns the spans of the run as OpenTelemetry has them: the run, its turns, executions of nodes, steps and gates. They are
   * derived from what is recorded; what goes on is `isOpen`.
   *
   * @param options - `content`: also words of people, messages of errors and results of steps, masked.
   *
   * @example
   * ```ts
   * const failed = (await run.trace()).filter(({ error }) => error !== null);
   * ```
   */
  async trace(options: { readonly content?: boolean } = {}): Promise<readonly RunSpan[]> {
    const asked = runOptionsOf('trace', options);
    const { spansOf } = await import('../engine/telemetry/runSpans.ts');
    return this.#files.read(this.id, ({ app }) => spansOf(this.id, app.store, asked));
  }

  /**
   * Sends the spans of the run that have ended, as the `OTEL_…` variables say. Returns their number.
   *
   * @param options - As of {@link trace}.
   * @throws DevsError `CONFIG_INVALID` if the exporter's package is missing. The error of the exporter.
   */
  async exportTrace(options: { readonly content?: boolean } = {}): Promise<number> {
    const asked = runOptionsOf('trace', options);
    const { Telemetry } = await import('../engine/telemetry/Telemetry.ts');
    const runs = {
      graph: '',
      read: <T>(id: string, use: (file: EngineStore) => T) =>
        this.#files.read(id, ({ app }) => use(app.store)),
    };
    const telemetry = new Telemetry(asked, runs);
    try {
      return await telemetry.sendRun(this.id);
    } finally {
      await telemetry.close();
    }
  }

  /**
   * Returns the pipeline's state at its latest checkpoint, with the current commits of its tasks; `null` before the
   * first checkpoint and for a run of another graph, whose values {@link valuesAt} returns.
   */
  async state(): Promise<GraphState | null> {
    return this.#files.read(this.id, ({ app }) => currentState(this.id, app));
  }

  /**
   * Returns the depth of the due node execution, or of the last one of a run that has ended [9_ROADMAP-RISK-401]. 0
   * before the first checkpoint. The limit is this orchestrator's.
   */
  async recursionDepth(): Promise<RecursionDepth> {
    const { recursionDepthOf } = await graphWork();
    return this.#files.read(this.id, async ({ app }) => recursionDepthOf(this.id, await app.engine()));
  }

  /** Returns the `agentsRef` of the run's start. */
  async agentsRef(): Promise<string | null> {
    return this.#files.read(this.id, ({ app }) => {
      const ref = app.store.threads.require(this.id).policies['agentsRef'];
      return typeof ref === 'string' ? ref : null;
    });
  }

  /**
   * Executes the run until it ends, waits, reaches a goal, or is stopped: `drain` pauses it at the next safe point, `signal`
   * at once. A stopped run does not reject: its status is `paused`.
   *
   * @throws RangeError for two goals or an invalid one.
   * @throws DevsError `THREAD_BUSY` while another process runs it; `CONFIG_INVALID` without the agents it was started
   *   with; engine faults (`STATE_…`, `REPLAY_MISS`, …) and unreachable agents (`AGENT_FAILED`): the run stays
   *   resumable.
   */
  async resume(options: DriveRunOptions = {}): Promise<PipelineResult> {
    return this.#files.drive(this.id, runOptionsOf('resume', options));
  }

  /**
   * Asks the process that runs it to stop at the next safe point; with `abort` it ends calls in flight. It can resume.
   *
   * @returns `isAccepted: false` for a run that has ended; `status` is its end.
   * @throws DevsError `AGENT_MAY_NOT_DECIDE` for an agent as `by`.
   */
  async pause(options: PauseOptions = {}): Promise<StopReceipt> {
    return this.#files.notify({ run: this.id }, pauseNotice(this.id, runOptionsOf('pause', options)));
  }

  /**
   * Ends the run for good. Aborts calls in flight, with their processes.
   *
   * @returns `isAccepted: false` for a run that has ended; `status` is its end.
   * @throws DevsError `AGENT_MAY_NOT_DECIDE` for an agent as `by`.
   */
  async cancel(options: Pick<CancelOptions, 'by'> = {}): Promise<StopReceipt> {
    return this.#files.notify({ run: this.id }, cancelNotice(this.id, runOptionsOf('cancel', options)));
  }

  /**
   * Deletes old checkpoints of the run; data it needs to resume stays.
   *
   * @throws DevsError `THREAD_BUSY` while a process runs it; RangeError for a bad number.
   */
  async prune(retention: Retention): Promise<PruneResult> {
    const asked = runOptionsOf('prune', retention);
    return this.#files.claim(this.id, async ({ app }) => (await app.engine()).prune(this.id, asked));
  }

  /**
   * Records a decision on a gate. The process that runs the run applies it.
   *
   * @throws DevsError `GATE_NOT_FOUND`, also for a gate of another run; `GATE_STALE`, `GATE_ALREADY_DECIDED`,
   *   `AGENT_MAY_NOT_DECIDE`, `INVALID_ANSWER`, `FEEDBACK_REQUIRED`, `QUOTE_NOT_SHOWN` for a comment, `GATE_HIDDEN` for
   *   an unread approval, `CONFIG_INVALID` for a comment on code that cannot be read here. The gate is unchanged then.
   *
   * @example
   * ```ts
   * const comments = [{ in: 'TAS', quote: 'Two tables.', line: 3, text: 'Why not one?' }];
   * await run.decide(gate, { approved: false, comments, by: { kind: 'human', id: 'ada' }, via: 'page' });
   * ```
   */
  async decide<Asked extends Pick<Gate, 'sessionId' | 'artifactHash'>>(
    gate: Asked,
    answer: GateAnswer<Asked>,
  ): Promise<HitlSession> {
    const sent = sentAnswer(gate, answer);
    return this.#files.notify({ run: this.id }, decisionNotice(this.id, gate, sent));
  }

  /**
   * Returns the sections of a gate that a comment can quote. For a code review these include the first files, if the
   * orchestrator has a workspace.
   *
   * @param options - `code: false` leaves the files out, which are read from git.
   */
  async quotableSections(gate: Gate, options: PlacesOptions = {}): Promise<readonly QuotableSection[]> {
    const asked = runOptionsOf('quotableSections', options);
    return this.#files.read(this.id, (file) => commentedGates(this.id, file).places(gate, asked));
  }

  /**
   * Returns the comments on the last version of this gate, and whether the quoted text has changed since. Empty if that
   * version was approved, or rejected without comments.
   */
  async lastComments(gate: Gate): Promise<readonly LastComment[]> {
    return this.#files.read(this.id, (file) => commentedGates(this.id, file).lastComments(gate));
  }

  /**
   * Records that a person viewed a gate.
   *
   * @throws DevsError `GATE_NOT_FOUND`
   * @returns The version of this gate that they viewed before, if it was another one.
   */
  async recordViewed(gate: Gate, by: Principal): Promise<Gate | null> {
    return this.#files.read(this.id, ({ app }) => recordViewed(this.id, gate, by, app.store));
  }

  /**
   * Returns the hidden places of an open gate for one person and records it. Then this person can approve. Empty if the
   * gate hides nothing.
   *
   * @throws DevsError `GATE_STALE`, `GATE_ALREADY_DECIDED`, `GATE_NOT_FOUND`; `AGENT_MAY_NOT_DECIDE`,
   *   `POLICY_NOT_DECLARED`: only a person can read them.
   */
  async reveal(
    gate: Pick<Gate, 'sessionId' | 'artifactHash'>,
    by: Principal,
  ): Promise<readonly RevealedPlace[]> {
    return this.#files.claim(this.id, (file) => revealHidden(this.id, gate, by, file));
  }

  /**
   * Asks the agent whose work an open gate shows. Decides nothing: gate, hash and status stay, and the next attempt
   * receives the exchange. Costs one call within the run's budget. The same question at the same gate is answered from
   * the record. Holds the run's lease meanwhile; if the process dies, the question stays unanswered.
   *
   * @throws TypeError, RangeError for an empty question, or one of more than 8,000 characters.
   * @throws DevsError `GATE_STALE`, `GATE_ALREADY_DECIDED`, `THREAD_BUSY` while another process runs it or asks,
   *   `BUDGET_SPENT`, `ASK_UNSUPPORTED`, `AGENT_MAY_NOT_DECIDE`, `CONFIG_INVALID` without the agents it was started
   *   with; errors of the agent unchanged.
   *
   * @example
   * ```ts
   * const { answer } = await run.ask(gate, 'Why two tables?', { by: { kind: 'human', id: 'ada' } });
   * ```
   */
  async ask(
    gate: Pick<Gate, 'sessionId' | 'artifactHash'>,
    text: string,
    options: AskOptions,
  ): Promise<GateExchange> {
    const asked = runOptionsOf('ask', options);
    return this.#files.claim(this.id, async (file) => {
      assertAgents(this.id, file);
      const { askGate } = await graphWork();
      return askGate(this.id, gate, { ...asked, text }, await openPipeline(file));
    });
  }

  /**
   * Returns the reason why questions about a gate are unavailable, for people; `null` if an agent can answer.
   *
   * @throws DevsError `GATE_NOT_FOUND`
   */
  async askUnavailableReason({ sessionId }: Pick<Gate, 'sessionId'>): Promise<string | null> {
    const { whyUnasked } = await graphWork();
    return this.#files.read(this.id, ({ app, pipeline }) => {
      const session = sessionOfRun(this.id, sessionId, app.store.sessions);
      return whyUnasked(session, pipeline?.agents ?? null);
    });
  }

  /**
   * Lets a run continue after `GRAPH_CHANGED`, if another version of the pipeline started it. Executes nothing.
   *
   * @throws DevsError `GRAPH_NOT_ACCEPTED`, `AGENT_MAY_NOT_DECIDE`, `POLICY_NOT_DECLARED`, `THREAD_BUSY`. The run is
   *   unchanged then.
   */
  async acceptGraph(acceptance: GraphAcceptance): Promise<AcceptedGraph> {
    const asked = runOptionsOf('acceptGraph', acceptance);
    return this.#files.claim(this.id, async ({ app }) => (await app.engine()).acceptGraph(this.id, asked));
  }

  /**
   * Brings back a dead letter; see {@link DurableApp.revive}. Returns false for another run, which is unchanged.
   *
   * @throws DevsError `AGENT_MAY_NOT_DECIDE`, `POLICY_NOT_DECLARED`: only a person can revive a run; `WORKSPACE_BUSY`,
   *   `THREAD_BUSY`.
   */
  async revive(request: { readonly by: Principal }): Promise<boolean> {
    const asked = runOptionsOf('revive', request);
    const revive = async ({ app }: PipelineFile) => (await app.engine()).revive(this.id, asked);
    return this.#files.claim(this.id, revive, { goesOn: true });
  }

  /**
   * Records that a person skips the sandbox for the next execution. Only records it: the orchestrator's options choose
   * the sandbox.
   *
   * @throws DevsError `AGENT_MAY_NOT_DECIDE`, `POLICY_NOT_DECLARED`: only a person can skip it.
   */
  async skipSandboxOnce(by: Principal): Promise<void> {
    return this.#files.claim(this.id, ({ app }) => waiveSandbox(this.id, by, app.store));
  }

  /**
   * Commits a person's changes in the run's folder in their name, and runs the checks on them. The run continues from
   * there. Uncommitted files of agents stay in the folder. Returns `null` if there are no changes.
   *
   * @throws DevsError `WORKSPACE_BUSY` in the middle of a turn, `THREAD_BUSY`, `AGENT_MAY_NOT_DECIDE`,
   *   `POLICY_NOT_DECLARED`, `CONFIG_INVALID` without the agents it was started with.
   */
  async adopt(adoption: Adoption): Promise<Adopted | null> {
    const asked = runOptionsOf('adopt', adoption);
    return this.#files.here(this.id, 'adopt', async (file) =>
      adoptChanges(this.id, asked, await pipelineWithAgents(this.id, file)),
    );
  }

  /**
   * Moves the run's commits onto the user's new commits, in the engine's own git dir, and delivers the branch again.
   * Does not change the user's checkout. Returns `null` if there are no new commits.
   *
   * @throws DevsError `SYNC_CONFLICT` naming the files, `WORKSPACE_DIRTY`: the run is unchanged then; otherwise as
   *   {@link adopt}.
   */
  async sync(request: SyncRequest): Promise<SyncedRun | null> {
    const asked = runOptionsOf('sync', request);
    return this.#files.claim(this.id, async (file) =>
      syncRun(this.id, asked, await pipelineWithAgents(this.id, file)),
    );
  }

  /**
   * Rewinds the run to the end of a task, so that dependent tasks and a started task begin again. Finished tasks that
   * do not depend on it stay, with their commits. Executes nothing.
   *
   * History stays: a new checkpoint and a new commit remove the work. Returns `null` if nothing started after the task.
   *
   * @param task - `T3`, or its id: a finished task, or a started one to begin again.
   * @throws DevsError `REWIND_CONFLICT` naming the files, if remaining work depends on removed work; `REWIND_REFUSED`,
   *   `AGENT_MAY_NOT_DECIDE`, `POLICY_NOT_DECLARED`, `THREAD_BUSY`, `GRAPH_CHANGED`; `CONFIG_INVALID` without the
   *   agents it was started with. The run is unchanged then.
   *
   * @example
   * ```ts
   * await run.rewind('T2', { by: { kind: 'human', id: 'ada' }, reason: 'T3 solves the wrong problem' });
   * await run.resume();
   * ```
   */
  async rewind(task: string, request: RewindRequest): Promise<Rewound | null> {
    const asked = runOptionsOf('rewind', request);
    return this.#files.claim(this.id, async (file) => {
      assertAgents(this.id, file);
      const { rewindRun } = await graphWork();
      return rewindRun(this.id, task, asked, await openPipeline(file));
    });
  }

  /** Returns the tasks that {@link rewind} would undo. Throws the same errors and changes nothing. */
  async previewRewind(task: string): Promise<RewindPlan | null> {
    return this.#files.read(this.id, async (file) => {
      assertAgents(this.id, file);
      const { previewRewind } = await graphWork();
      return previewRewind(this.id, task, await openPipeline(file));
    });
  }

  /**
   * Undoes the last {@link rewind}, as long as no node and no person in the run's folder has committed since. The
   * interrupted node starts again.
   *
   * @throws DevsError `REWIND_REFUSED`, `REWIND_CONFLICT`; otherwise as {@link rewind}.
   */
  async undoRewind(request: RewindRequest): Promise<RewindUndone> {
    const asked = runOptionsOf('undoRewind', request);
    return this.#files.claim(this.id, async (file) => {
      assertAgents(this.id, file);
      const { undoRewind } = await graphWork();
      return undoRewind(this.id, asked, await openPipeline(file));
    });
  }

  /** Returns the commits on the run's branch, oldest first; empty without agents or before the first task. */
  async commits(): Promise<readonly CommitView[]> {
    return this.#files.here(
      this.id,
      'commits',
      async (file) => (await (await workspaceInUse(this.id, file))?.log()) ?? [],
    );
  }
}

const logEntry = ({ seq, at, name, taskId, payload }: EventRecord): LogEntry => ({
  seq,
  at: new Date(at).toISOString(),
  name,
  taskId,
  payload: name === 'AGENT_ASKED' ? asAsked(payload) : payload,
});

const openPipeline = async ({ app, pipeline }: PipelineFile): Promise<OpenPipeline> => ({
  app: await app.engine(),
  pipeline,
});

/** @throws DevsError `CONFIG_INVALID` without agents. */
async function pipelineWithAgents(id: string, { app, pipeline }: PipelineFile) {
  const given = requirePipeline(id, pipeline);
  return { app: await app.engine(), pipeline: given };
}

function waiveSandbox(threadId: string, by: Principal, { runs, outlet }: EngineStore): Promise<void> {
  const payload = { principal: principalText(asHuman(by, threadId, 'skip the sandbox of')) };
  const waived = { name: 'SANDBOX_WAIVED', payload, scope: { threadId } } as const;
  return afterBarrier(outlet, runs.note({ threadId, epoch: null }, [waived]));
}
