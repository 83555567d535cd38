import type { GraphState } from '../types.ts';
import { towardsPivot } from './towardsPivot.ts';

/** Turns of one task before its strategy is changed. Source: 1_PRD-REQ-REL-002. */
export const MAX_IMPLEMENTATION_TURNS = 10;

/** Returns the update that requests a pivot after the last turn; `null` while turns are left. */
export function checkTurnBudget(state: GraphState): Partial<GraphState> | null {
  return state.implementationTurns < MAX_IMPLEMENTATION_TURNS ? null : towardsPivot(state);
}

export function incrementTurnBudget({ implementationTurns }: GraphState): Partial<GraphState> {
  return { implementationTurns: implementationTurns + 1 };
}

export function resetTurnBudget(): Partial<GraphState> {
  return { implementationTurns: 0 };
}
