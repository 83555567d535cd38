import type { CommentTally } from '../../engine/gates/answerForms.ts';
import { activeNode } from '../../engine/node/nodeContext.ts';
import { scrub } from '../../masking/scrub.ts';
import { formatCheck } from '../checks/CheckSummary.ts';
import { acceptedMessage, taskCommitMessages } from '../commits/taskCommit.ts';
import type {
  CheckPart,
  CheckResult,
  CodeReview,
  CommitView,
  PipelinePorts,
  ReviewedCheck,
  ReviewedRange,
  ReviewedTask,
  ReviewSubject,
  RunWorkspace,
  TestCase,
} from '../ports.ts';
import { lastComments, type ReadQuotedCode, tallyOf } from '../review/lastComments.ts';
import { isCodeApproved, reviewDecisions, reviewGate, reviewsOf } from '../review/reviewGate.ts';
import { openWorkspace } from '../task/openWorkspace.ts';
import { RecordedTree } from '../task/RecordedTree.ts';
import { scrubbedStep } from '../task/scrubbedStep.ts';
import { agentLog, appendLog } from '../task/taskBrief.ts';
import { judgeGreen } from '../task/verdicts.ts';
import {
  activeTask,
  advance,
  checkOf,
  closeEpics,
  isEpicOpen,
  isTaskTerminal,
  withGreenOf,
  withTask,
} from '../taskStates.ts';
import type { GraphState, PendingSuspension, TaskRecord } from '../types.ts';

/** `verify` without agents: completes the active task, then closes finished epics and the project. */
export function verifyNode(state: GraphState): Partial<GraphState> {
  if (state.pendingRecoveryNode === 'pivot_agent') return {};
  const task = activeTask(state);
  if (task === null) return closeProject(state, state.tasks);
  return closeProject(state, withTask(state.tasks, task.taskId, { status: 'completed' }));
}

/**
 * `verify`: the project's own checks decide; they run again only if the turn did not find this very tree green. Green: the
 * task's work becomes one commit and the task is completed.
 * Red: the task failed, stays active and is tried again. A turn that `implement` already called red is not checked.
 * Code that a human wants to be shown is asked about before an epic or the project is closed.
 */
export function makeVerifyNode(ports: PipelinePorts) {
  return async (state: GraphState): Promise<Partial<GraphState>> => {
    const task = activeTask(state);
    if (state.pendingRecoveryNode === 'pivot_agent') return verifyNode(state);
    if (task === null) return reviewOrClose(state, null, ports);
    if (task.status === 'failed') return {};

    const workspace = await openWorkspace(state, ports);
    const tree = await RecordedTree.left(workspace);
    const result = await checkedBefore(task, tree, ports);
    if (!judgeGreen(state, result).holds) return red(state, task, result.output, ports);
    await tree.integrated();
    const { agents, checks } = ports;
    const words = (): Promise<readonly string[]> =>
      taskCommitMessages(task, state, { tree, workspace, agents });
    const messages = await scrubbedStep('message', words, { kind: 'work' });
    const accepted = await acceptedMessage(messages, tree, { workspace, checks });
    if ('refusal' in accepted) return red(state, task, accepted.refusal, ports);
    const { message } = accepted;
    const gitHash = await scrubbedStep(
      'commit',
      ({ key }) => workspace.commit({ tree: tree.id, message, stepKey: key }),
      { kind: 'work' },
    );
    return reviewOrClose(withCompleted(state, task, gitHash), result, ports);
  };
}

/** The very tree that the turn found green is not checked again. */
function checkedBefore(
  { green }: TaskRecord,
  tree: RecordedTree,
  { checks }: Pick<PipelinePorts, 'checks'>,
): Promise<CheckResult> | CheckResult {
  if (green !== undefined && green.tree === tree.id) return green.check;
  return tree.check('verify', (request) => checks.run(request));
}

function withCompleted(state: GraphState, { taskId }: TaskRecord, gitHash: string): GraphState {
  const { tasks, taskAttempts: attempts, projectConfig } = state;
  const kept = projectConfig.review !== undefined && { attempts };
  const own = withGreenOf(tasks, taskId);
  return { ...state, tasks: withTask(own, taskId, { status: 'completed', gitHash, ...kept }) };
}

async function reviewOrClose(
  state: GraphState,
  check: CheckResult | null,
  ports: PipelinePorts,
): Promise<Partial<GraphState>> {
  const pendingSuspension = await askForReview(state, check, ports);
  if (pendingSuspension === null) return closeProject(state, state.tasks);
  return { tasks: state.tasks, pendingSuspension };
}

function red(
  state: GraphState,
  task: TaskRecord,
  observation: string,
  { now }: Pick<PipelinePorts, 'now'>,
): Partial<GraphState> {
  const log = agentLog(
    state,
    { task, thought: 'Verification', action: 'verify', observation, passed: false },
    now(),
  );
  return {
    agentLogs: appendLog(state, log),
    tasks: withTask(state.tasks, task.taskId, { status: 'failed' }),
  };
}

function closeProject(state: GraphState, tasks: readonly TaskRecord[]): Partial<GraphState> {
  const epics = closeEpics({ ...state, tasks });
  const isDone = epics.length > 0 && !epics.some(isEpicOpen);
  const status = epics.some((epic) => epic.status === 'failed') ? 'failed' : 'completed';
  return { tasks, epics, ...(isDone && advance(state, status)) };
}

/** Of a check's output, in characters: its end says what failed. */
const OUTPUT_SHOWN = 4_000;

/**
 * The suspension that has a human shown the code that is due; `null` when none is. Everything it is made of is
 * committed by then: the next node's entry asks.
 *
 * @param state - With the node's finished work.
 * @param check - Of this visit, if it ran one.
 */
async function askForReview(
  state: GraphState,
  check: CheckResult | null,
  ports: Pick<PipelinePorts, 'workspace' | 'travels' | 'checks'>,
): Promise<PendingSuspension | null> {
  if (state.projectConfig.review === undefined) return null;
  const workspace = await openWorkspace(state, ports);
  const due = await scrubbedStep('changes', () => dueReview(state, workspace), { kind: 'work' });
  if (due === null) return null;
  const result = check ?? (await checkAgain(due, state, ports));
  const { subject } = due;
  const review = codeReview(state, due, result && checkShown(result));
  const comments = await tallyOfReview(state, review, workspace);
  const taskId = subject.epicId ?? (subject.taskIds.at(-1) as string);
  return {
    sessionId: `review/${taskId}/${reviewDecisions(state).length + 1}`,
    kind: 'review',
    taskId,
    node: 'verify',
    review: { ...review, ...(comments !== null && { comments }) },
  };
}

/** Files are compared now, while the folder of the run is open: a list of gates does not open it. */
async function tallyOfReview(
  state: GraphState,
  review: CodeReview,
  workspace: RunWorkspace,
): Promise<CommentTally | null> {
  const { store, visit } = activeNode('a task');
  const said = reviewsOf(state, review.taskIds).at(-1)?.signal.comments ?? [];
  if (said.length === 0 || store === null) return null;
  const { threadId } = visit;
  const read: ReadQuotedCode = async (commit, path) => {
    const text = (await workspace.readAt?.(commit, path)) ?? null;
    return text === null ? null : scrub(text).value;
  };
  const texts = { places: reviewGate.places, read: workspace.readAt === undefined ? null : read };
  const tally = async (): Promise<CommentTally | null> =>
    tallyOf(await lastComments({ kind: 'review', threadId, artifact: review }, texts, store.sessions));
  return scrubbedStep('comments', tally, { kind: 'work' });
}

/** No task was verified in this visit; a folder that holds more than the newest commit says nothing about it. */
async function checkAgain(
  { range }: DueReview,
  state: GraphState,
  ports: Pick<PipelinePorts, 'workspace' | 'travels' | 'checks'>,
): Promise<CheckResult | null> {
  const known = checkOf(state, range.tree);
  if (known !== null) return known;
  const tree = await RecordedTree.at(await openWorkspace(state, ports));
  return tree.id === range.tree ? tree.check('verify', (request) => ports.checks.run(request)) : null;
}

function codeReview(state: GraphState, due: DueReview, check: ReviewedCheck | null): CodeReview {
  const { subject, range, since, notes = [] } = due;
  return {
    ...subject,
    epicName: state.epics.find(({ epicId }) => epicId === subject.epicId)?.name ?? null,
    tasks: subject.taskIds
      .flatMap((id) => state.tasks.filter(({ taskId }) => taskId === id))
      .map((task) => taskShown(task, due)),
    range,
    since,
    check,
    rejections: rejectionsOf(state, subject),
    ...(notes.length > 0 && { notes }),
  };
}

function rejectionsOf(state: GraphState, { taskIds }: ReviewSubject): CodeReview['rejections'] {
  return reviewsOf(state, taskIds)
    .filter(({ signal }) => !signal.approved)
    .map(({ signal, decidedAt }) => ({
      by: signal.approvedBy ?? '',
      at: decidedAt,
      feedback: signal.feedback ?? signal.comments?.[0]?.text ?? '',
    }));
}

/** A commit that was made anew by a sync is found in the range, under its new id. */
function taskShown(
  { taskId, name, gitHash, acceptanceCriteria = [], evidence = [], losses, findings }: TaskRecord,
  { range: { commits }, moved = {} }: DueReview,
): ReviewedTask {
  const criteria = acceptanceCriteria.map((criterion) => ({
    criterion,
    shownBy: evidence.find((entry) => entry.criterion === criterion)?.shownBy ?? null,
  }));
  const now = gitHash === undefined ? undefined : (moved[gitHash] ?? gitHash);
  return {
    taskId,
    name,
    commit: commits.find(({ sha }) => sha === now)?.sha ?? null,
    criteria,
    ...(losses && { losses }),
    ...(findings && { findings }),
  };
}

function checkShown(check: CheckResult): ReviewedCheck {
  const { command, passed, exitCode, output, parts, cases, durationMs } = check;
  const counted = (cases ?? []).filter(({ whole }) => whole !== true);
  const count = (state: TestCase['state']): number => counted.filter((each) => each.state === state).length;
  return {
    ...{ command, summary: formatCheck(check), passed, exitCode, output: output.slice(-OUTPUT_SHOWN) },
    ...(parts && { parts: parts.map(partShown) }),
    ...(durationMs !== undefined && { durationMs }),
    ...(counted.length > 0 && {
      cases: { passed: count('passed'), failed: count('failed'), skipped: count('skipped') },
    }),
  };
}

const partShown = ({ name, passed, durationMs }: CheckPart): NonNullable<ReviewedCheck['parts']>[number] => ({
  ...{ name, passed },
  ...(durationMs !== undefined && { durationMs }),
});

/** Of each the most that is kept in the state. */
const FILES_SHOWN = 200;

const COMMITS_SHOWN = 100;

/** Code that a human has to be shown. */
interface DueReview {
  readonly subject: ReviewSubject;
  readonly range: ReviewedRange;
  readonly since: string | null;
  /** Commits of these tasks that a sync made anew: the id on the branch by the one in the state. */
  readonly moved?: Readonly<Record<string, string>>;
  readonly notes?: readonly string[];
}

/** The review that is due, by the state and the run's branch; `null` if none is. */
async function dueReview(state: GraphState, workspace: RunWorkspace): Promise<DueReview | null> {
  const commits = await workspace.log();
  const subject = reviewSubject(state, commits);
  if (subject === null) return null;
  const start = reviewStart(state, subject, commits);
  const changes = await workspace.changes(commits[start]?.sha ?? null);
  if (changes === null) return null;
  const own = state.tasks.filter(({ taskId }) => subject.taskIds.includes(taskId));
  const moved = (await workspace.successors?.(own.flatMap(({ gitHash }) => gitHash ?? []))) ?? {};
  const shown = reviewsOf(state, subject.taskIds).at(-1)?.review.to;
  return {
    subject,
    since: commits.some(({ sha }) => sha === shown) ? (shown ?? null) : null,
    moved,
    notes: (await workspace.commitNotes?.()) ?? [],
    range: rangeShown(changes, commits.slice(start + 1)),
  };
}

type Changes = NonNullable<Awaited<ReturnType<RunWorkspace['changes']>>>;

function rangeShown(changes: Changes, commits: readonly CommitView[]): ReviewedRange {
  const { files } = changes;
  const sum = (part: 'added' | 'removed'): number =>
    files.reduce((total, file) => total + (file[part] ?? 0), 0);
  return {
    ...changes,
    commits: commits.slice(-COMMITS_SHOWN),
    files: files.slice(0, FILES_SHOWN),
    total: { files: files.length, added: sum('added'), removed: sum('removed') },
  };
}

/**
 * Where the commit before the range stands in `commits`; -1 for the beginning of the run. A repeated review begins
 * where the first one did. A first one leaves out nothing that no approved review has shown. A commit that is not
 * there any more (the run was carried over to others) means the beginning: rather shown twice than never.
 */
function reviewStart(state: GraphState, { taskIds }: ReviewSubject, commits: readonly CommitView[]): number {
  const position = (sha: string | undefined): number => commits.findIndex((commit) => commit.sha === sha);
  const repeated = reviewsOf(state, taskIds).at(-1);
  if (repeated !== undefined) return position(repeated.review.from);
  const own = state.tasks.filter(({ taskId }) => taskIds.includes(taskId));
  const approved = reviewDecisions(state).findLast(({ signal }) => signal.approved);
  return Math.min(position(approved?.review.to), ...own.map(({ gitHash }) => position(gitHash) - 1));
}

/**
 * What a human has to be shown before the run goes on; `null` for nothing. Read from the state and the run's commits
 * each time, so that no order of events can pass over a task.
 *
 * @param commits - The run's own, oldest first.
 */
function reviewSubject(state: GraphState, commits: readonly CommitView[]): ReviewSubject | null {
  const due = dueReviewTasks(state, commits);
  if (due === null) return movedSubject(state, commits);
  return due;
}

function dueReviewTasks(state: GraphState, commits: readonly CommitView[]): ReviewSubject | null {
  const { tasks, epics, activeTaskId, projectConfig } = state;
  const { review: scope } = projectConfig;
  if (scope === undefined) return null;
  const due = tasks.filter(({ taskId, status }) => status === 'completed' && !isCodeApproved(state, taskId));
  if (scope === 'task') return subjectOf(due, { scope, epicId: null }, commits);
  const isFinished = (epicId: string): boolean =>
    tasks.every((task) => task.epicId !== epicId || isTaskTerminal(task, activeTaskId));
  const epic = epics.find(
    (candidate) =>
      isEpicOpen(candidate) &&
      isFinished(candidate.epicId) &&
      due.some(({ epicId }) => epicId === candidate.epicId),
  );
  if (epic === undefined) return null;
  const own = tasks.filter(({ epicId, status }) => epicId === epic.epicId && status === 'completed');
  return subjectOf(own, { scope, epicId: epic.epicId }, commits);
}

function subjectOf(
  tasks: readonly TaskRecord[],
  about: Pick<ReviewSubject, 'scope' | 'epicId'>,
  commits: readonly CommitView[],
): ReviewSubject | null {
  if (tasks.length === 0) return null;
  const position = ({ gitHash }: TaskRecord): number => commits.findIndex(({ sha }) => sha === gitHash);
  const ordered = tasks.toSorted((a, b) => position(a) - position(b));
  return { ...about, taskIds: ordered.map(({ taskId }) => taskId) };
}

/**
 * The last approved tasks, when the branch was moved by something else than a task before the approval was taken up
 * (a hand commit, a sync): an approval holds for exactly the code that was shown.
 */
function movedSubject(state: GraphState, commits: readonly CommitView[]): ReviewSubject | null {
  const last = reviewDecisions(state).at(-1);
  if (last === undefined || !last.signal.approved) return null;
  const { scope, epicId, taskIds, to } = last.review;
  if (taskIds.length === 0) return null; // all of it was undone by a rewind
  const since = commits.slice(commits.findIndex(({ sha }) => sha === to) + 1);
  const isOfTask = ({ sha }: CommitView): boolean => state.tasks.some(({ gitHash }) => gitHash === sha);
  return since.length === 0 || since.some(isOfTask) ? null : { scope, epicId, taskIds };
}
