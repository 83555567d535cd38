import { asAsked } from '../engine/activity/ActivityMasker.ts';
import { exchangesAt, type GateExchange } from '../engine/asks.ts';
import { type ClosedGate, closedGates, type Gate, openGates } from '../engine/Gate.ts';
import type { Principal } from '../engine/gates/HumanInTheLoopManager.ts';
import { principalOf } from '../engine/gates/principals.ts';
import type { CheckpointPage, CheckpointValues, CheckpointView } from '../engine/runs/checkpointViews.ts';
import { infoOf } from '../engine/runs/listRuns.ts';
import { type DocumentFile, documentFiles } from '../orchestration/documentFiles.ts';
import type { GateEdit } from '../orchestration/gates/gateEdit.ts';
import { reviewDecisions } from '../orchestration/review/reviewDecisions.ts';
import { isPipelineRun } from '../orchestration/storedState.ts';
import { taskLabel } from '../orchestration/taskStates.ts';
import type { GraphState } from '../orchestration/types.ts';
import type { EventPage } from '../state/EventStore.ts';
import type { Rewind } from '../state/RewindStore.ts';
import { recordedAgents } from './agentsIdentity.ts';
import { withCurrentCommits } from './currentCommits.ts';
import { gateDraft } from './gateDraft.ts';
import { type GraphView, graphView } from './graphView.ts';
import { shownBefore } from './lastShown.ts';
import { graphWork, type PipelineApp } from './PipelineApp.ts';
import type { RecursionDepth } from './recursionDepth.ts';
import { runningView } from './runningView.ts';
import { type StepView, stepView } from './stepView.ts';
import { taskView } from './taskView.ts';
import {
  type TranscriptEntry,
  type TranscriptQuery,
  type TranscriptStage,
  transcript,
  transcriptStages,
} from './transcripts.ts';
import type { BudgetUse, LogEntry, PipelineRunInfo, ReviewStatus, RewindView } from './views.ts';

/** What is on record of one run: all that is read, whoever drives it. */
export class RecordedRun {
  readonly id: string;
  readonly #app: PipelineApp;

  constructor(id: string, app: PipelineApp) {
    this.id = id;
    this.#app = app;
  }

  /** Where the run stands, without driving it. */
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

  /** How the run's budget is used up, without what is limited per task. Empty without a budget. */
  async budget(): Promise<readonly BudgetUse[]> {
    return this.#budget();
  }

  #budget(): readonly BudgetUse[] {
    return this.#app.store.budgets
      .usesOf(this.id)
      .map(({ measure, limit, spent, reserved }) => ({ measure, limit, spent, reserved }));
  }

  /** The questions the run waits for, oldest first. */
  async gates(): Promise<readonly Gate[]> {
    return this.#app.gates(this.id);
  }

  /** The questions that were decided or withdrawn, oldest first: what was shown, under which hash, and who said what. */
  async closedGates(): Promise<readonly ClosedGate[]> {
    return closedGates(this.id, this.#app.store.sessions);
  }

  /**
   * What a person was shown last of a gate's kind and task, of versions other than this one; `null` where this is the first
   * they see. Unlike `Run.shown` it writes nothing, and says the same however often it is asked.
   */
  async shownBefore(gate: Gate, by: Principal): Promise<Gate | null> {
    return shownBefore(gate, principalOf(by), this.#app.store);
  }

  /** What was asked and answered at a gate, open or closed, oldest first. */
  async exchanges({ sessionId }: Pick<Gate, 'sessionId'>): Promise<readonly GateExchange[]> {
    return exchangesAt(this.id, sessionId, this.#app.store.steps);
  }

  /**
   * What a gate shows, in the form in which `Run.edit` takes it back.
   *
   * @throws DevsError `INVALID_ANSWER` if gates of this kind are not edited; `GATE_STALE` if the run has moved on.
   */
  async draft(gate: Gate): Promise<GateEdit> {
    return gateDraft(gate, await this.#app.values(this.id));
  }

  /** Who set the run back, when and why, oldest first. */
  async rewinds(): Promise<readonly RewindView[]> {
    return this.#rewinds();
  }

  #rewinds(): readonly RewindView[] {
    return rewindViews(this.#app.store.rewinds.list(this.id));
  }

  /**
   * What happened, oldest first: a page of it.
   *
   * @param page - `afterSeq` is 0 and `limit` 1,000 where they are left out. With `beforeSeq` the page ends there: the newest
   *   are those before `Number.MAX_SAFE_INTEGER`.
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

  /** Every durable step of the run, in the order in which they were begun: when, how often, and what it cost. */
  async steps(): Promise<readonly StepView[]> {
    return this.#app.store.steps.listForThread(this.id).map(stepView);
  }

  /** Nodes, ways and visits of the run's graph as the state file has them, whatever program they are of. */
  async graph(): Promise<GraphView> {
    const { nextOf } = await graphWork();
    return graphView(this.id, await nextOf(this.id, this.#app.store), this.#app.store);
  }

  /**
   * The checkpoints that are kept of the run, newest first: a page of them.
   *
   * @throws RangeError for a bad limit; DevsError `CHECKPOINT_NOT_FOUND` for a `before` that is none.
   */
  async checkpoints(page: CheckpointPage = {}): Promise<readonly CheckpointView[]> {
    const { checkpointViews } = await graphWork();
    return checkpointViews(this.id, page, this.#app.store);
  }

  /**
   * What the state held at a checkpoint, and what of it was another value before.
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
   * What agents, checks and setup told while they worked, oldest first: masked, and kept up to the last second also of a
   * process that was killed. A long one has its beginning and its end.
   *
   * @throws RangeError for a stage or an attempt there is none of, naming those there are.
   *
   * @example
   * ```ts
   * const entries = await run.transcript({ stage: 'T4.implement' });
   * ```
   */
  async transcript(query: TranscriptQuery = {}): Promise<readonly TranscriptEntry[]> {
    return transcript(this.id, query, this.#app.store.transcripts);
  }

  /** The stages that have a {@link transcript}, in the order in which they were begun. */
  async transcriptStages(): Promise<readonly TranscriptStage[]> {
    return transcriptStages(this.id, this.#app.store.transcripts);
  }

  /**
   * The state of the pipeline at its latest checkpoint, with the commits its tasks have now; `null` before the first, and for a
   * run of another graph, whose values {@link valuesAt} tells.
   */
  async state(): Promise<GraphState | null> {
    if (!isPipelineRun(this.#app.store.threads.require(this.id))) return null;
    return withCurrentCommits(await this.#app.values(this.id), this.id, this.#app.store);
  }

  /** The run's documents and its plan as Markdown files, as they are now; none before the first checkpoint. */
  async documents(): Promise<readonly DocumentFile[]> {
    const values = await this.state();
    return values === null ? [] : documentFiles(values);
  }

  /**
   * The depth the guard sees in the visit that is due, or saw in the last one of a run that has ended
   * [9_ROADMAP-RISK-401]. 0 before the first checkpoint. The limit is this orchestrator's.
   */
  async recursionDepth(): Promise<RecursionDepth> {
    const { recursionDepthOf } = await graphWork();
    return recursionDepthOf(this.id, await this.#app.engine());
  }

  /** How the agents of this run were named at its start. */
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
