// The options of budgets: for each measure `--budget-…` of a run, and `--raise-…` at the gate of a budget.
import type { Budget } from '@devs/core';
import {
  BUDGET_MEASURE_NAMES,
  BUDGET_MEASURES,
  type BudgetLimits,
  type BudgetMeasure,
  type BudgetMeasureForm,
} from '@devs/core/internal';
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
  helpOf: (help: BudgetMeasureForm['help']) => string,
): Command {
  for (const { flag, help, kind } of BUDGET_MEASURE_NAMES.map((measure) => BUDGET_MEASURES[measure])) {
    const { argument, parse } = AMOUNTS[kind];
    command.option(`--${verb}-${flag} <${argument}>`, helpOf(help), parse);
  }
  return command;
}

/** The limits that options name; `undefined` without any. */
export function budgetFrom(flags: BudgetFlags): Budget | undefined {
  return amountsFrom((measure) => flags[optionOf('budget', measure)]);
}

/** The amounts to add that options name; `undefined` without any. */
export function raiseFrom(flags: RaiseFlags): BudgetLimits | undefined {
  return amountsFrom((measure) => flags[optionOf('raise', measure)]);
}

/** The name that an option of a measure has among the flags. */
export function optionOf<Verb extends 'budget' | 'raise'>(
  verb: Verb,
  measure: BudgetMeasure,
): `${Verb}${string}` {
  const words = BUDGET_MEASURES[measure].flag.split('-');
  return `${verb}${words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')}`;
}

function amountsFrom(amountOf: (measure: BudgetMeasure) => number | undefined): BudgetLimits | undefined {
  const given = BUDGET_MEASURE_NAMES.flatMap((measure) => {
    const amount = amountOf(measure);
    return amount === undefined ? [] : [[measure, amount] as const];
  });
  return given.length === 0 ? undefined : Object.fromEntries(given);
}
