import type { GraphState } from '../types.ts';

/** Equal errors in a row before a new strategy is requested. Source: 9_ROADMAP-REQ-012. */
export const CONSECUTIVE_ERROR_PIVOT_THRESHOLD = 3;

export type ErrorRoute = 'pivot_agent' | 'implement';
export type RecoveryRoute = ErrorRoute | 'research' | 'design' | 'distill';

/** Returns a pivot after {@link CONSECUTIVE_ERROR_PIVOT_THRESHOLD} equal errors in a row, else another attempt. */
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
