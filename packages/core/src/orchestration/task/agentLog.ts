import type { AttemptReport } from '../ports.ts';
import type { AgentLogRecord, GraphState, TaskRecord } from '../types.ts';

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

/** What the last attempts at a task did and saw, oldest first. */
export function reportsOf({ agentLogs }: GraphState, taskId: string): readonly AttemptReport[] {
  return agentLogs
    .filter((log) => log.taskId === taskId)
    .map(({ content: { action, observation } }) => ({ action, observation }));
}

/** What was seen last when a task was worked on; `null` before its first turn. */
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
