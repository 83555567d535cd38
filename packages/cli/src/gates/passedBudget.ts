import type { PipelineRunInfo } from '@devs/core';
import { BUDGET_MEASURES } from '@devs/core/internal';

type LimitOfBudget = PipelineRunInfo['budget'][number];

/** One limit as the gate of a budget shows it. */
interface PassedLimit extends LimitOfBudget {
  readonly taskId: string | null;
  readonly next: number;
}

/** What the gate of a budget shows. */
export interface PassedBudget {
  readonly node: string;
  readonly step: string;
  readonly limits: readonly PassedLimit[];
}

export function isPassedBudget(artifact: unknown): artifact is PassedBudget {
  if (typeof artifact !== 'object' || artifact === null) return false;
  const { step, limits } = artifact as Partial<PassedBudget>;
  return typeof step === 'string' && Array.isArray(limits);
}

/** Adds to each limit that was passed as much as it is, to be changed by whoever copies it. */
export function raiseFlags({ limits }: PassedBudget): readonly string[] {
  const amounts = new Map(limits.map(({ measure, limit }) => [measure, limit]));
  return [...amounts].flatMap(([measure, limit]) => raiseOption(measure, limit));
}

function raiseOption(measure: LimitOfBudget['measure'], amount: number): readonly string[] {
  const { kind, flag } = BUDGET_MEASURES[measure];
  return [`--raise-${flag}`, kind === 'time' ? `${Math.ceil(amount / 60_000)}m` : String(amount)];
}
