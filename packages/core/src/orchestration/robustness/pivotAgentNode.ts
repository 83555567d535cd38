import type { GraphState } from '../types.ts';
import { resetTurnBudget } from './turnBudget.ts';

/** The `pivot_agent` node without an agent: says that the strategy has to change, and ends there. */
export function pivotAgentNode(_state: GraphState): Partial<GraphState> {
  return { status: 'strategy_pivot', ...resetTurnBudget() };
}
