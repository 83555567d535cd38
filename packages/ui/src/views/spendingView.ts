import type { PipelineRunInfo, Run } from '@devs/core';

/** What a part of a run has used. */
export interface Spent {
  readonly name: string;
  readonly cost: PipelineRunInfo['cost'];
}

/** What a run has used, told in two ways: each adds up to the cost of the run. */
export interface SpendingView {
  /** By what was done, such as `implement`: the dearest first. */
  readonly stages: readonly Spent[];
  /** By task, in the order in which they began; `run` for what is of none. */
  readonly tasks: readonly Spent[];
}

export function spendingView(steps: Awaited<ReturnType<Run['steps']>>): SpendingView {
  return {
    stages: [...sums(steps, ({ name }) => name)].sort(dearestFirst),
    tasks: sums(steps, ({ task }) => task ?? 'run'),
  };
}

function sums(
  steps: Awaited<ReturnType<Run['steps']>>,
  partOf: (step: Awaited<ReturnType<Run['steps']>>[number]) => string,
): readonly Spent[] {
  const parts = new Map<string, PipelineRunInfo['cost']>();
  for (const step of steps) {
    const before = parts.get(partOf(step));
    parts.set(partOf(step), before === undefined ? step.cost : addCosts(before, step.cost));
  }
  return [...parts].filter(([, cost]) => !isZeroCost(cost)).map(([name, cost]) => ({ name, cost }));
}

const addCosts = (a: PipelineRunInfo['cost'], b: PipelineRunInfo['cost']): PipelineRunInfo['cost'] => ({
  tokensIn: a.tokensIn + b.tokensIn,
  tokensOut: a.tokensOut + b.tokensOut,
  costUsd: a.costUsd + b.costUsd,
  calls: a.calls + b.calls,
  unpriced: a.unpriced + b.unpriced,
});

const isZeroCost = (cost: PipelineRunInfo['cost']): boolean =>
  Object.values(cost).every((figure) => figure === 0);

const dearestFirst = (a: Spent, b: Spent): number =>
  b.cost.costUsd - a.cost.costUsd || totalTokens(b.cost) - totalTokens(a.cost);

const totalTokens = ({ tokensIn, tokensOut }: PipelineRunInfo['cost']): number => tokensIn + tokensOut;
