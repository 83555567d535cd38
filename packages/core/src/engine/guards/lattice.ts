// The guards of a run: their order, the levels they measure, and the events that follow.

import { BUDGET_MEASURE_NAMES, BUDGET_MEASURES, type BudgetMeasure } from '../../config/budgetMeasures.ts';
import { RECURSION_WARNING_RATIO } from '../../config/defaults.ts';
import type { EventScope, GuardEvidence, NewEvent } from '../../events/events.ts';
import { maskView } from '../../masking/maskView.ts';

/** The guards of a run, by what they do when they trip. */
type Guard = 'retry' | 'error' | 'pivot' | 'failure_gate' | 'budget' | 'depth';

/** What a guard counts or weighs. */
export type Measure =
  | 'attempts'
  | 'equal_errors'
  | 'turns'
  | 'same_output'
  | 'entropy'
  | 'pivots'
  | 'pivot_answers'
  | BudgetMeasure
  | 'depth'
  | 'refused_call';

/** One guard: what it measures, when it looks, and what tripping leads to. */
interface Rung {
  readonly guard: Guard;
  readonly measures: readonly Measure[];
  readonly looks: 'when a node throws' | 'when a node has returned' | 'before a call' | 'before a node';
  readonly leadsTo: string;
}

/**
 * Every guard, the one that goes first on top: of two that trip at the same point the upper one acts and the lower
 * one is logged as suppressed. A cheaper remedy is tried before a dearer one, and a human is the dearest.
 *
 * @see docs/internals/guards.md
 */
export const LATTICE: readonly Rung[] = [
  { guard: 'retry', measures: ['attempts'], looks: 'when a node throws', leadsTo: 'the error node' },
  {
    guard: 'error',
    measures: ['equal_errors'],
    looks: 'when a node throws',
    leadsTo: 'a pivot',
  },
  {
    guard: 'pivot',
    measures: ['turns', 'same_output'],
    looks: 'when a node has returned',
    leadsTo: 'a new strategy',
  },
  {
    guard: 'failure_gate',
    measures: ['entropy', 'pivots', 'pivot_answers'],
    looks: 'when a node has returned',
    leadsTo: 'a person: retry, skip or abort',
  },
  {
    guard: 'budget',
    measures: BUDGET_MEASURE_NAMES,
    looks: 'before a call',
    leadsTo: 'a person: raise or abort',
  },
  {
    guard: 'depth',
    measures: ['depth', 'refused_call'],
    looks: 'before a node',
    leadsTo: 'a person: continue or abort',
  },
];

/** The guard a measure belongs to. */
export function guardOf(measure: Measure): Guard {
  return (LATTICE[rankOf(measure)] as Rung).guard;
}

interface Precedence<Tripped> {
  readonly winner: Tripped;
  readonly suppressed: readonly Tripped[];
}

/** Who acts when several guards trip at one point; `null` when none did. Of one guard the first measure acts. */
export function precedence<Tripped extends { readonly measure: Measure }>(
  tripped: readonly Tripped[],
): Precedence<Tripped> | null {
  const [winner, ...suppressed] = tripped.toSorted((a, b) => rankOf(a.measure) - rankOf(b.measure));
  return winner === undefined ? null : { winner, suppressed };
}

function rankOf(measure: Measure): number {
  return LATTICE.findIndex(({ measures }) => measures.includes(measure));
}

/** What a guard measured, and why. */
export interface GuardLevel {
  readonly measure: Measure;
  readonly level: number;
  readonly limit: number;
  /**
   * Tells one firing from the next of the same measure and task: the same when a node runs again, another one once
   * the count has started anew.
   */
  readonly episode: string;
  /** Plain JSON a human can follow. */
  readonly evidence: Readonly<Record<string, unknown>>;
}

/** Measures that are no whole numbers. */
const FRACTIONAL: ReadonlySet<Measure> = new Set<Measure>([
  'entropy',
  ...BUDGET_MEASURE_NAMES.filter((measure) => BUDGET_MEASURES[measure].kind === 'money'),
]);

/** From which level a guard warns: 80 % of its limit, of whole numbers rounded up. */
export function warningLevel(measure: Measure, limit: number): number {
  const share = limit * RECURSION_WARNING_RATIO;
  return FRACTIONAL.has(measure) ? Number(share.toPrecision(12)) : Math.ceil(share);
}

/** Whether a level is worth a warning: near its limit and still below it. */
export function isNear({ measure, level, limit }: GuardLevel): boolean {
  return level < limit && level >= warningLevel(measure, limit);
}

/** The payload of a guard's event, masked. */
export function guardEvidence({ measure, level, limit, evidence }: GuardLevel): GuardEvidence {
  const shown = maskView(evidence) as GuardLevel['evidence'];
  return { guard: guardOf(measure), measure, level, limit, evidence: shown };
}

type GuardEventName = 'GUARD_WARNED' | 'GUARD_TRIPPED' | 'GUARD_SUPPRESSED';

/** What a guard found at the end of a visit. */
export interface GuardFinding {
  readonly event: GuardEventName;
  readonly level: GuardLevel;
}

/** The event of a guard. Over kills and repeated executions it is told once per run, task and episode. */
export function guardFact({ event, level }: GuardFinding, scope: EventScope): NewEvent {
  const once = [event, level.measure, scope.taskId ?? '', level.episode].join('/');
  return { name: event, payload: guardEvidence(level), scope, once };
}

/** The warning a level is worth, if any. */
export function warningOf(level: GuardLevel): readonly GuardFinding[] {
  return isNear(level) ? [{ event: 'GUARD_WARNED', level }] : [];
}

/** @throws RangeError if a score or threshold is no number in [0, 1]; NaN is none. */
export function assertUnitInterval(name: string, value: unknown): void {
  if (typeof value === 'number' && value >= 0 && value <= 1) return;
  throw new RangeError(`Expected ${name} to be in [0, 1], got ${String(value)}.`);
}
