import type { AcceptedGraph, GraphAcceptance } from '../engine/change/acceptGraph.ts';
import { assertDecidable } from '../engine/gates/approvals.ts';
import type { QuotableSection } from '../engine/gates/comments.ts';
import type { Gate, GateAnswer } from '../engine/gates/Gate.ts';
import type { GateExchange } from '../engine/gates/gateQuestions.ts';
import type { Principal } from '../engine/gates/HumanInTheLoopManager.ts';
import { type RevealedPlace, revealedPlaces, revealFact } from '../engine/gates/hiddenPlaces.ts';
import { asHuman, principalOf, principalText } from '../engine/gates/principals.ts';
import type { Retention } from '../engine/saver/ThreadPruner.ts';
import type { ActivityListener } from '../events/Activity.ts';
import type { GateEdit } from '../orchestration/gates/gateEdit.ts';
import type { OpenPipeline } from '../orchestration/orchestrationApp.ts';
import type { CodeOfRuns, CommitView, PipelinePorts } from '../orchestration/ports.ts';
import type { PruneResult } from '../state/checkpoints/CheckpointPruner.ts';
import { afterBarrier } from '../state/commits/CommitBarrier.ts';
import type { HitlSession } from '../state/gates/hitlSession.ts';
import { assertAgents, requirePipeline } from './agentsIdentity.ts';
import type { AskOptions } from './askGate.ts';
import { CommentedGates, type LastComment, type PlacesOptions } from './CommentedGates.ts';
import { type DriveRunOptions, driveRun } from './driveRun.ts';
import { lastShown, sessionOfRun } from './gatesOfRun.ts';
import { graphWork, type PipelineApp } from './PipelineApp.ts';
import { RecordedRun } from './RecordedRun.ts';
import type { RewindPlan, RewindRequest, Rewound } from './rewind/rewindRun.ts';
import type { RewindUndone } from './rewind/undoRewind.ts';
import {
  type Adopted,
  type Adoption,
  adoptChanges,
  type SyncedRun,
  type SyncRequest,
  syncRun,
} from './userChanges.ts';
import type { PipelineResult } from './views.ts';
import { workspaceInUse } from './workspaceInUse.ts';

export type { DriveRunOptions };

/** What a handle on a run is given; `null` where it is not there. */
export interface RunDeps {
  readonly pipeline: PipelinePorts | null;
  readonly code: CodeOfRuns | null;
}

/**
 * A handle on one recorded run. It reads everything from the state file and keeps nothing open. Methods return a
 * promise and reject for a wrong call.
 */
export class Run extends RecordedRun {
  readonly #app: PipelineApp;
  readonly #pipeline: PipelinePorts | null;
  readonly #commented: CommentedGates;

  constructor(id: string, app: PipelineApp, { pipeline, code }: RunDeps) {
    super(id, app);
    this.#app = app;
    this.#pipeline = pipeline;
    this.#commented = new CommentedGates(id, app.store, code);
  }

  /**
   * Executes the run until it ends, waits, reaches a goal, or `signal` pauses it at the next safe point.
   *
   * @throws RangeError for two goals or an invalid one.
   * @throws DevsError `THREAD_BUSY` while another process runs it; `CONFIG_INVALID` without the agents it was started
   *   with; engine faults (`STATE_…`, `REPLAY_MISS`, …) and unreachable agents (`AGENT_FAILED`): the run stays
   *   resumable.
   */
  async resume(options: DriveRunOptions = {}): Promise<PipelineResult> {
    return driveRun(this.id, options, { app: this.#app, pipeline: this.#pipeline });
  }

  /** Asks the process that runs it to stop at the next safe point. It can resume. */
  async pause(): Promise<void> {
    return this.#app.pause(this.id);
  }

  /** Ends the run for good: at once if no process runs it, else at its next safe point. */
  async cancel(): Promise<void> {
    await (await this.#app.engine()).cancel(this.id);
  }

  /**
   * Deletes old checkpoints of the run; data it needs to resume stays.
   *
   * @throws DevsError `THREAD_BUSY` while a process runs it; RangeError for a bad number.
   */
  async prune(retention: Retention): Promise<PruneResult> {
    return (await this.#app.engine()).prune(this.id, retention);
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
  async decide(gate: Pick<Gate, 'sessionId' | 'artifactHash'>, answer: GateAnswer): Promise<HitlSession> {
    return afterBarrier(this.#app.store.outlet, this.#commented.decide(gate, answer));
  }

  /**
   * Returns the sections of a gate that a comment can quote. For a code review these include the first files, if the
   * orchestrator has a workspace.
   *
   * @param options - `code: false` leaves the files out, which are read from git.
   */
  async quotableSections(gate: Gate, options: PlacesOptions = {}): Promise<readonly QuotableSection[]> {
    return this.#commented.places(gate, options);
  }

  /**
   * Returns the comments on the last version of this gate, and whether the quoted text has changed since. Empty if that
   * version was approved, or rejected without comments.
   */
  async lastComments(gate: Gate): Promise<readonly LastComment[]> {
    return this.#commented.lastComments(gate);
  }

  /**
   * Records that a person viewed a gate.
   *
   * @throws DevsError `GATE_NOT_FOUND`
   * @returns The version of this gate that they viewed before, if it was another one.
   */
  async recordViewed(gate: Gate, by: Principal): Promise<Gate | null> {
    const { kind, sessionId, taskId, artifactHash } = gate;
    const { store } = this.#app;
    const reader = principalOf(by);
    sessionOfRun(this.id, sessionId, store.sessions);
    const before = store.commit((emit) => {
      const payload = { sessionId, kind, principal: principalText(reader), artifactHash };
      const last = lastShown(gate, reader, store);
      emit('GATE_SHOWN', payload, { threadId: this.id, taskId });
      return last;
    });
    return afterBarrier(store.outlet, before);
  }

  /**
   * Returns the hidden places of an open gate for one person and records it. Then this person can approve. Empty if the
   * gate hides nothing.
   *
   * @throws DevsError `GATE_STALE`, `GATE_ALREADY_DECIDED`, `GATE_NOT_FOUND`; `AGENT_MAY_NOT_DECIDE`,
   *   `POLICY_NOT_DECLARED`: only a person can read them.
   */
  async reveal(
    { sessionId, artifactHash }: Pick<Gate, 'sessionId' | 'artifactHash'>,
    by: Principal,
  ): Promise<readonly RevealedPlace[]> {
    const human = asHuman(by, this.id, 'read hidden text at gates of');
    const { store } = this.#app;
    assertDecidable(sessionOfRun(this.id, sessionId, store.sessions), artifactHash);
    const gate = await this.#commented.withCode({ sessionId });
    const scope = { threadId: this.id, taskId: gate.taskId };
    const payload = revealFact(gate, human);
    if (payload.count > 0) store.commit((emit) => emit('GATE_REVEALED', payload, scope));
    return afterBarrier(store.outlet, revealedPlaces(gate));
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
    assertAgents(this.id, this.#app.store, this.#pipeline);
    const { askGate } = await graphWork();
    return askGate(this.id, gate, { ...options, text }, await this.#opened());
  }

  /**
   * Returns the reason why questions about a gate are unavailable, for people; `null` if an agent can answer.
   *
   * @throws DevsError `GATE_NOT_FOUND`
   */
  async askUnavailableReason({ sessionId }: Pick<Gate, 'sessionId'>): Promise<string | null> {
    const { whyUnasked } = await graphWork();
    const session = sessionOfRun(this.id, sessionId, this.#app.store.sessions);
    return whyUnasked(session, this.#pipeline?.agents ?? null);
  }

  /**
   * Replaces a gate's content with a person's edited version. The gate is then asked again with a new hash. Approves
   * nothing.
   *
   * @throws DevsError as `decide`; `DAG_INVALID` for a plan that cannot become tasks.
   *
   * @example
   * ```ts
   * const draft = await run.draft(gate);
   * await run.edit(gate, { ...draft, by: { kind: 'human', id: 'ada' } });
   * ```
   */
  async edit(
    gate: Pick<Gate, 'sessionId' | 'artifactHash'>,
    { by, ...edit }: GateEdit & { readonly by: Principal },
  ): Promise<HitlSession> {
    return this.decide(gate, { action: 'edit', ...edit, by });
  }

  /**
   * Lets a run continue after `GRAPH_CHANGED`, if another version of the pipeline started it. Executes nothing.
   *
   * @throws DevsError `GRAPH_NOT_ACCEPTED`, `AGENT_MAY_NOT_DECIDE`, `POLICY_NOT_DECLARED`, `THREAD_BUSY`. The run is
   *   unchanged then.
   */
  async acceptGraph(acceptance: GraphAcceptance): Promise<AcceptedGraph> {
    return (await this.#app.engine()).acceptGraph(this.id, acceptance);
  }

  /**
   * Brings back a dead letter; see {@link DurableApp.revive}. Returns false for another run, which is unchanged.
   *
   * @throws DevsError `AGENT_MAY_NOT_DECIDE`, `POLICY_NOT_DECLARED`: only a person can revive a run; `WORKSPACE_BUSY`,
   *   `THREAD_BUSY`.
   */
  async revive(request: { readonly by: Principal }): Promise<boolean> {
    return (await this.#app.engine()).revive(this.id, request);
  }

  /**
   * Records that a person skips the sandbox for the next execution. Only records it: the orchestrator's options choose
   * the sandbox.
   *
   * @throws DevsError `AGENT_MAY_NOT_DECIDE`, `POLICY_NOT_DECLARED`: only a person can skip it.
   */
  async skipSandboxOnce(by: Principal): Promise<void> {
    const human = asHuman(by, this.id, 'skip the sandbox of');
    const { runs, outlet } = this.#app.store;
    const payload = { principal: principalText(human) };
    const waived = { name: 'SANDBOX_WAIVED', payload, scope: { threadId: this.id } } as const;
    return afterBarrier(outlet, runs.note({ threadId: this.id, epoch: null }, [waived]));
  }

  /**
   * Commits a person's changes in the run's folder in their name, and runs the checks on them. The run continues from
   * there. Uncommitted files of agents stay in the folder. Returns `null` if there are no changes.
   *
   * @throws DevsError `WORKSPACE_BUSY` in the middle of a turn, `THREAD_BUSY`, `AGENT_MAY_NOT_DECIDE`,
   *   `POLICY_NOT_DECLARED`, `CONFIG_INVALID` without the agents it was started with.
   */
  async adopt(adoption: Adoption): Promise<Adopted | null> {
    const pipeline = requirePipeline(this.id, this.#pipeline);
    return adoptChanges(this.id, adoption, { app: await this.#app.engine(), pipeline });
  }

  /**
   * Moves the run's commits onto the user's new commits, in the engine's own git dir, and delivers the branch again.
   * Does not change the user's checkout. Returns `null` if there are no new commits.
   *
   * @throws DevsError `SYNC_CONFLICT` naming the files, `WORKSPACE_DIRTY`: the run is unchanged then; otherwise as
   *   {@link adopt}.
   */
  async sync(request: SyncRequest): Promise<SyncedRun | null> {
    const pipeline = requirePipeline(this.id, this.#pipeline);
    return syncRun(this.id, request, { app: await this.#app.engine(), pipeline });
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
    assertAgents(this.id, this.#app.store, this.#pipeline);
    const { rewindRun } = await graphWork();
    return rewindRun(this.id, task, request, await this.#opened());
  }

  /** Returns the tasks that {@link rewind} would undo. Throws the same errors and changes nothing. */
  async previewRewind(task: string): Promise<RewindPlan | null> {
    assertAgents(this.id, this.#app.store, this.#pipeline);
    const { previewRewind } = await graphWork();
    return previewRewind(this.id, task, await this.#opened());
  }

  /**
   * Undoes the last {@link rewind}, as long as no node and no person in the run's folder has committed since. The
   * interrupted node starts again.
   *
   * @throws DevsError `REWIND_REFUSED`, `REWIND_CONFLICT`; otherwise as {@link rewind}.
   */
  async undoRewind(request: RewindRequest): Promise<RewindUndone> {
    assertAgents(this.id, this.#app.store, this.#pipeline);
    const { undoRewind } = await graphWork();
    return undoRewind(this.id, request, await this.#opened());
  }

  /** Subscribes to masked activity of this run in this process. Returns a function that unsubscribes. */
  onActivity(listener: ActivityListener): () => void {
    return this.#app.events.onActivity((activity, scope, at) => {
      if (scope.threadId === this.id) listener(activity, scope, at);
    });
  }

  /** Returns the commits on the run's branch, oldest first; empty without agents or before the first task. */
  async commits(): Promise<readonly CommitView[]> {
    return (await (await workspaceInUse(this.id, { app: this.#app, pipeline: this.#pipeline }))?.log()) ?? [];
  }

  async #opened(): Promise<OpenPipeline> {
    return { app: await this.#app.engine(), pipeline: this.#pipeline };
  }
}
