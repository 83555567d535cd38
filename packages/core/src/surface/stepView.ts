import { taskLabel } from '../orchestration/taskStates.ts';
import type { RunCost, StepSummary } from '../state/steps/StepStore.ts';

/** One durable step of a run: a call of an agent, or what else is recorded once. */
export interface StepView {
  readonly node: string;
  /** Such as `implement`; of a node it is unique in a visit. */
  readonly name: string;
  /** Such as `T4`; `null` outside of a task. */
  readonly task: string | null;
  readonly taskId: string | null;
  /** The same for all steps of one visit of a node. */
  readonly visit: string;
  /** `begun`: it runs, or its process died in it. */
  readonly state: 'begun' | 'failed' | 'done';
  /** How often it was begun, from 1. */
  readonly attempt: number;
  /** ISO 8601, UTC: of the last attempt. */
  readonly startedAt: string;
  /** ISO 8601, UTC; `null` without a result. */
  readonly finishedAt: string | null;
  /** Of every attempt. The costs of all steps add up to that of the run. */
  readonly cost: RunCost;
}

export function stepView(step: StepSummary): StepView {
  const { node, name, taskId, lgTaskId, state, attempt, startedAt, finishedAt } = step;
  return {
    ...{ node, name, taskId, attempt },
    task: taskId === null ? null : taskLabel(taskId),
    visit: lgTaskId.split('/')[0] ?? lgTaskId,
    state: state === 'intent' ? 'begun' : state,
    startedAt: new Date(startedAt).toISOString(),
    finishedAt: finishedAt === null ? null : new Date(finishedAt).toISOString(),
    cost: costOf(step),
  };
}

/** As a run's cost counts it: what is only recorded costs nothing. */
function costOf({ kind, state, usage }: StepSummary): RunCost {
  const { tokensIn, tokensOut, costUsd, unpriced = 0 } = usage;
  const isCounted = kind === 'call' && state === 'done';
  const isReported = [tokensIn, tokensOut, costUsd].some((figure) => figure !== undefined);
  return {
    tokensIn: tokensIn ?? 0,
    tokensOut: tokensOut ?? 0,
    costUsd: costUsd ?? 0,
    calls: isCounted && isReported ? 1 : 0,
    unpriced: isCounted && (costUsd === undefined || unpriced > 0) ? 1 : 0,
  };
}
