import type { EditRecord, GraphState, HitlDecisionRecord, HitlGate, ProjectStatus } from '../types.ts';
import type { EditedGate, GateDecision } from './askForApproval.ts';

/** The new version, as the state holds it. */
interface NewVersion {
  readonly update: Partial<GraphState>;
  readonly record: EditRecord;
}

/** The state after a human changed what a gate shows: the new version, with its author, and the gate still open. */
export function recordEdit(
  { hitlDecisions }: GraphState,
  gate: HitlGate,
  { artifactHash, edit: { editedBy, editedAt } }: EditedGate,
  { update, record }: NewVersion,
): Partial<GraphState> {
  const signal = { approved: false, approvedBy: editedBy, approvedAt: editedAt };
  const decision = { gate, signal, decidedAt: editedAt, artifactHash, edit: record };
  return { ...update, hitlDecisions: [...hitlDecisions, decision] };
}

/** The state after a gate was decided: the decision appended, the gate closed, a rejection counted. */
export function withDecision(
  state: GraphState,
  gate: HitlGate,
  { signal, ...about }: GateDecision & Pick<HitlDecisionRecord, 'lastTaskNumber'>,
  status: { readonly approved: ProjectStatus; readonly rejected: ProjectStatus },
): Partial<GraphState> {
  const decidedAt = signal.approvedAt ?? new Date().toISOString();
  const next = signal.approved ? status.approved : status.rejected;
  return {
    hitlDecisions: [...state.hitlDecisions, { gate, signal, decidedAt, ...about }],
    pendingApprovalGate: null,
    status: next,
    projectConfig: { ...state.projectConfig, status: next },
    ...(!signal.approved && { rejections: { ...state.rejections, [gate]: state.rejections[gate] + 1 } }),
  };
}
