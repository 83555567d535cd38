import { asAsked } from '../engine/activity/ActivityMasker.ts';
import { type ClosedGate, closedGates, type Gate, openGates } from '../engine/gates/Gate.ts';
import { exchangesAt, type GateExchange } from '../engine/gates/gateQuestions.ts';
import type { Principal } from '../engine/gates/HumanInTheLoopManager.ts';
import { principalOf } from '../engine/gates/principals.ts';
import { infoOf } from '../engine/runs/listRuns.ts';
import type { CheckpointPage, CheckpointValues, CheckpointView } from '../engine/runs/snapshots.ts';
import { type GateEdit, gateDraft } from '../orchestration/gates/gateEdit.ts';
import { type DocumentFile, documentFiles } from '../orchestration/nodes/documents.ts';
import { reviewDecisions } from '../orchestration/review/reviewDecisions.ts';
import { isPipelineRun, withCurrentCommits } from '../orchestration/storedState.ts';
import { taskLabel } from '../orchestration/taskStates.ts';
import type { GraphState } from '../orchestration/types.ts';
import type { EventPage } from '../state/events/EventStore.ts';
import type { Rewind } from '../state/runs/RewindStore.ts';
import { recordedAgents } from './agentsIdentity.ts';
import { shownBefore } from './gatesOfRun.ts';
import { type GraphView, graphView } from './graphView.ts';
import { graphWork, type PipelineApp } from './PipelineApp.ts';
import type { RecursionDepth } from './recursionDepth.ts';
import {
  type TranscriptEntry,
  type TranscriptQuery,
  type TranscriptStage,
  transcript,
  transcriptStages,
} from './transcripts.ts';
import {
  type BudgetUse,
  type LogEntry,
  type PipelineRunInfo,
  type ReviewStatus,
  type RewindView,
  runningView,
  type StepView,
  stepView,
  taskView,
} from './views.ts';

/** Reads the record of one run, whether or not a process runs it. */
export class RecordedRun {
  readonly id: string;
  readonly #app: PipelineApp;

  constructor(id: string, app: PipelineApp) {
    this.id = id;
    this.#app = app;
  }

  /** Returns the status of the run without executing it. */
  async status(): Promise<PipelineRunInfo> {
    const { threads, steps } = this.#app.store;
    const thread = threads.require(this.id);
    const values = await this.state();
    const driver = threads.driverOf(this.id);
    return {
      ...infoOf(thread, driver !== null),
      title: String(thread.policies['title'] ?? this.id),
      driver,
      running: runningView(this.id, this.#app.store),
      degraded: thread.degraded,
      agents: recordedAgents(this.id, this.#app.store),
      workspace: threads.folderOf(thread),
      tasks: (values?.tasks ?? []).map(taskView),
      gates: openGates(this.id, this.#app.store.sessions),
      cost: steps.costOf(this.id),
      review: values === null ? null : reviewStatus(values),
      budget: this.#budget(),
      rewinds: this.#rewinds(),
    };
  }

  /** Returns the use of each limit of the run's budget, without limits per task. Empty without a budget. */
  async budget(): Promise<readonly BudgetUse[]> {
    return this.#budget();
  }

  #budget(): readonly BudgetUse[] {
    return this.#app.store.budgets
      .usesOf(this.id)
      .map(({ measure, limit, spent, reserved }) => ({ measure, limit, spent, reserved }));
  }

  /** Returns the open gates of the run, oldest first. */
  async gates(): Promise<readonly Gate[]> {
    return this.#app.gates(this.id);
  }

  /** Returns the decided and withdrawn gates, oldest first, with content, hash and decision. */
  async closedGates(): Promise<readonly ClosedGate[]> {
    return closedGates(this.id, this.#app.store.sessions);
  }

  /**
   * Returns the version of a gate that a person viewed last, other than this one; `null` if this is their first. Unlike
   * `Run.recordViewed`, it writes nothing.
   */
  async lastViewed(gate: Gate, by: Principal): Promise<Gate | null> {
    return shownBefore(gate, principalOf(by), this.#app.store);
  }

  /** Returns the questions and answers at a gate, open or closed, oldest first. */
  async exchanges({ sessionId }: Pick<Gate, 'sessionId'>): Promise<readonly GateExchange[]> {
    return exchangesAt(this.id, sessionId, this.#app.store.steps);
  }

  /**
   * Returns a gate's content in the form that `Run.edit` accepts.
   *
   * @throws DevsError `INVALID_ANSWER` if gates of this kind cannot be edited; `GATE_STALE` if the run has continued.
   */
  async draft(gate: Gate): Promise<GateEdit> {
    return gateDraft(gate, await this.#app.values(this.id));
  }

  /** Returns the rewinds of the run with person, time and reason, oldest first. */
  async rewinds(): Promise<readonly RewindView[]> {
    return this.#rewinds();
  }

  #rewinds(): readonly RewindView[] {
    return rewindViews(this.#app.store.rewinds.list(this.id));
  }

  /**
   * Returns a page of the run's events, oldest first.
   *
   * @param page - Defaults: `afterSeq` 0, `limit` 1,000. With `beforeSeq` the page ends there; use
   *   `Number.MAX_SAFE_INTEGER` for the newest.
   */
  async log(page: EventPage = {}): Promise<readonly LogEntry[]> {
    return this.#app.store.log.list(this.id, page).map(({ seq, at, name, taskId, payload }) => ({
      seq,
      at: new Date(at).toISOString(),
      name,
      taskId,
      payload: name === 'AGENT_ASKED' ? asAsked(payload) : payload,
    }));
  }

  /** Returns every step of the run in order of its start, with times, attempts and cost. */
  async steps(): Promise<readonly StepView[]> {
    return this.#app.store.steps.listForThread(this.id).map(stepView);
  }

  /** Returns nodes, edges taken and node executions of the run's graph, from the state file. */
  async graph(): Promise<GraphView> {
    const { nextNodesOf: nextOf } = await graphWork();
    return graphView(this.id, await nextOf(this.id, this.#app.store), this.#app.store);
  }

  /**
   * Returns a page of the run's stored checkpoints, newest first.
   *
   * @throws RangeError for a bad limit; DevsError `CHECKPOINT_NOT_FOUND` for an unknown `before`.
   */
  async checkpoints(page: CheckpointPage = {}): Promise<readonly CheckpointView[]> {
    const { checkpointViews } = await graphWork();
    return checkpointViews(this.id, page, this.#app.store);
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
    return checkpointValues(this.id, checkpointId, this.#app.store);
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
    return transcript(this.id, query, this.#app.store.transcripts);
  }

  /** Returns the stages that have a {@link transcript}, in order of their start. */
  async transcriptStages(): Promise<readonly TranscriptStage[]> {
    return transcriptStages(this.id, this.#app.store.transcripts);
  }

  /**
   * Returns the pipeline's state at its latest checkpoint, with the current commits of its tasks; `null` before the
   * first checkpoint and for a run of another graph, whose values {@link valuesAt} returns.
   */
  async state(): Promise<GraphState | null> {
    if (!isPipelineRun(this.#app.store.threads.require(this.id))) return null;
    return withCurrentCommits(await this.#app.values(this.id), this.id, this.#app.store);
  }

  /** Returns the run's current documents and plan as Markdown files; empty before the first checkpoint. */
  async documents(): Promise<readonly DocumentFile[]> {
    const values = await this.state();
    return values === null ? [] : documentFiles(values);
  }

  /**
   * Returns the depth of the due node execution, or of the last one of a run that has ended [9_ROADMAP-RISK-401]. 0
   * before the first checkpoint. The limit is this orchestrator's.
   */
  async recursionDepth(): Promise<RecursionDepth> {
    const { recursionDepthOf } = await graphWork();
    return recursionDepthOf(this.id, await this.#app.engine());
  }

  /** Returns the `agentsRef` of the run's start. */
  async agentsRef(): Promise<string | null> {
    const ref = this.#app.store.threads.require(this.id).policies['agentsRef'];
    return typeof ref === 'string' ? ref : null;
  }
}

/** How the code of a run is reviewed; `null` also for a run of an own graph, which has no project. */
function reviewStatus(state: Pick<GraphState, 'hitlDecisions'> & Partial<GraphState>): ReviewStatus | null {
  const scope = state.projectConfig?.review;
  if (scope === undefined) return null;
  const decisions = reviewDecisions(state);
  const approved = decisions.filter(({ signal }) => signal.approved).length;
  return { scope, approved, rejected: decisions.length - approved };
}

/** Rewinds as people are told of them: one that was taken back says so, and is one line. */
function rewindViews(rewinds: readonly Rewind[]): readonly RewindView[] {
  return rewinds
    .filter(({ before }) => before.takesBack === null)
    .map(({ id, targetTaskId, undone, before, state, createdAt }) => ({
      id,
      target: taskLabel(targetTaskId),
      undone: undone.map(({ taskId }) => taskLabel(taskId)),
      principal: before.principal,
      reason: before.reason,
      at: new Date(createdAt).toISOString(),
      state: state === 'intent' ? 'unfinished' : state,
    }));
}
