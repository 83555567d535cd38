import type { GraphState } from '../types.ts';

/** Equal errors in a row from which a new strategy is asked for. Source: 9_ROADMAP-REQ-012. */
export const CONSECUTIVE_ERROR_PIVOT_THRESHOLD = 3;

export type ErrorRoute = 'pivot_agent' | 'implement';
export type RecoveryRoute = ErrorRoute | 'research' | 'design' | 'distill';

/** After the same error {@link CONSECUTIVE_ERROR_PIVOT_THRESHOLD} times in a row a pivot, else another try. */
export function routeAfterError({ errorHistory }: GraphState): ErrorRoute {
  const count = errorHistory.at(-1)?.consecutiveCount ?? 0;
  return count >= CONSECUTIVE_ERROR_PIVOT_THRESHOLD ? 'pivot_agent' : 'implement';
}

/** {@link routeAfterError}, where another try of a stage before the tasks leads back to that stage. */
export function routeRecovery(state: GraphState): RecoveryRoute {
  const route = routeAfterError(state);
  const source = state.errorHistory.at(-1)?.sourceNode;
  const isStage = source === 'research' || source === 'design' || source === 'distill';
  return route === 'implement' && isStage ? source : route;
}
