import type { PipelineRunInfo } from '@devs/core';
import { BUDGET_MEASURES } from '@devs/core/internal';
import type { PassedBudget } from '../gates/passedBudget.ts';
import { columns, type Line } from '../terminal/Line.ts';
import { taskLabelOrEmpty } from './sentence.ts';

/** Which call was not made, and how each limit stands to it. */
export function passedBudgetLines({ node, step, limits }: PassedBudget): readonly Line[] {
  const rows = limits.map(({ taskId, measure, limit, spent, reserved, next }) => [
    taskId === null ? 'run' : taskLabelOrEmpty(taskId) || taskId,
    ...[limit, spent, reserved, next].map((amount) => formatAmount(measure, amount)),
  ]);
  return [
    `blocked call: ${step} of ${node}`,
    ...columns([['of', 'limit', 'used', 'reserved', 'next call'], ...rows]),
    '',
  ];
}

/** `$1.20 of $5.00, 14 requests of 60 requests`; `none` without a limit. Of money that is not known in full, what is known. */
export function formatBudget(
  uses: readonly PipelineRunInfo['budget'][number][],
  { unpriced, costUsd }: Pick<PipelineRunInfo['cost'], 'unpriced' | 'costUsd'>,
): string {
  const words = uses.map(({ measure, limit, spent, reserved }) => {
    const used = formatAmount(measure, spent + reserved);
    const known = measure !== 'usd' || unpriced === 0 ? used : costUsd === 0 ? 'unknown' : `at least ${used}`;
    return `${known} of ${formatAmount(measure, limit)}`;
  });
  return words.length === 0 ? 'none' : words.join(', ');
}

function formatAmount(measure: PipelineRunInfo['budget'][number]['measure'], amount: number): string {
  const { kind, unit, one = unit } = BUDGET_MEASURES[measure];
  switch (kind) {
    case 'money':
      return `$${amount.toFixed(2)}`;
    case 'time':
      return `${(amount / 60_000).toFixed(1)} min`;
    case 'count':
      return `${amount} ${amount === 1 ? one : unit}`;
  }
}

export const formatCalls = (calls: number): string => `${calls} ${calls === 1 ? 'call' : 'calls'}`;

/** What was spent is never shown as nothing. */
export function formatUsd(amount: number): string {
  const isSmall = amount > 0 && amount < 0.01;
  return isSmall && amount < 0.0001 ? 'less than $0.0001' : `$${amount.toFixed(isSmall ? 4 : 2)}`;
}
