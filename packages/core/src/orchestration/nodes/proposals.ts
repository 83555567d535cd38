import type { GraphState, HitlGate } from '../types.ts';

// A proposal that its gate was not asked about yet is not asked of an agent again: it was given when the run was
// started, or its stage was done before a guard stopped the run.

/** True when the run came, or was started, at a gate whose proposal nobody has decided on. */
export function isProposedAt(
  { pendingApprovalGate }: Pick<GraphState, 'pendingApprovalGate'>,
  gate: HitlGate,
): boolean {
  return pendingApprovalGate === gate;
}

/** True while there is a plan that was never decided on; it may have been given together with documents. */
export function isPlanProposed({
  tasks,
  hitlDecisions,
}: Pick<GraphState, 'tasks' | 'hitlDecisions'>): boolean {
  return tasks.length > 0 && !hitlDecisions.some(({ gate }) => gate === 'dag_approval');
}

/** True once there is nothing to find out: reports were written or declined, or what they are for was given. */
export function isResearched({
  status,
  pendingApprovalGate,
}: Pick<GraphState, 'status' | 'pendingApprovalGate'>): boolean {
  return status === 'researching' || pendingApprovalGate !== null;
}
