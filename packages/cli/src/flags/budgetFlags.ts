// The options of budgets: for each measure `--budget-…` of a run, and `--raise-…` at the gate of a budget.
import type { Budget } from '@devs/core';
import { BUDGET_MEASURES } from '@devs/core/internal';
import type { Command } from 'commander';
import { toAmount, toMilliseconds } from './optionValues.ts';

/** Limits of a run by their options, such as `budgetUsd`. */
export interface BudgetFlags {
  readonly [option: `budget${string}`]: number | undefined;
}

/** Amounts that are added to limits, by their options, such as `raiseUsd`. */
export interface RaiseFlags {
  readonly [option: `raise${string}`]: number | undefined;
}

/** Amounts of each kind on a command line. */
const AMOUNTS = {
  money: { argument: 'amount', parse: toAmount },
  count: { argument: 'count', parse: toAmount },
  time: { argument: 'length', parse: toMilliseconds },
} as const;

export const addBudgetOptions = (command: Command): Command =>
  addOptions(command, 'budget', ({ limit }) => limit);

export const addRaiseOptions = (command: Command): Command =>
  addOptions(command, 'raise', ({ raise }) => `budget: ${raise}`);

function addOptions(
  command: Command,
  verb: 'budget' | 'raise',
  helpOf: (help: (typeof BUDGET_MEASURES)['usd']['help']) => string,
): Command {
  for (const { flag, help, kind } of Object.values(BUDGET_MEASURES)) {
    const { argument, parse } = AMOUNTS[kind];
    command.option(`--${verb}-${flag} <${argument}>`, helpOf(help), parse);
  }
  return command;
}

/** The limits that options name; `undefined` without any. */
export function budgetFrom(flags: BudgetFlags): Budget | undefined {
  return amountsFrom((flag) => flags[optionOf('budget', flag)]);
}

/** The amounts to add that options name, by measure; `undefined` without any. */
export function raiseFrom(flags: RaiseFlags): Budget | undefined {
  return amountsFrom((flag) => flags[optionOf('raise', flag)]);
}

/** The name that `--budget-FLAG` or `--raise-FLAG` has among the options of a command. */
export function optionOf<Verb extends 'budget' | 'raise'>(verb: Verb, flag: string): `${Verb}${string}` {
  const words = flag.split('-').map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return `${verb}${words.join('')}`;
}

function amountsFrom(amountOf: (flag: string) => number | undefined): Budget | undefined {
  const given = Object.entries(BUDGET_MEASURES).flatMap(([measure, { flag }]) => {
    const amount = amountOf(flag);
    return amount === undefined ? [] : [[measure, amount] as const];
  });
  return given.length === 0 ? undefined : Object.fromEntries(given);
}
