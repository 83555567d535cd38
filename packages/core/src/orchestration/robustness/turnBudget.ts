import type { GraphState } from '../types.ts';

/** Turns one task may take before its strategy is changed. Source: 1_PRD-REQ-REL-002. */
export const MAX_IMPLEMENTATION_TURNS = 10;

/** The update that asks for a pivot when the budget is spent; `null` while turns are left. */
export function checkTurnBudget({ implementationTurns }: GraphState): Partial<GraphState> | null {
  if (implementationTurns < MAX_IMPLEMENTATION_TURNS) return null;
  return { status: 'strategy_pivot', pendingRecoveryNode: 'pivot_agent' };
}

export function incrementTurnBudget({ implementationTurns }: GraphState): Partial<GraphState> {
  return { implementationTurns: implementationTurns + 1 };
}

export function resetTurnBudget(): Partial<GraphState> {
  return { implementationTurns: 0 };
}
