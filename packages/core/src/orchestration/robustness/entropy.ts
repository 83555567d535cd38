import type { EntropyRecord, GraphState } from '../types.ts';

/** Identical outputs of one task that count as a loop. */
export const ENTROPY_LOOP_THRESHOLD = 3;

/** Outputs kept in the state. */
const OUTPUTS_KEPT = 20;

/** The outputs of an episode with one more, oldest first: each knows how often it was seen until then. */
export function withOutput(
  { entropy }: Pick<GraphState, 'entropy'>,
  taskId: string,
  output: Pick<EntropyRecord, 'outputHash' | 'seenAt'>,
): readonly EntropyRecord[] {
  const last = entropy.findLast(
    (record) => record.taskId === taskId && record.outputHash === output.outputHash,
  );
  return [...entropy, { ...output, taskId, loopCount: (last?.loopCount ?? 0) + 1 }].slice(-OUTPUTS_KEPT);
}

/** Returns true if the active task has produced the same output {@link ENTROPY_LOOP_THRESHOLD} times. */
export function detectEntropy({ activeTaskId, entropy }: GraphState): boolean {
  if (activeTaskId === null) return false;
  return entropy.some(
    ({ taskId, loopCount }) => taskId === activeTaskId && loopCount >= ENTROPY_LOOP_THRESHOLD,
  );
}
