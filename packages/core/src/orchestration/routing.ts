import { END } from '@langchain/langgraph';
import { isDagApproved } from './gates/artifacts.ts';
import { isProposedAt } from './nodes/proposals.ts';
import { routeRecovery } from './robustness.ts';
import { activeTask, firstReadyTask, isEpicOpen } from './taskStates.ts';
import type { GraphState, HitlDecisionRecord, HitlGate } from './types.ts';

// Every router of the pipeline: state in, node name out. First match wins; the order is the contract.
// Rule 0 everywhere: a pending suspension leads to a node whose entry can ask, or the question would be dropped at END.

/** Nodes whose entry asks the question of a pending suspension. */
export type AskingNode = 'research' | 'design' | 'distill' | 'implement';

export type VerifyRoute = 'pivot_agent' | 'implement' | 'research' | 'design' | 'distill' | typeof END;

/** A plan that was given without documents goes to its own gate: there is nothing to design. */
export function routeAfterResearch(state: GraphState): AskingNode {
  return suspendedAt(state) ?? (isProposedAt(state, 'dag_approval') ? 'distill' : 'design');
}

export function routeAfterDesign(state: GraphState): AskingNode | 'approveDesign' {
  return suspendedAt(state) ?? 'approveDesign';
}

export function routeAfterApproveDesign(state: GraphState): AskingNode | 'approveDesign' {
  const asking = suspendedAt(state);
  if (asking !== null) return asking;
  if (wasEdited(state, 'design_approval')) return 'approveDesign';
  return isLastApproved(state, 'design_approval') ? 'distill' : 'design';
}

export function routeAfterDistill(state: GraphState): AskingNode | 'approveTaskDag' {
  return suspendedAt(state) ?? 'approveTaskDag';
}

export function routeAfterApproveTaskDag(state: GraphState): AskingNode | 'approveTaskDag' {
  const asking = suspendedAt(state);
  if (asking !== null) return asking;
  if (wasEdited(state, 'dag_approval')) return 'approveTaskDag';
  return isLastApproved(state, 'dag_approval') ? 'implement' : 'distill';
}

export function routeAfterImplement(state: GraphState): AskingNode | 'verify' | 'pivot_agent' {
  return suspendedAt(state) ?? (state.pendingRecoveryNode === 'pivot_agent' ? 'pivot_agent' : 'verify');
}

/** Returns the node after `verify`. */
export function routeAfterVerify(state: GraphState): VerifyRoute {
  const asking = suspendedAt(state);
  if (asking !== null) return asking;
  if (state.pendingRecoveryNode === 'pivot_agent') return 'pivot_agent';
  if (activeTask(state)?.status === 'failed') return 'implement';
  if (firstReadyTask(state) !== null && isDagApproved(state)) return 'implement';
  return state.epics.some(isEpicOpen) ? 'distill' : END;
}

/** A pivot that found a new strategy goes on; one that found none ends the run with `strategy_pivot`. */
export function routeAfterPivot(state: GraphState): AskingNode | typeof END {
  const asking = suspendedAt(state);
  if (asking !== null) return asking;
  return state.pendingRecoveryNode === null && state.status !== 'strategy_pivot' ? 'implement' : END;
}

export function routeAfterErrorNode(state: GraphState): AskingNode | 'pivot_agent' {
  return suspendedAt(state) ?? routeRecovery(state);
}

function suspendedAt({ pendingSuspension }: GraphState): AskingNode | null {
  // `== null`: a caller of an exported router may leave the channel out.
  if (pendingSuspension == null) return null;
  const { node } = pendingSuspension;
  return node === 'research' || node === 'design' || node === 'distill' ? node : 'implement';
}

/** By the last decision of the gate; none means no. */
function isLastApproved(state: GraphState, gate: HitlGate): boolean {
  return lastGateDecision(state, gate)?.signal.approved === true;
}

/** A human put a version of their own in the place of what was shown; it is not decided yet. */
function wasEdited(state: GraphState, gate: HitlGate): boolean {
  return lastGateDecision(state, gate)?.edit !== undefined;
}

const lastGateDecision = ({ hitlDecisions }: GraphState, gate: HitlGate): HitlDecisionRecord | undefined =>
  hitlDecisions.findLast((decision) => decision.gate === gate);
