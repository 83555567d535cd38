import type { GateAnswer } from '../engine/DurableApp.ts';
import type { Gate } from '../engine/Gate.ts';

/** The human of tests. */
export const TESTER = { kind: 'human', id: 'tester' } as const;

/** What says "go on" to a gate of each kind; one that is not named is approved. */
const YES: { readonly [Kind in Gate['kind']]?: Omit<GateAnswer, 'by'> } = {
  interrupt: { value: true },
  task_failure: { action: 'retry' },
  recursion_limit: { action: 'continue' },
  step: { action: 'use' },
};

/**
 * The answer that lets a run go on.
 *
 * @throws TypeError at a budget: how much more there is to spend is nobody's default.
 */
export function yesTo({ kind }: Pick<Gate, 'kind'>): Omit<GateAnswer, 'by'> {
  if (kind === 'budget') throw new TypeError("Say how much: answer(gate, { action: 'raise', usd: 1 }).");
  return YES[kind] ?? { approved: true };
}
