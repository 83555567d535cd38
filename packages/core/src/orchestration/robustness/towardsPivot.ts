import { advance } from '../advance.ts';
import type { GraphState } from '../types.ts';

/** The update that asks for a pivot. */
export function towardsPivot(state: GraphState): Partial<GraphState> {
  return { ...advance(state, 'strategy_pivot'), pendingRecoveryNode: 'pivot_agent' };
}
