import type { EntropyRecord, GraphState } from '../types.ts';

/** Identical outputs of one task from which it counts as looping. */
export const ENTROPY_LOOP_THRESHOLD = 3;

/** Outputs kept in the state. */
const OUTPUTS_KEPT = 20;

/** The outputs of an episode with one more: seen again, its count grows. */
export function withOutput(
  { entropy }: Pick<GraphState, 'entropy'>,
  taskId: string,
  output: Pick<EntropyRecord, 'outputHash' | 'seenAt'>,
): readonly EntropyRecord[] {
  const isSame = (record: EntropyRecord): boolean =>
    record.taskId === taskId && record.outputHash === output.outputHash;
  const loopCount = (entropy.find(isSame)?.loopCount ?? 0) + 1;
  const others = entropy.filter((record) => !isSame(record));
  return [...others, { ...output, taskId, loopCount }].slice(-OUTPUTS_KEPT);
}

/** True when the active task has produced one and the same output {@link ENTROPY_LOOP_THRESHOLD} times. */
export function detectEntropy({ activeTaskId, entropy }: GraphState): boolean {
  if (activeTaskId === null) return false;
  return entropy.some(
    ({ taskId, loopCount }) => taskId === activeTaskId && loopCount >= ENTROPY_LOOP_THRESHOLD,
  );
}
