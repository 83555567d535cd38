/** The guards of a run, by what they do when they trip. */
export type Guard = 'retry' | 'error' | 'pivot' | 'failure_gate' | 'budget' | 'depth';

/** What a guard counts or weighs. */
export type Measure =
  | 'attempts'
  | 'equal_errors'
  | 'turns'
  | 'same_output'
  | 'entropy'
  | 'pivots'
  | 'pivot_answers'
  | 'usd'
  | 'tokens'
  | 'calls'
  | 'ms'
  | 'depth';

/** One guard: what it measures, when it looks, and what tripping leads to. */
export interface Rung {
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
    measures: ['usd', 'tokens', 'calls', 'ms'],
    looks: 'before a call',
    leadsTo: 'a person: raise or abort',
  },
  { guard: 'depth', measures: ['depth'], looks: 'before a node', leadsTo: 'a person: continue or abort' },
];

/** The guard a measure belongs to. */
export function guardOf(measure: Measure): Guard {
  return (LATTICE[rankOf(measure)] as Rung).guard;
}

export interface Precedence<Tripped> {
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
