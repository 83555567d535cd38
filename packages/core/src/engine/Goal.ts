import type { NodeStore } from '../state/RunStore.ts';

/** How far a run is driven. Plain JSON; its form belongs to the graph. */
export type Goal = Readonly<Record<string, unknown>>;

/** How a graph that can be driven to a goal reads it. Pure. */
export interface GoalReader {
  /** Nodes after which a goal may be reached: the driver looks there. */
  readonly nodes: readonly string[];
  /** A goal in words. */
  words(goal: Goal): string;
  /** In words, once the goal is reached or never can be; `null` before. */
  reached(values: unknown, goal: Goal): string | null;
}

/** Of a graph that is always driven as far as it goes. */
export const NO_GOALS: GoalReader = { nodes: [], words: () => 'to its end', reached: () => null };

/** The goal in a run's record; `null` where it is driven as far as it goes. */
export function recordedGoal(runs: Pick<NodeStore, 'policyOf'>, threadId: string): Goal | null {
  return (runs.policyOf(threadId, 'goal') as Goal | undefined) ?? null;
}
