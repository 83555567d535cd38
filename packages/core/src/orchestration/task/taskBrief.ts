import { exchangesAt } from '../../engine/gates/answerForms.ts';
import { currentNodeStore } from '../../engine/node/nodeContext.ts';
import type { HitlSession, HitlSessionKind } from '../../state/gates/hitlSession.ts';
import type { AttemptReport, TaskBrief } from '../ports.ts';
import { taskLabel } from '../taskStates.ts';
import type { AgentLogRecord, GraphState, PivotRecord, TaskRecord } from '../types.ts';

// A task as agents see it: its brief, strategies, guidance, the log of its turns, and the talk at its gates.

export function taskBrief(task: TaskRecord): TaskBrief {
  const { taskId, name, description, acceptanceCriteria = [], kind, checkedBy } = task;
  return {
    taskId,
    name,
    description,
    acceptanceCriteria,
    ...(kind !== undefined && { kind }),
    ...(checkedBy !== undefined && { checkedBy }),
  };
}

/** Strategies of a task, oldest first; the last one is in force. */
export function strategiesOf({ pivots }: Pick<GraphState, 'pivots'>, taskId: string): readonly PivotRecord[] {
  return pivots.filter((pivot) => pivot.taskId === taskId);
}

/** Guidance of people for a task, oldest first. */
export function guidanceFor({ guidance }: Pick<GraphState, 'guidance'>, taskId: string): readonly string[] {
  return guidance.filter((entry) => entry.taskId === taskId).map(({ text }) => text);
}

/** Turns kept in the state; the journal has them all. */
const LOGS_KEPT = 20;

interface AgentLogEntry {
  readonly task: TaskRecord;
  readonly thought: string;
  readonly action: string;
  readonly observation: string;
  readonly passed: boolean;
}

/** @param now - Milliseconds since the Unix epoch. */
export function agentLog(state: GraphState, entry: AgentLogEntry, now: number): AgentLogRecord {
  const { task, thought, action, observation, passed } = entry;
  const turnIndex = state.agentLogs.filter(({ taskId }) => taskId === task.taskId).length;
  return {
    logId: `${task.taskId}/${turnIndex}`,
    taskId: task.taskId,
    turnIndex,
    agentId: task.agentRole,
    content: { thought, action, observation },
    metadata: {
      version: '1.0.0',
      task_id: task.taskId,
      timestamp: new Date(now).toISOString(),
      confidence: passed ? 1 : 0,
      estimated_complexity: 'medium',
    },
  };
}

export function appendLog({ agentLogs }: GraphState, log: AgentLogRecord): readonly AgentLogRecord[] {
  return [...agentLogs, log].slice(-LOGS_KEPT);
}

/** Actions and observations of the last attempts at a task, oldest first. */
export function reportsOf({ agentLogs }: GraphState, taskId: string): readonly AttemptReport[] {
  return agentLogs
    .filter((log) => log.taskId === taskId)
    .map(({ content: { action, observation } }) => ({ action, observation }));
}

/** The last observation of a task's turns; `null` before its first turn. */
export function lastObservation({ agentLogs }: GraphState, taskId: string): string | null {
  return agentLogs.findLast((log) => log.taskId === taskId)?.content.observation ?? null;
}

/**
 * Why the last attempt at a task failed; `null` before its first one, and where the last one did what it had to: a
 * person who sends that back says so themselves.
 */
export function lastFailure({ agentLogs }: GraphState, taskId: string): string | null {
  const last = agentLogs.findLast((log) => log.taskId === taskId);
  return last === undefined || last.metadata.confidence > 0 ? null : last.content.observation;
}

// What a person and an agent said at gates that are decided, for the next attempt. It is read from rows, which is safe
// in a node: nothing is asked at a gate that is closed, so every execution reads the same.

/** A person's feedback, and below it the talk at the gate since the last decision on a proposal. */
export function withTalk(feedback: string | null, kind: HitlSessionKind): string | null {
  if (feedback === null) return null;
  const talk = decidedLast(kind).flatMap(wordsAt);
  return talk.length === 0 ? feedback : [feedback, ...talk].join('\n\n');
}

/** Guidance of people for a task, oldest first, and then the talk at its gates. */
export function guidanceWithTalk(state: GraphState, taskId: string): readonly string[] {
  const label = taskLabel(taskId);
  const isAbout = ({ taskId: about, question, decision }: HitlSession): boolean => {
    const { tasks } = (decision ?? {}) as { readonly tasks?: readonly string[] };
    return tasks?.includes(label) ?? (about === taskId || showsTask(question, taskId));
  };
  const sessions = (['task_failure', 'review'] as const).flatMap((kind) =>
    decidedSessions(kind).filter(isAbout),
  );
  return [...guidanceFor(state, taskId), ...sessions.flatMap(wordsAt)];
}

function showsTask(question: unknown, taskId: string): boolean {
  const { artifact } = (question ?? {}) as { readonly artifact?: { readonly tasks?: unknown } };
  const tasks = Array.isArray(artifact?.tasks)
    ? (artifact.tasks as readonly { readonly taskId?: unknown }[])
    : [];
  return tasks.some((task) => task.taskId === taskId);
}

/** The last decision on a kind of gate, with the edits before it: an edit is asked about anew. */
function decidedLast(kind: HitlSessionKind): readonly HitlSession[] {
  const sessions = decidedSessions(kind);
  const edits = sessions.slice(0, -1).findLastIndex(({ decision }) => !isEditDecision(decision));
  return sessions.slice(edits + 1);
}

const isEditDecision = (decision: unknown): boolean =>
  (decision as { readonly action?: unknown } | null)?.action === 'edit';

function decidedSessions(kind: HitlSessionKind): readonly HitlSession[] {
  const visit = currentNodeStore();
  return visit === null ? [] : visit.store.sessions.listDecided(visit.threadId, kind);
}

function wordsAt({ id, threadId }: HitlSession): readonly string[] {
  const visit = currentNodeStore();
  if (visit === null || threadId === null) return [];
  return exchangesAt(threadId, id, visit.store.steps).map(
    ({ question, answer }) => `A person asked about the last attempt: ${question}\nThe answer was: ${answer}`,
  );
}
