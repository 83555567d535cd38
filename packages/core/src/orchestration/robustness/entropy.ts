import type { GraphState } from '../types.ts';

/** Identical outputs of one task from which it counts as looping. */
export const ENTROPY_LOOP_THRESHOLD = 3;

/** True when the active task has produced one and the same output {@link ENTROPY_LOOP_THRESHOLD} times. */
export function detectEntropy({ activeTaskId, entropy }: GraphState): boolean {
  if (activeTaskId === null) return false;
  return entropy.some(
    ({ taskId, loopCount }) => taskId === activeTaskId && loopCount >= ENTROPY_LOOP_THRESHOLD,
  );
}
