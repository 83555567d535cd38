import type { GateExchange } from '../engine/asks.ts';
import type { AcceptedGraph, GraphAcceptance } from '../engine/change/acceptGraph.ts';
import type { Gate, GateAnswer } from '../engine/Gate.ts';
import { assertDecidable, principalText } from '../engine/gates/decidable.ts';
import type { Principal } from '../engine/gates/HumanInTheLoopManager.ts';
import { type RevealedPlace, revealedPlaces, revealFact } from '../engine/gates/hiddenPlaces.ts';
import { asHuman, principalOf } from '../engine/gates/principals.ts';
import type { ShownPlace } from '../engine/gates/quotes.ts';
import type { Retention } from '../engine/saver/retainedCheckpoints.ts';
import type { ActivityListener } from '../events/Activity.ts';
import type { GateEdit } from '../orchestration/gates/gateEdit.ts';
import type { CodeOfRuns, CommitView } from '../orchestration/ports.ts';
import type { PipelineDeps } from '../orchestration/task/pipelineDeps.ts';
import type { PruneResult } from '../state/CheckpointPruner.ts';
import type { HitlSession } from '../state/hitlSession.ts';
import { afterArrival } from '../state/Outlet.ts';
import { type Adopted, type Adoption, adoptChanges } from './adoptChanges.ts';
import type { AskOptions } from './ask/askGate.ts';
import { CommentedGates, type PlacesOptions } from './comments/CommentedGates.ts';
import type { LastComment } from './comments/lastComments.ts';
import { type DriveRunOptions, driveRun } from './driveRun.ts';
import { lastShown } from './lastShown.ts';
import { graphWork, type PipelineApp } from './PipelineApp.ts';
import { RecordedRun } from './RecordedRun.ts';
import type { RewindDeps } from './rewind/finishRewind.ts';
import type { RewindPlan, RewindRequest, Rewound } from './rewind/rewindRun.ts';
import type { RewindUndone } from './rewind/undoRewind.ts';
import { assertAgents, requirePipeline } from './runAgents.ts';
import { sessionOfRun } from './sessionOfRun.ts';
import { type SyncedRun, type SyncRequest, syncRun } from './syncRun.ts';
import type { DriveResult } from './views.ts';
import { workspaceInUse } from './workspaceInUse.ts';

export type { DriveRunOptions };

/** What a handle on a run is given; `null` where it is not there. */
export interface RunDeps {
  readonly pipeline: PipelineDeps | null;
  readonly code: CodeOfRuns | null;
}

/**
 * A handle on one recorded run. Holds nothing open: everything is read from the state file. Every method returns a
 * promise, and a wrong call rejects it.
 */
export class Run extends RecordedRun {
  readonly #app: PipelineApp;
  readonly #pipeline: PipelineDeps | null;
  readonly #commented: CommentedGates;

  constructor(id: string, app: PipelineApp, { pipeline, code }: RunDeps) {
    super(id, app);
    this.#app = app;
    this.#pipeline = pipeline;
    this.#commented = new CommentedGates(id, app.store, code);
  }

  /**
   * Drives the run until it ends, waits for a human, reaches a goal, or `signal` asks it to stop at the next safe
   * point.
   *
   * @throws RangeError for two goals, or one that cannot be.
   * @throws DevsError `THREAD_BUSY` while another process drives it; `CONFIG_INVALID` without the agents it was
   *   started with; engine faults (`STATE_…`, `REPLAY_MISS`, …) and agents out of reach (`AGENT_FAILED`) as they are: the run stays
   *   resumable.
   */
  async drive(options: DriveRunOptions = {}): Promise<DriveResult> {
    return driveRun(this.id, options, { app: this.#app, pipeline: this.#pipeline });
  }

  /** Asks whoever drives the run to stop at the next safe point; driving it again goes on. */
  async pause(): Promise<void> {
    return this.#app.pause(this.id);
  }

  /** Ends the run for good: at once where nobody drives it, else at its next safe point. */
  async cancel(): Promise<void> {
    await (await this.#app.engine()).cancel(this.id);
  }

  /**
   * Thins out the run's history in the state file; what it needs to go on stays.
   *
   * @throws DevsError `THREAD_BUSY` while somebody drives it; RangeError for a bad number.
   */
  async prune(retention: Retention): Promise<PruneResult> {
    return (await this.#app.engine()).prune(this.id, retention);
  }

  /**
   * Records a decision on a gate that was read; whoever drives the run takes it up.
   *
   * @throws DevsError `GATE_NOT_FOUND`, also for a gate of another run; `GATE_STALE`, `GATE_ALREADY_DECIDED`,
   *   `AGENT_MAY_NOT_DECIDE`, `INVALID_ANSWER`, `FEEDBACK_REQUIRED`, `QUOTE_NOT_SHOWN` for a comment, `GATE_HIDDEN` for a yes
   *   to what is hidden, `CONFIG_INVALID` for one on code that cannot be read here, …:
   *   nothing is written then.
   *
   * @example
   * ```ts
   * const comments = [{ in: 'TAS', quote: 'Two tables.', line: 3, text: 'Why not one?' }];
   * await run.decide(gate, { approved: false, comments, by: { kind: 'human', id: 'ada' }, via: 'page' });
   * ```
   */
  async decide(gate: Pick<Gate, 'sessionId' | 'artifactHash'>, answer: GateAnswer): Promise<HitlSession> {
    return afterArrival(this.#app.store.outlet, this.#commented.decide(gate, answer));
  }

  /**
   * What may be quoted of what a gate shows in comments on it: of a code review the first files too, where the
   * orchestrator was opened with the workspace.
   *
   * @param options - `code: false` leaves the files out: each is read from git.
   */
  async places(gate: Gate, options: PlacesOptions = {}): Promise<readonly ShownPlace[]> {
    return this.#commented.places(gate, options);
  }

  /**
   * What was said of the last version that a gate of this kind showed, and whether the quoted text has changed since.
   * Empty where that was approved, or rejected without comments.
   */
  async lastComments(gate: Gate): Promise<readonly LastComment[]> {
    return this.#commented.lastComments(gate);
  }

  /**
   * Says that a person is shown a gate, for the record.
   *
   * @throws DevsError `GATE_NOT_FOUND`
   * @returns What they were shown of its kind and task last, if that was another version: they may want the difference.
   */
  async shown(gate: Gate, by: Principal): Promise<Gate | null> {
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
    return afterArrival(store.outlet, before);
  }

  /**
   * What an open gate hides in every view of it, for the one person who asks; that they were shown it is recorded, and they can
   * say yes then. Empty where nothing is hidden.
   *
   * @throws DevsError `GATE_STALE`, `GATE_ALREADY_DECIDED`, `GATE_NOT_FOUND`; `AGENT_MAY_NOT_DECIDE`, `POLICY_NOT_DECLARED`:
   *   only a human is shown it.
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
    return afterArrival(store.outlet, revealedPlaces(gate));
  }

  /**
   * Asks the agent whose work an open gate shows. Nothing is decided: gate, hash and status stay, and what was said is given
   * to the next attempt. One call within the run's budget, recorded with its answer: the same question at the same gate is
   * paid for once. The run is held meanwhile; a process that dies in it leaves the question unanswered.
   *
   * @throws TypeError, RangeError for no question, or one of more than 8,000 characters.
   * @throws DevsError `GATE_STALE`, `GATE_ALREADY_DECIDED`, `THREAD_BUSY` while somebody drives or asks, `BUDGET_SPENT`,
   *   `ASK_UNSUPPORTED` for agents and gates that cannot, `AGENT_MAY_NOT_DECIDE`, `CONFIG_INVALID` without the agents it was
   *   started with; what the agent throws, as it is.
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
    return askGate(this.id, gate, { ...options, text }, await this.#engineDeps());
  }

  /**
   * Why nobody can be asked about a gate, in words for a person; `null` where {@link ask} reaches an agent.
   *
   * @throws DevsError `GATE_NOT_FOUND`
   */
  async whyUnasked({ sessionId }: Pick<Gate, 'sessionId'>): Promise<string | null> {
    const { whyUnasked } = await graphWork();
    const session = sessionOfRun(this.id, sessionId, this.#app.store.sessions);
    return whyUnasked(session, this.#pipeline?.agents ?? null);
  }

  /**
   * Puts a human's own version in the place of what a gate shows. The gate is asked again, about the new version and
   * under a new hash, by whoever drives the run; nothing is approved by it.
   *
   * @throws DevsError as {@link decide} does; `DAG_INVALID` for a plan that cannot become tasks.
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
   * The way out of `GRAPH_CHANGED` for a run that another version of the pipeline started. Nothing is driven.
   *
   * @throws DevsError `GRAPH_NOT_ACCEPTED`, `AGENT_MAY_NOT_DECIDE`, `POLICY_NOT_DECLARED`, `THREAD_BUSY`: nothing is
   *   written then.
   */
  async acceptGraph(acceptance: GraphAcceptance): Promise<AcceptedGraph> {
    return (await this.#app.engine()).acceptGraph(this.id, acceptance);
  }

  /**
   * Brings the run back from being a dead letter; see {@link DurableApp.revive}. False, and nothing changes, for any other.
   *
   * @throws DevsError `AGENT_MAY_NOT_DECIDE`, `POLICY_NOT_DECLARED`: only a human may; `WORKSPACE_BUSY`, `THREAD_BUSY`.
   */
  async revive(request: { readonly by: Principal }): Promise<boolean> {
    return (await this.#app.engine()).revive(this.id, request);
  }

  /**
   * Records that a person lets the commands of the next drive do what they can themselves. It lifts nothing: whoever
   * opens the orchestrator chooses the sandbox.
   *
   * @throws DevsError `AGENT_MAY_NOT_DECIDE`, `POLICY_NOT_DECLARED`: only a human may.
   */
  async waiveSandbox(by: Principal): Promise<void> {
    const human = asHuman(by, this.id, 'skip the sandbox of');
    const { runs, outlet } = this.#app.store;
    const payload = { principal: principalText(human) };
    const waived = { name: 'SANDBOX_WAIVED', payload, scope: { threadId: this.id } } as const;
    return afterArrival(outlet, runs.note({ threadId: this.id, epoch: null }, [waived]));
  }

  /**
   * Commits what a human changed in the folder of the run, in their name, and runs the checks on it; the run goes on from
   * there. What agents had left uncommitted in other files stays in the folder and is not committed. `null` when nothing was changed.
   *
   * @throws DevsError `WORKSPACE_BUSY` in the middle of a turn, `THREAD_BUSY`, `AGENT_MAY_NOT_DECIDE`,
   *   `POLICY_NOT_DECLARED`, `CONFIG_INVALID` without the agents it was started with.
   */
  async adopt(adoption: Adoption): Promise<Adopted | null> {
    const pipeline = requirePipeline(this.id, this.#pipeline);
    return adoptChanges(this.id, adoption, { app: await this.#app.engine(), pipeline });
  }

  /**
   * Puts the run's commits on top of those the user has made in the repository since, in the engine's own git dir, and
   * delivers the branch anew. The user's checkout is not touched. `null` when there is nothing to take in.
   *
   * @throws DevsError `SYNC_CONFLICT` naming the files, `WORKSPACE_DIRTY`: nothing is changed then; otherwise as
   *   {@link adopt}.
   */
  async sync(request: SyncRequest): Promise<SyncedRun | null> {
    const pipeline = requirePipeline(this.id, this.#pipeline);
    return syncRun(this.id, request, { app: await this.#app.engine(), pipeline });
  }

  /**
   * Sets the run back to the end of a task, so that what depends on it is done anew; a task that is under way is begun
   * anew too. Finished tasks that do not depend on it stay, and so do their commits. Drives nothing.
   *
   * History is kept: the checkpoint and the commit that take the work out are put on top. `null` when nothing was begun
   * after the task.
   *
   * @param task - `T3`, or its id: a finished task, or one that was begun and is to be begun anew.
   * @throws DevsError `REWIND_CONFLICT` naming the files, if work that stays was built on work that goes;
   *   `REWIND_REFUSED`, `AGENT_MAY_NOT_DECIDE`, `POLICY_NOT_DECLARED`, `THREAD_BUSY`, `GRAPH_CHANGED`: nothing is changed
   *   then; `CONFIG_INVALID` without the agents it was started with.
   *
   * @example
   * ```ts
   * await run.rewind('T2', { by: { kind: 'human', id: 'ada' }, reason: 'T3 solves the wrong problem' });
   * await run.drive();
   * ```
   */
  async rewind(task: string, request: RewindRequest): Promise<Rewound | null> {
    assertAgents(this.id, this.#app.store, this.#pipeline);
    const { rewindRun } = await graphWork();
    return rewindRun(this.id, task, request, await this.#engineDeps());
  }

  /** What {@link rewind} would undo; refuses what it would refuse and changes nothing. */
  async previewRewind(task: string): Promise<RewindPlan | null> {
    assertAgents(this.id, this.#app.store, this.#pipeline);
    const { previewRewind } = await graphWork();
    return previewRewind(this.id, task, await this.#engineDeps());
  }

  /**
   * Puts the run back where it stood before its last {@link rewind}: possible until another node, or a person in the
   * run's folder, has committed something. The visit it stood in begins anew.
   *
   * @throws DevsError `REWIND_REFUSED`, `REWIND_CONFLICT`; otherwise as {@link rewind}.
   */
  async undoRewind(request: RewindRequest): Promise<RewindUndone> {
    assertAgents(this.id, this.#app.store, this.#pipeline);
    const { undoRewind } = await graphWork();
    return undoRewind(this.id, request, await this.#engineDeps());
  }

  /** Subscribes to what happens in this run while this process drives it, masked; call what is returned to end that. */
  onActivity(listener: ActivityListener): () => void {
    return this.#app.events.onActivity((activity, scope, at) => {
      if (scope.threadId === this.id) listener(activity, scope, at);
    });
  }

  /** Commits on the run's branch, oldest first; none without agents or before the first task. */
  async commits(): Promise<readonly CommitView[]> {
    return (await (await workspaceInUse(this.id, { app: this.#app, pipeline: this.#pipeline }))?.log()) ?? [];
  }

  async #engineDeps(): Promise<RewindDeps> {
    return { app: await this.#app.engine(), pipeline: this.#pipeline };
  }
}
