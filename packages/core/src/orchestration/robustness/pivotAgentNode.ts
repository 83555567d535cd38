import { advance } from '../advance.ts';
import type { GraphState } from '../types.ts';
import { resetTurnBudget } from './turnBudget.ts';

/** The `pivot_agent` node without an agent: says that the strategy has to change, and ends there. The pivot is no more pending. */
export function pivotAgentNode(state: GraphState): Partial<GraphState> {
  return { ...advance(state, 'strategy_pivot'), ...resetTurnBudget(), pendingRecoveryNode: null };
}
