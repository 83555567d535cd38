import type { BudgetUse } from '@devs/core';
import { columns } from '../terminal/columns.ts';
import type { Line } from '../terminal/Output.ts';
import { taskLabel } from './sentence.ts';

/** One limit as the gate of a budget shows it. */
interface AskedLimit extends BudgetUse {
  readonly taskId: string | null;
  readonly next: number;
}

/** What the gate of a budget shows. */
export interface PassedBudget {
  readonly node: string;
  readonly step: string;
  readonly limits: readonly AskedLimit[];
}

export function isPassedBudget(artifact: unknown): artifact is PassedBudget {
  if (typeof artifact !== 'object' || artifact === null) return false;
  const { step, limits } = artifact as Partial<PassedBudget>;
  return typeof step === 'string' && Array.isArray(limits);
}

/** Which call was not made, and how each limit stands to it. */
export function passedBudgetLines({ node, step, limits }: PassedBudget): readonly Line[] {
  const rows = limits.map(({ taskId, measure, limit, spent, reserved, next }) => [
    taskId === null ? 'run' : taskLabel(taskId) || taskId,
    ...[limit, spent, reserved, next].map((amount) => amountWords(measure, amount)),
  ]);
  return [
    `not made: ${step} of ${node}`,
    ...columns([['of', 'limit', 'used', 'held back', 'next call'], ...rows]),
    '',
  ];
}

/** Adds to each limit that was passed as much as it is, to be changed by whoever copies it. */
export function raiseFlags({ limits }: PassedBudget): readonly string[] {
  const amounts = new Map(limits.map(({ measure, limit }) => [measure, limit]));
  return [...amounts].flatMap(([measure, limit]) =>
    measure === 'ms'
      ? ['--raise-time', `${Math.ceil(limit / 60_000)}m`]
      : [`--raise-${measure}`, String(limit)],
  );
}

/** `$1.20 of $5.00, 14 of 60 calls`; `none` without a limit. */
export function budgetWords(uses: readonly BudgetUse[]): string {
  const words = uses.map(
    ({ measure, limit, spent, reserved }) =>
      `${amountWords(measure, spent + reserved)} of ${amountWords(measure, limit)}`,
  );
  return words.length === 0 ? 'none' : words.join(', ');
}

function amountWords(measure: BudgetUse['measure'], amount: number): string {
  switch (measure) {
    case 'usd':
      return `$${amount.toFixed(2)}`;
    case 'ms':
      return `${(amount / 60_000).toFixed(1)} min`;
    case 'tokens':
      return `${amount} tokens`;
    case 'calls':
      return amount === 1 ? '1 call' : `${amount} calls`;
  }
}
