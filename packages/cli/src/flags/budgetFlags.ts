import type { Budget } from '@devs/core';
import type { Command } from 'commander';
import { toAmount, toMilliseconds } from './optionValues.ts';

/** What `devs run` was told a run may use up. */
export interface BudgetFlags {
  readonly budgetUsd?: number;
  readonly budgetTokens?: number;
  readonly budgetCalls?: number;
  /** Milliseconds. */
  readonly budgetTime?: number;
}

export function addBudgetOptions(command: Command): Command {
  return command
    .option(
      '--budget-usd <amount>',
      'ask a person when the cost reaches this many US dollars; recorded with the run',
      toAmount,
    )
    .option('--budget-tokens <count>', 'ask a person after this many tokens, input and output', toAmount)
    .option('--budget-calls <count>', 'ask a person after this many agent calls', toAmount)
    .option(
      '--budget-time <length>',
      'ask a person after this much active time, such as 90s, 30m or 2h',
      toMilliseconds,
    );
}

/** The limits the flags name; `undefined` when they name none. */
export function budgetFrom(flags: BudgetFlags): Budget | undefined {
  const limits: Budget = {
    ...(flags.budgetUsd !== undefined && { usd: flags.budgetUsd }),
    ...(flags.budgetTokens !== undefined && { tokens: flags.budgetTokens }),
    ...(flags.budgetCalls !== undefined && { calls: flags.budgetCalls }),
    ...(flags.budgetTime !== undefined && { ms: flags.budgetTime }),
  };
  return Object.keys(limits).length === 0 ? undefined : limits;
}
