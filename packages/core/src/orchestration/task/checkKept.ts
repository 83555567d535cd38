import type { CheckResult } from '../ports.ts';
import type { CheckedTree, GraphState } from '../types.ts';

/** Of a check's output, in characters: its end says what failed. */
const OUTPUT_KEPT = 4_000;

/** A check as the state of a run keeps it. */
export function checkKept(tree: string, check: CheckResult): CheckedTree {
  return { tree, check: { ...check, output: check.output.slice(-OUTPUT_KEPT) } };
}

/** What the checks said of a tree, where that is still known; else `null`. */
export function checkOf({ tasks }: Pick<GraphState, 'tasks'>, tree: string): CheckResult | null {
  return tasks.findLast(({ green }) => green?.tree === tree)?.green?.check ?? null;
}
