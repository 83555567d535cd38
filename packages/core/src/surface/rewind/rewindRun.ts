import { internalsOf } from '../../engine/file/appInternals.ts';
import type { EngineStore } from '../../engine/gates/EngineStore.ts';
import { asHuman, type Principal, principalText } from '../../engine/gates/principals.ts';
import { DevsError } from '../../errors/DevsError.ts';
import { scrub } from '../../masking/scrub.ts';
import { isDagApproved } from '../../orchestration/gates/artifacts.ts';
import type { OpenPipeline } from '../../orchestration/graph.ts';
import type { BranchMove, Delivery, Driver, Rescue } from '../../orchestration/ports.ts';
import { withCurrentCommits } from '../../orchestration/storedState.ts';
import { ability, driverOf, singleLine } from '../../orchestration/task/openWorkspace.ts';
import { taskLabel } from '../../orchestration/taskStates.ts';
import type { GraphState, TaskRecord } from '../../orchestration/types.ts';
import type { NewRewind, Rewind } from '../../state/runs/RewindStore.ts';
import { stepKeyOf } from '../../state/steps/StepStore.ts';
import { isOfExecution, type StepSummary } from '../../state/steps/stepRecords.ts';
import type { Lease } from '../../state/threads/threadRecords.ts';
import { type TaskView, taskView } from '../views.ts';
import { type EarlierPlan, rewoundState, withoutLaterWork } from './rewoundState.ts';

/** Who sets a run back, and why. */
export interface RewindRequest {
  readonly by: Principal;
  /** For the record, without its secrets. */
  readonly reason?: string;
}

/** What going back to a task undoes. */
export interface RewindPlan {
  /** Stays completed; one that was only begun is undone itself. */
  readonly target: TaskView;
  /** Tasks that become pending, as they are now, in the order of the plan. */
  readonly undone: readonly TaskView[];
}

export interface Rewound extends RewindPlan {
  readonly id: string;
  /** On top of the run's branch; `null` where nothing was committed. */
  readonly commit: string | null;
  /** What lay uncommitted in the folder. */
  readonly kept: Rescue | null;
  readonly delivery: Delivery | null;
}

/** What a rewind would undo; changes nothing. See {@link Run.previewRewind}. */
export async function previewRewind(
  id: string,
  task: string,
  opened: OpenPipeline,
): Promise<RewindPlan | null> {
  const standing = await standingAt(id, task, opened);
  if (standing === null) return null;
  await withdrawal('preview', standing, opened, 'Preview');
  return rewindPlanView(standing, opened);
}

/** Sets a run back to the end of a task; see {@link Run.rewind}. */
export async function rewindRun(
  id: string,
  task: string,
  request: RewindRequest,
  opened: OpenPipeline,
): Promise<Rewound | null> {
  const by = asHuman(request.by, id, 'rewind');
  const { app } = opened;
  return internalsOf(app).withLease(id, async (lease) => {
    await finishRewind(lease, opened);
    const standing = await standingAt(id, task, opened);
    if (standing === null) return null;
    const author = rewindAuthor({ ...request, by });
    const rewindId = internalsOf(app).newId();
    const move = await withdrawal(rewindId, standing, opened, rewindCommitMessage(standing, author));
    await commitRewind({ rewindId, lease, standing, move, author }, opened);
    const kept = await finishRewind(lease, opened);
    const delivery = move === null ? null : await deliverRun(id, opened);
    return { ...rewindPlanView(standing, opened), id: rewindId, commit: move?.to ?? null, kept, delivery };
  });
}

export interface RewindAuthor {
  readonly principal: string;
  readonly reason: string | null;
}

/** As it is recorded. */
export function rewindAuthor({ by, reason }: RewindRequest): RewindAuthor {
  return { principal: principalText(by), reason: reason === undefined ? null : scrub(reason).value };
}

/** Brings the branch in the user's repository up to date; `null` in a run without files or repository. */
export async function deliverRun(
  id: string,
  { pipeline }: Pick<OpenPipeline, 'pipeline'>,
): Promise<Delivery | null> {
  const workspace = await pipeline?.workspace.open(id);
  return (await workspace?.deliver?.()) ?? null;
}

/** Where a run stands, and what going back means there. */
interface RewindContext {
  readonly threadId: string;
  readonly state: GraphState;
  readonly target: TaskRecord;
  readonly earlier: EarlierPlan;
  readonly made: MadeByTasks;
  readonly checkpointId: string;
  /** LangGraph's step of that checkpoint. */
  readonly step: number;
}

/** `null` when nothing was begun after the task. */
async function standingAt(
  threadId: string,
  task: string,
  { app }: Pick<OpenPipeline, 'app'>,
): Promise<RewindContext | null> {
  if (internalsOf(app).store.threads.require(threadId).status === 'cancelled') {
    throw rewindRefused(threadId, 'ended', {
      what: 'it was cancelled',
      remedy: 'Start a new run. The branch of this run is kept.',
    });
  }
  const { values, metadata, config, tasks } = await app.graph.getState({
    configurable: { thread_id: threadId },
  });
  const due = tasks.map(({ id }) => id);
  const state =
    metadata === undefined
      ? null
      : withBegun(values as GraphState, begunTasks(threadId, due, internalsOf(app).store));
  const target = rewindTarget(threadId, task, state);
  const earlier = withoutLaterWork(state as GraphState, target);
  if (earlier.undone.length === 0) return null;
  const checkpointId = String(config.configurable?.['checkpoint_id']);
  return {
    threadId,
    state: state as GraphState,
    target,
    earlier,
    made: madeByTasks(threadId, earlier, internalsOf(app).store),
    checkpointId,
    step: metadata?.step ?? 0,
  };
}

/** Tasks of visits that have recorded steps and are not committed: their driver went away in the middle. */
function begunTasks(threadId: string, due: readonly string[], store: EngineStore): ReadonlySet<string> {
  const isDue = (step: StepSummary): boolean => due.some((id) => isOfExecution(step, id));
  const steps = store.steps.listForThread(threadId).filter(isDue);
  return new Set(steps.flatMap(({ taskId }) => taskId ?? []));
}

/** `implement` marks the task it takes up when it is committed, not when it begins. */
function withBegun(state: GraphState, begun: ReadonlySet<string>): GraphState {
  const isBegun = ({ taskId, status }: TaskRecord): boolean => begun.has(taskId) && status === 'pending';
  const tasks = state.tasks.map((task) =>
    isBegun(task) ? { ...task, status: 'in_progress' as const } : task,
  );
  return { ...state, tasks };
}

/** Computes what becomes of the run's files; `null` in a run without. */
async function withdrawal(
  id: string,
  { threadId, earlier: { undone }, made }: RewindContext,
  { pipeline }: Pick<OpenPipeline, 'pipeline'>,
  message: string,
): Promise<BranchMove | null> {
  if (pipeline === null) return null;
  const workspace = await pipeline.workspace.open(threadId);
  const commits = [...made.commits.values()].flat();
  const unfinished = undone.some(({ status }) => status !== 'completed');
  return ability(workspace, 'withdraw')({ id, commits, begun: made.begun, unfinished, message });
}

interface RewindCommit {
  readonly rewindId: string;
  readonly lease: Lease;
  readonly standing: RewindContext;
  readonly move: BranchMove | null;
  readonly author: RewindAuthor;
}

/** All that is recorded of a rewind, in one transaction; the files follow it. */
async function commitRewind(
  { rewindId, lease, standing, move, author }: RewindCommit,
  { app }: Pick<OpenPipeline, 'app'>,
): Promise<void> {
  const { threads, rewinds, journal } = internalsOf(app).store;
  const { threadId, state, target, earlier, checkpointId, step } = standing;
  const { principal, reason } = author;
  const undoneIds = earlier.undone.map(({ taskId }) => taskId);
  const update = rewoundState(state, target, earlier, step + 1);
  await internalsOf(app).rewindTo(lease, { node: 'verify', update }, (emit, placedId) => {
    const { status } = threads.require(threadId);
    const folder = move?.folder ?? null;
    const before = { checkpointId, placedId, status, principal, reason, folder, takesBack: null };
    rewinds.insert({ ...recordOf(rewindId, standing, move), before });
    threads.reopen(lease, 'paused', `rewound ${formatRewindGoal(target)}`);
    journal.deleteAfter(target.taskId, [target.taskId, ...undoneIds], threadId);
    const payload = { targetTaskId: target.taskId, undone: undoneIds.length, tasks: undoneIds, principal };
    emit('REWOUND', { ...payload, ...(reason !== null && { reason }) }, { threadId, taskId: target.taskId });
  });
}

function recordOf(
  id: string,
  { threadId, target, earlier, made }: RewindContext,
  move: BranchMove | null,
): Omit<NewRewind, 'before'> {
  const undone = earlier.undone.map(({ taskId, status }) => ({
    taskId,
    status,
    commits: made.commits.get(taskId) ?? [],
  }));
  const refs = { refBefore: move?.from ?? null, refAfter: move?.to ?? null };
  return { id, threadId, targetTaskId: target.taskId, undone, ...refs };
}

function rewindPlanView(
  { threadId, state, target, earlier }: RewindContext,
  { app }: Pick<OpenPipeline, 'app'>,
): RewindPlan {
  const views = (withCurrentCommits(state, threadId, internalsOf(app).store)?.tasks ?? []).map(taskView);
  const viewsOf = (tasks: readonly TaskRecord[]): readonly TaskView[] =>
    views.filter((view) => tasks.some(({ taskId }) => taskId === view.taskId));
  const [shown = taskView(target)] = viewsOf([target]);
  return { target: shown, undone: viewsOf(earlier.undone) };
}

/** `to the end of T2`, or `to the beginning of T3` for a task that was not finished. */
function formatRewindGoal({ taskId, status }: TaskRecord): string {
  return `to the ${status === 'completed' ? 'end' : 'start'} of ${taskLabel(taskId)}`;
}

function rewindCommitMessage(
  { target, earlier }: RewindContext,
  { principal, reason }: RewindAuthor,
): string {
  const undone = earlier.undone.map(({ taskId, name }) => `- ${taskLabel(taskId)} ${singleLine(name)}`);
  return [
    `Go back ${formatRewindGoal(target)}`,
    ...(reason === null ? [] : [singleLine(reason)]),
    `Undone:\n${undone.join('\n')}`,
    `Devs-Rewind: ${taskLabel(target.taskId)} (${target.taskId}), by ${singleLine(principal)}`,
  ].join('\n\n');
}

/** Why a run was not set back. */
export type RewindRefusal = 'unknown_task' | 'not_begun' | 'plan_not_approved' | 'ended' | 'moved_on';

/**
 * The task to go back to: a finished one, or one that was begun and is to be begun anew.
 *
 * @param name - `T3`, or the task's id.
 * @throws DevsError `REWIND_REFUSED`
 */
function rewindTarget(threadId: string, name: string, state: GraphState | null): TaskRecord {
  const target = state?.tasks.find(({ taskId }) => taskId === name || taskLabel(taskId) === name);
  if (state === null || target === undefined) {
    throw rewindRefused(threadId, 'unknown_task', {
      what: `it has no task ${JSON.stringify(name)}`,
      remedy: 'List its tasks to find the right one.',
    });
  }
  if (!isDagApproved(state)) {
    throw rewindRefused(threadId, 'plan_not_approved', {
      what: 'its current plan is not approved',
      remedy: 'Decide the plan gate first.',
    });
  }
  if (target.status === 'blocked' || isUntouched(target)) {
    throw rewindRefused(threadId, 'not_begun', {
      what: `${name} is ${target.status}`,
      remedy: 'Rewind to a task that is finished or was started.',
    });
  }
  return target;
}

/** One that a human sent back is pending, too, and has something committed. */
function isUntouched({ status, gitHash }: TaskRecord): boolean {
  return status === 'pending' && gitHash === undefined;
}

export function rewindRefused(
  threadId: string,
  reason: RewindRefusal,
  { what, remedy }: { readonly what: string; readonly remedy: string },
): DevsError {
  return new DevsError(`Run "${threadId}" cannot be rewound: ${what}.`, {
    code: 'REWIND_REFUSED',
    remedy,
    context: { threadId, reason },
  });
}

/** What undone tasks have on the run's branch. */
interface MadeByTasks {
  /** By task id, oldest first: a task that a human sent back has several. */
  readonly commits: ReadonlyMap<string, readonly string[]>;
  /** Step keys of commits that may have been made, too. */
  readonly begun: readonly string[];
}

/**
 * Read from the recorded steps: a visit that died after its commit has told the state nothing. What an earlier rewind took
 * out is left out, and so is what a task keeps.
 */
function madeByTasks(threadId: string, { tasks, undone }: EarlierPlan, store: EngineStore): MadeByTasks {
  const steps = store.steps
    .listForThread(threadId)
    .filter(({ name, kind, taskId }) => name === 'commit' && kind === 'work' && isOneOf(undone, taskId));
  const gone = new Set(withdrawnBefore(threadId, store));
  const commits = undone.map(({ taskId }) => {
    const own = steps.filter((step) => step.taskId === taskId && step.state === 'done');
    const made = own.map((step) => commitOf(step, store)).filter((commit) => !gone.has(commit));
    const kept = tasks.find((task) => task.taskId === taskId)?.gitHash;
    return [taskId, kept === undefined ? made : made.slice(made.indexOf(kept) + 1)] as const;
  });
  const begun = steps.filter(({ state }) => state === 'intent').map(stepKeyOf);
  return { commits: new Map(commits), begun };
}

function withdrawnBefore(threadId: string, { rewinds }: EngineStore): readonly string[] {
  return rewinds
    .list(threadId)
    .filter(({ state }) => state !== 'undone')
    .flatMap(({ undone }) => undone.flatMap(({ commits }) => commits));
}

function commitOf(step: StepSummary, { steps }: EngineStore): string {
  const found = steps.find(step);
  return found?.state === 'done' ? String(found.result) : '';
}

const isOneOf = (tasks: EarlierPlan['undone'], id: string | null): boolean =>
  tasks.some(({ taskId }) => taskId === id);

/**
 * Lets branch and folder follow a rewind that is recorded and not finished; also after a kill in between. Then the run
 * is woken, for whoever waits for one of its gates. Does nothing when there is none.
 *
 * @returns What lay uncommitted in the folder and was kept.
 */
export async function finishRewind(lease: Lease, { app, pipeline }: OpenPipeline): Promise<Rescue | null> {
  const { store } = internalsOf(app);
  const { threadId } = lease;
  const rewind = store.rewinds.unfinished(threadId);
  if (rewind === null) return null;
  const move = moveOf(rewind);
  const kept =
    move === null ? null : await followMove(move, pipeline, { threadId, ...driverOf(store, lease) });
  store.commitUnder(lease, (emit) => {
    store.rewinds.finish(rewind.id);
    if (kept !== null) emit('WORKSPACE_RESCUED', { ...kept }, { threadId });
    const { targetTaskId, before } = rewind;
    const { principal, reason } = before;
    const signal = `rewind:${rewind.id}`;
    store.threads.signal(threadId, {
      id: signal,
      kind: 'rewind',
      payload: { targetTaskId, principal, reason },
    });
    store.threads.signals.consume(signal);
  });
  return kept;
}

/** Where a rewind takes the run's files; `null` in a run without. */
export function moveOf({ id, refBefore, refAfter, before }: Rewind): BranchMove | null {
  return before.folder === null ? null : { id, from: refBefore, to: refAfter, folder: before.folder };
}

async function followMove(
  move: BranchMove,
  pipeline: OpenPipeline['pipeline'],
  { threadId, ...driver }: Driver & { readonly threadId: string },
): Promise<Rescue | null> {
  if (pipeline === null) {
    throw new DevsError(`The rewind of run "${threadId}" is not finished: its files were not updated yet.`, {
      code: 'CONFIG_INVALID',
      remedy: 'Open the orchestrator with the agents, workspace and checks that the run was started with.',
      context: { threadId },
    });
  }
  return ability(await pipeline.workspace.open(threadId, { driver }), 'follow')(move);
}

export interface RewindUndone {
  /** The rewind that was taken back. */
  readonly id: string;
  readonly target: string;
  /** On top of the run's branch; `null` where nothing was committed. */
  readonly commit: string | null;
  /** What lay uncommitted in the folder. */
  readonly kept: Rescue | null;
  readonly delivery: Delivery | null;
}

/** Puts a run back where it stood before it was set back; see {@link Run.undoRewind}. */
export async function undoRewind(
  id: string,
  request: RewindRequest,
  opened: OpenPipeline,
): Promise<RewindUndone> {
  const by = asHuman(request.by, id, 'undo the rewind of');
  const { app } = opened;
  return internalsOf(app).withLease(id, async (lease) => {
    await finishRewind(lease, opened);
    const rewind = await requireLastRewind(id, opened);
    const author = rewindAuthor({ ...request, by });
    const undoId = internalsOf(app).newId();
    const move = await wayBack(undoId, rewind, author, opened);
    await commitUndo({ undoId, lease, rewind, move, author }, opened);
    const kept = await finishRewind(lease, opened);
    const delivery = move === null ? null : await deliverRun(id, opened);
    return {
      id: rewind.id,
      target: taskLabel(rewind.targetTaskId),
      commit: move?.to ?? null,
      kept,
      delivery,
    };
  });
}

/** The rewind that nothing was committed after. */
async function requireLastRewind(threadId: string, { app }: Pick<OpenPipeline, 'app'>): Promise<Rewind> {
  const last = internalsOf(app).store.rewinds.list(threadId).at(-1);
  const { config } = await app.graph.getState({ configurable: { thread_id: threadId } });
  const isLast = last?.before.placedId === config.configurable?.['checkpoint_id'];
  if (last?.state === 'done' && last.before.takesBack === null && isLast) return last;
  throw rewindRefused(threadId, 'moved_on', {
    what: 'its last action was not a rewind',
    remedy: 'Resume the run, or rewind it to another task.',
  });
}

async function wayBack(
  id: string,
  rewind: Rewind,
  { principal, reason }: RewindAuthor,
  { pipeline }: Pick<OpenPipeline, 'pipeline'>,
): Promise<BranchMove | null> {
  const move = moveOf(rewind);
  if (move === null || pipeline === null) return null;
  const { threadId, targetTaskId } = rewind;
  const label = taskLabel(targetTaskId);
  const message = [
    `Undo going back to ${label}`,
    ...(reason === null ? [] : [reason]),
    `Devs-Rewind-Undone: ${label} (${targetTaskId}), by ${principal}`,
  ].join('\n\n');
  const workspace = await pipeline.workspace.open(threadId);
  return ability(workspace, 'reinstate')({ id, move, message });
}

interface UndoCommit {
  readonly undoId: string;
  readonly lease: Lease;
  readonly rewind: Rewind;
  readonly move: BranchMove | null;
  readonly author: RewindAuthor;
}

async function commitUndo(
  { undoId, lease, rewind, move, author }: UndoCommit,
  { app }: Pick<OpenPipeline, 'app'>,
): Promise<void> {
  const { threads, rewinds } = internalsOf(app).store;
  const { id, threadId, targetTaskId, before } = rewind;
  const { principal, reason } = author;
  await internalsOf(app).rewindTo(lease, { copyOf: before.checkpointId }, (emit, placedId) => {
    const { status } = threads.require(threadId);
    const stood = { checkpointId: before.placedId, placedId, status, takesBack: id };
    rewinds.markUndone(id);
    rewinds.insert({
      id: undoId,
      threadId,
      targetTaskId,
      undone: [],
      before: { ...stood, ...author, folder: move?.folder ?? null },
      refBefore: move?.from ?? null,
      refAfter: move?.to ?? null,
    });
    const isOver = before.status === 'completed';
    threads.reopen(lease, isOver ? 'completed' : 'paused', isOver ? null : 'a rewind was undone');
    const payload = { targetTaskId, principal, ...(reason !== null && { reason }) };
    emit('REWIND_UNDONE', payload, { threadId, taskId: targetTaskId });
  });
}
