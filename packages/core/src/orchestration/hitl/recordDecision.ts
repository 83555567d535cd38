import type { GraphState, HitlGate, ProjectStatus } from '../types.ts';
import type { Approval } from './askForApproval.ts';

/** The state after a gate was decided: the decision appended, the gate closed, a rejection counted. */
export function recordDecision(
  state: GraphState,
  gate: HitlGate,
  { signal, artifactHash }: Approval,
  status: { readonly approved: ProjectStatus; readonly rejected: ProjectStatus },
): Partial<GraphState> {
  const decidedAt = signal.approvedAt ?? new Date().toISOString();
  const next = signal.approved ? status.approved : status.rejected;
  return {
    hitlDecisions: [...state.hitlDecisions, { gate, signal, decidedAt, artifactHash }],
    pendingApprovalGate: null,
    status: next,
    projectConfig: { ...state.projectConfig, status: next },
    ...(!signal.approved && { rejections: { ...state.rejections, [gate]: state.rejections[gate] + 1 } }),
  };
}
