import type { Run } from '@devs/core';
import { columns, type Line } from '../terminal/Line.ts';
import { formatMoney } from './renderStatus.ts';

type Step = Awaited<ReturnType<Run['steps']>>[number];

/** What a stage took; `task` is `null` outside of tasks. */
interface Spent extends Readonly<Step['cost']> {
  readonly task: string | null;
  readonly stage: string;
}

/** What each stage of each task took, in the order in which they began. */
export function spentByStage(steps: readonly Step[]): readonly Spent[] {
  const parts = new Map<string, Spent>();
  for (const { task, node, name, cost } of steps) {
    if (cost.requests === 0) continue;
    // The step `call` is all that its node asks of an agent; that of a person's question is named by it.
    const stage = name === 'call' || node === 'ask' ? node : name;
    const key = JSON.stringify([task, stage]);
    const before = parts.get(key);
    parts.set(key, { task, stage, ...(before === undefined ? cost : added(before, cost)) });
  }
  return [...parts.values()];
}

/** As a table: requests, tokens, cost. Empty where nothing was asked. */
export function spendingLines(spent: readonly Spent[]): readonly Line[] {
  if (spent.length === 0) return [];
  const rows = spent.map(({ task, stage, ...cost }) => [
    task ?? '-',
    stage,
    `${cost.requests}`,
    `${cost.tokensIn}`,
    `${cost.tokensOut}`,
    // Of a call that failed it is not known whether it cost something.
    cost.calls === 0 && cost.costUsd === 0 ? 'unknown' : formatMoney(cost),
  ]);
  return columns([['task', 'stage', 'requests', 'tokens in', 'out', 'cost'], ...rows]);
}

const added = (one: Step['cost'], other: Step['cost']): Step['cost'] => ({
  tokensIn: one.tokensIn + other.tokensIn,
  tokensOut: one.tokensOut + other.tokensOut,
  costUsd: one.costUsd + other.costUsd,
  calls: one.calls + other.calls,
  requests: one.requests + other.requests,
  unpriced: one.unpriced + other.unpriced,
});
