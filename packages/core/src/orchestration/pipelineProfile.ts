import { stripVTControlCharacters } from 'node:util';
import { MAX_PIVOTS } from '../config/defaults.ts';
import type { AgentAction, TestCounts } from '../engine/entropy/EntropyPart.ts';
import type { Question } from '../engine/gates/question.ts';
import type { AppliedAnswer, EndOfRun, GraphProfile, NodeUpdate } from '../engine/graph/NodeEngine.ts';
import { type GuardFinding, type GuardLevel, warningOf } from '../engine/guards/lattice.ts';
import type { EventName, EventScope, EventSink, OrchestratorEvents } from '../events/events.ts';
import {
  applyBaseline,
  type BaselineAnswer,
  PIPELINE_GATES,
  shownBaseline,
  slowLine,
} from './gates/pipelineGates.ts';
import { steerToGoal } from './pipelineGoals.ts';
import { applyReview, type ReviewAnswer } from './review/reviewGate.ts';
import { isRetriable, MAX_ATTEMPTS, SURROUNDINGS } from './robustness/classifyError.ts';
import {
  CONSECUTIVE_ERROR_PIVOT_THRESHOLD,
  ENTROPY_LOOP_THRESHOLD,
  MAX_IMPLEMENTATION_TURNS,
} from './robustness.ts';
import { guidanceFor, lastObservation, strategiesOf } from './task/taskBrief.ts';
import {
  abandonTask,
  activeTask,
  formatSkippedTasks,
  isEpicOpen,
  isTaskTerminal,
  pickTask,
  taskLabel,
  tasksById,
} from './taskStates.ts';
import type {
  AgentLogRecord,
  EntropyRecord,
  ErrorRecord,
  GraphState,
  PendingSuspension,
  TaskRecord,
} from './types.ts';

/** Gates ask their own question; `error` repairs, and a lost answer would be asked there again. */
const WITHOUT_ENTRY_QUESTION: ReadonlySet<string> = new Set(['approveDesign', 'approveTaskDag', 'error']);

/** Different errors a human is shown, the newest. */
const ERRORS_SHOWN = 3;

/** How the runner reads the pipeline. Pure. */
export const pipelineProfile: GraphProfile<GraphState> = {
  rules: PIPELINE_GATES,
  declaresGuards: true,
  isImmutable: true,
  surroundings: SURROUNDINGS,
  withoutEntryQuestion: WITHOUT_ENTRY_QUESTION,
  gates: { approveDesign: 'design_approval', approveTaskDag: 'dag_approval' },
  // `implement` picks its task itself: its visit belongs to the task it is about to pick.
  taskIdOf: (state, node) =>
    (node === 'implement' ? pickTask(state).task?.taskId : null) ?? state.activeTaskId,
  projectIdOf: ({ projectConfig }) => projectConfig.projectId,
  suspensionEvidence,
  suspensionMessage,
  applyAnswer,
  steer: steerToGoal,
  isProgress,
  turnsOf: (state, node) => (node === 'implement' || node === 'verify' ? pipelineTurns(state) : []),
  due: dueForPivot,
  findings: pipelineFindings,
  willRetry: (error, attempt) => attempt < MAX_ATTEMPTS && isRetriable(error),
  announce,
};

/** How a run whose graph has nothing left to do has ended. */
export function endOfPipeline(values: unknown): EndOfRun {
  const { status, epics, errorHistory, tasks } = values as GraphState;
  const isDone = status === 'completed' || (status === 'implementing' && epics.length === 0);
  if (isDone) return { status: 'completed', reason: formatSkippedTasks(tasks) };
  const reason = status === 'strategy_pivot' ? 'no strategy made progress' : 'an epic failed';
  const lastError = errorHistory.at(-1)?.message;
  return { status: 'failed', reason: lastError === undefined ? reason : `${reason}: ${lastError}` };
}

/** The attempts so far, for the person at the failure gate. */
function suspensionEvidence(state: GraphState, suspension: PendingSuspension): unknown {
  const { kind, review, taskId, node, reason, entropy } = suspension;
  if (review !== undefined) return review;
  if (kind === 'baseline') return shownBaseline(state);
  return {
    taskId,
    name: state.tasks.find((task) => task.taskId === taskId)?.name ?? null,
    node,
    reason: reason ?? null,
    turns: state.implementationTurns,
    attempts: state.taskAttempts,
    strategies: strategiesOf(state, taskId).map(({ strategy, reason }) => ({ strategy, reason })),
    guidance: guidanceFor(state, taskId),
    errors: [...new Set(state.errorHistory.map(({ message }) => message))].slice(-ERRORS_SHOWN),
    lastObservation: lastObservation(state, taskId),
    ...(entropy && { entropy }),
  };
}

function suspensionMessage({ kind, taskId }: PendingSuspension, { projectConfig }: GraphState): string {
  if (kind === 'baseline') {
    const slow = slowLine(projectConfig.baseline);
    return `The checks are red before any work was done. Nothing was paid yet.${slow}`;
  }
  const label = taskLabel(taskId);
  if (kind !== 'review') return `${label === 'T0' ? 'The run' : `Task ${label}`} makes no progress.`;
  return 'Read the code and what was checked. Approve it to have the run go on.';
}

type FailureAnswer = { readonly action: 'retry' | 'skip' | 'continue'; readonly guidance?: string };

function applyAnswer(
  state: GraphState,
  question: Pick<Question, 'kind' | 'taskId' | 'artifactHash'>,
  answer: unknown,
): AppliedAnswer<GraphState> {
  const { kind, taskId } = question;
  if (kind === 'baseline') return applyBaseline(state, answer as BaselineAnswer);
  if (kind === 'review') return applyReview(state, question, answer as ReviewAnswer);
  const { action, guidance } = answer as FailureAnswer;
  if (kind !== 'task_failure') return { update: { pendingSuspension: null }, runNode: true };
  const freshStart = {
    pendingSuspension: null,
    pendingRecoveryNode: null,
    implementationTurns: 0,
    taskPivots: 0,
    entropy: [],
    errorHistory: [],
  };
  if (action === 'skip') {
    const tasks = abandonTask(state.tasks, taskId);
    return { update: { ...freshStart, tasks, activeTaskId: null }, runNode: true };
  }
  const words = guidance === undefined ? [] : [{ taskId, text: guidance }];
  return { update: { ...freshStart, guidance: [...state.guidance, ...words] }, runNode: true };
}

/** A task or epic reached its end, a human decided, or a pivot found a new strategy. */
function isProgress(before: GraphState, update: NodeUpdate<GraphState>): boolean {
  const after: GraphState = { ...before, ...update };
  if (after.hitlDecisions.length > before.hitlDecisions.length) return true;
  if (after.pivots.length > before.pivots.length) return true;
  if (countClosed(after) > countClosed(before)) return true;
  const had = tasksById(before.tasks);
  return after.tasks.some(
    (task) => isTaskTerminal(task, after.activeTaskId) && !wasTerminal(had.get(task.taskId), before),
  );
}

function announce(before: GraphState, after: GraphState, emit: EventSink['emit'], scope: EventScope): void {
  for (const { taskId, strategy } of after.pivots.slice(before.pivots.length)) {
    emit('PIVOTED', { taskId, strategy }, { ...scope, taskId });
  }
  const had = tasksById(before.tasks);
  for (const task of after.tasks) {
    const { taskId, status } = task;
    const final = isTaskTerminal(task, after.activeTaskId);
    const isGivenUp = status === 'failed' && final && !wasTerminal(had.get(taskId), before);
    const statusBefore = had.get(taskId)?.status;
    if (statusBefore === status && !isGivenUp) continue;
    announceTask(task, { statusBefore, final }, (name, payload) => emit(name, payload, { ...scope, taskId }));
  }
}

function announceTask(
  { taskId, name, status, gitHash = '' }: TaskRecord,
  {
    statusBefore,
    final,
  }: { readonly statusBefore: TaskRecord['status'] | undefined; readonly final: boolean },
  emit: <Name extends EventName>(name: Name, payload: OrchestratorEvents[Name]) => void,
): void {
  if (statusBefore === 'completed') emit('TASK_REOPENED', { taskId, name });
  if (status === 'completed') emit('TASK_COMPLETED', { taskId, name, gitHash });
  if (status === 'failed') emit('TASK_FAILED', { taskId, name, final });
  if (status === 'skipped') emit('TASK_SKIPPED', { taskId, name });
  if (status === 'blocked') emit('TASK_BLOCKED', { taskId, name });
}

const countClosed = ({ epics }: GraphState): number => epics.filter((epic) => !isEpicOpen(epic)).length;

function wasTerminal(task: TaskRecord | undefined, { activeTaskId }: GraphState): boolean {
  return task !== undefined && isTaskTerminal(task, activeTaskId);
}

/** Findings of the pipeline's guards in the update of a node: equal errors, turns, equal outputs. Pure. */
function pipelineFindings(before: GraphState, after: GraphState): readonly GuardFinding[] {
  return [...errorFindings(before, after), ...pivotFindings(before, after)];
}

function errorFindings(before: GraphState, { errorHistory }: GraphState): readonly GuardFinding[] {
  const last = errorHistory.at(-1);
  if (last === undefined || last.errorId === before.errorHistory.at(-1)?.errorId) return [];
  const { errorId, consecutiveCount: level, sourceNode, kind } = last;
  if (level < CONSECUTIVE_ERROR_PIVOT_THRESHOLD) return [];
  const limit = CONSECUTIVE_ERROR_PIVOT_THRESHOLD;
  const evidence = { sourceNode, kind, message: last.message };
  return [tripped({ measure: 'equal_errors', level, limit, episode: errorId, evidence })];
}

function pivotFindings(before: GraphState, after: GraphState): readonly GuardFinding[] {
  const asksForPivot = after.pendingRecoveryNode === 'pivot_agent' && before.pendingRecoveryNode === null;
  const turns = turnsLevel(after);
  if (!asksForPivot) return after.implementationTurns > before.implementationTurns ? warningOf(turns) : [];
  const sameOutput = sameOutputLevel(after);
  return [tripped(turns.level >= turns.limit || sameOutput === null ? turns : sameOutput)];
}

/** The levels at which the next `implement` hands the task to the pivot, while the task has pivots left. Pure. */
function dueForPivot(state: GraphState): readonly GuardLevel[] {
  if (state.taskPivots >= MAX_PIVOTS) return [];
  const levels = [turnsLevel(state), sameOutputLevel(state)];
  return levels.filter((level) => level !== null).filter(({ level, limit }) => level >= limit);
}

function turnsLevel({ implementationTurns: level, activeTaskId, progressStep }: GraphState): GuardLevel {
  const evidence = { taskId: activeTaskId, turns: level };
  return {
    measure: 'turns',
    level,
    limit: MAX_IMPLEMENTATION_TURNS,
    episode: String(progressStep),
    evidence,
  };
}

function sameOutputLevel({ entropy, activeTaskId, progressStep }: GraphState): GuardLevel | null {
  const most = entropy
    .filter(({ taskId }) => taskId === activeTaskId)
    .toSorted((a, b) => b.loopCount - a.loopCount)[0];
  if (most === undefined) return null;
  const { loopCount: level, outputHash } = most;
  const evidence = { taskId: activeTaskId, outputHash };
  return {
    measure: 'same_output',
    level,
    limit: ENTROPY_LOOP_THRESHOLD,
    episode: String(progressStep),
    evidence,
  };
}

const tripped = (level: GuardLevel): GuardFinding => ({ event: 'GUARD_TRIPPED', level });

interface TimedTurn {
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly turn: AgentAction;
}

/**
 * The turns of the active task since its episode began: its logs, each with the tree it left, and its errors, oldest
 * first. From the state alone. A new task, a pivot and a human's answer begin an episode by clearing its records.
 */
export function pipelineTurns(state: GraphState): readonly AgentAction[] {
  const task = activeTask(state);
  if (task === null || isTaskTerminal(task, state.activeTaskId)) return [];
  const isOwn = ({ taskId }: { readonly taskId: string | null }): boolean => taskId === task.taskId;
  const logged = loggedTurns(state.agentLogs.filter(isOwn), state.entropy.filter(isOwn));
  const failed = state.errorHistory.filter(isOwn).map(erroneousTurn);
  return [...logged, ...failed]
    .toSorted((a, b) => (a.at < b.at ? -1 : Number(a.at > b.at)))
    .map(({ turn }) => turn);
}

/** Every turn of `implement` leaves a log and a tree; `verify` only a log. Logs from before the first tree are of no concern. */
function loggedTurns(logs: readonly AgentLogRecord[], trees: readonly EntropyRecord[]): readonly TimedTurn[] {
  const turns: TimedTurn[] = [];
  let left = trees.length;
  for (const log of logs.toReversed()) {
    if (left === 0) break;
    const tree = trees[left - 1] as EntropyRecord;
    turns.unshift({ at: log.metadata.timestamp, turn: loggedTurn(log, tree.outputHash) });
    if (log.content.action !== 'verify') left -= 1;
  }
  return turns;
}

/** Turns whose observation is the output of the project's checks on the implementation. */
const CHECKED: ReadonlySet<string> = new Set(['implement', 'verify']);

function loggedTurn({ content, metadata }: AgentLogRecord, tree: string): AgentAction {
  const { action, observation } = content;
  const tests = CHECKED.has(action) ? readTestCounts(observation) : null;
  return {
    action,
    tool: action,
    ...(metadata.confidence === 1 ? { output: observation } : { error: observation }),
    ...(tests !== null && { tests }),
    tree,
  };
}

function erroneousTurn({ capturedAt, sourceNode, message }: ErrorRecord): TimedTurn {
  return { at: capturedAt, turn: { action: sourceNode, tool: sourceNode, error: message } };
}

/** Characters read, from the end: a runner sums up last. */
const READ = 4_000;

/** Vitest, Jest, Mocha, pytest, cargo: `3 failed | 11 passed`, `11 passing`; node:test and TAP: `# pass 11`. */
const PASSED = /\b(\d{1,6}) (?:passed|passing)\b|# pass (\d{1,6})\b/g;

const FAILED = /\b(\d{1,6}) (?:failed|failing)\b|# fail (\d{1,6})\b/g;

/** The numbers of tests in a runner's output; `null` if it does not print them in a known way. */
export function readTestCounts(output: string): TestCounts | null {
  const text = stripVTControlCharacters(output.slice(-READ));
  const passed = lastCount(text, PASSED);
  const failed = lastCount(text, FAILED);
  return passed === null && failed === null ? null : { passed: passed ?? 0, failed: failed ?? 0 };
}

function lastCount(text: string, pattern: RegExp): number | null {
  const match = [...text.matchAll(pattern)].at(-1);
  return match === undefined ? null : Number(match[1] ?? match[2]);
}
