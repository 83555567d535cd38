/** Limits on the use of a run or a task before it asks. */
export interface BudgetLimits {
  /** US dollars. */
  readonly usd?: number;
  /** Input and output tokens together. */
  readonly tokens?: number;
  /** Number of requests to models; a call that reports none counts as one, and twice if it threw and was repeated. */
  readonly calls?: number;
  /** Active time in milliseconds. Time spent waiting for people does not count. */
  readonly ms?: number;
}

export type BudgetMeasure = keyof BudgetLimits;

/** All that is fixed about a measure of budgets, but how its use is counted: that is in `engine/guards/Budget.ts`. */
export interface BudgetMeasureForm {
  /** Money has fractions. A count and a time are whole numbers, and a time is in milliseconds. */
  readonly kind: 'money' | 'count' | 'time';
  /** Unit of an amount. */
  readonly unit: string;
  /** Unit of the amount 1. @defaultValue `unit` */
  readonly one?: string;
  /** Its name in the options `--budget-…` and `--raise-…`. */
  readonly flag: string;
  /** Its name in the log of a run. */
  readonly words: string;
  /** Comment of its member in a configuration. */
  readonly member: string;
  /** Help of the two options. */
  readonly help: { readonly limit: string; readonly raise: string };
  /** Whether the use of a child run counts in the runs above it, too. */
  readonly countsAbove: boolean;
}

/**
 * The measures of budgets, in the order in which a limit that was passed is named first. Schemas, guards, gates, events, and
 * the options of the command line are made from this table.
 */
export const BUDGET_MEASURES: Readonly<Record<BudgetMeasure, BudgetMeasureForm>> = {
  usd: {
    kind: 'money',
    unit: 'US dollars',
    flag: 'usd',
    words: 'cost in US dollars',
    member: 'US dollars.',
    help: {
      limit: 'ask a person when the cost reaches this many US dollars; recorded with the run',
      raise: 'add this many US dollars',
    },
    countsAbove: true,
  },
  tokens: {
    kind: 'count',
    unit: 'tokens',
    flag: 'tokens',
    words: 'tokens',
    member: 'Input and output tokens together.',
    help: { limit: 'ask a person after this many tokens, input and output', raise: 'add this many tokens' },
    countsAbove: true,
  },
  calls: {
    kind: 'count',
    unit: 'requests',
    one: 'request',
    flag: 'calls',
    words: 'requests',
    member: 'Requests of agents to models.',
    help: { limit: 'ask a person after this many requests to models', raise: 'add this many requests' },
    countsAbove: true,
  },
  ms: {
    kind: 'time',
    unit: 'milliseconds',
    flag: 'time',
    words: 'active time in ms',
    member: 'Active time in milliseconds.',
    help: {
      limit: 'ask a person after this much active time, such as 90s, 30m or 2h',
      raise: 'add this much active time, such as 30m',
    },
    // Child runs and their parent are active at the same time.
    countsAbove: false,
  },
};

/** In the order of the table. */
export const BUDGET_MEASURE_NAMES: readonly BudgetMeasure[] = Object.keys(BUDGET_MEASURES) as BudgetMeasure[];

/** An object with a member for each measure. */
export function eachMeasure<Member>(
  of: (form: BudgetMeasureForm, measure: BudgetMeasure) => Member,
): Readonly<Record<BudgetMeasure, Member>> {
  const members = BUDGET_MEASURE_NAMES.map(
    (measure) => [measure, of(BUDGET_MEASURES[measure], measure)] as const,
  );
  return Object.fromEntries(members) as Record<BudgetMeasure, Member>;
}
