import type { Gate, GraphState, PipelineRunInfo, Run } from '@devs/core';

/** The work behind a review. */
export interface GateWork {
  /** Of the last task that is shown, from 1, and how many there are. */
  readonly task: { readonly at: number; readonly of: number } | null;
  /** Of the only task that is shown; `null` of several, and where it is not recorded. */
  readonly attempt: number | null;
  /** US dollars of its tasks; calls without a price are not counted. */
  readonly costUsd: number;
  /** Of the checks as they ran last before the question: milliseconds, all of them together. */
  readonly checkMs: number | null;
  /** The words of the reviewing agent, by task. */
  readonly said: readonly { readonly taskId: string; readonly words: string }[];
}

type Steps = Awaited<ReturnType<Run['steps']>>;

interface WorkParts {
  readonly tasks: PipelineRunInfo['tasks'];
  readonly steps: Steps;
  readonly state: Pick<GraphState, 'tasks'> | null;
}

/** Steps that run the checks on the code that is shown. */
const CHECKS: ReadonlySet<string> = new Set(['green', 'verify']);

/** `null` for other gates. Pure. */
export function gateWork(
  { kind, artifact, openedAt }: Pick<Gate, 'kind' | 'artifact' | 'openedAt'>,
  { tasks, steps, state }: WorkParts,
): GateWork | null {
  const { taskIds = [] } = (artifact ?? {}) as { readonly taskIds?: readonly string[] };
  if (kind !== 'review' || taskIds.length === 0) return null;
  const own = steps.filter(({ taskId }) => taskId !== null && taskIds.includes(taskId));
  const at = tasks.findIndex(({ taskId }) => taskId === taskIds.at(-1));
  const records = (state?.tasks ?? []).filter(({ taskId }) => taskIds.includes(taskId));
  return {
    task: at === -1 ? null : { at: at + 1, of: tasks.length },
    attempt: taskIds.length === 1 ? (records[0]?.attempts ?? null) : null,
    costUsd: own.reduce((sum, { cost }) => sum + cost.costUsd, 0),
    checkMs: lastCheck(own, openedAt),
    said: records.flatMap(({ taskId, reviewerSaid }) =>
      reviewerSaid === undefined ? [] : [{ taskId, words: reviewerSaid }],
    ),
  };
}

function lastCheck(steps: Steps, until: string): number | null {
  const last = steps.findLast(
    ({ name, finishedAt }) =>
      CHECKS.has(/^[a-z]+/.exec(name)?.[0] ?? '') && finishedAt !== null && finishedAt <= until,
  );
  if (last?.finishedAt == null) return null;
  return Math.max(0, Date.parse(last.finishedAt) - Date.parse(last.startedAt));
}
