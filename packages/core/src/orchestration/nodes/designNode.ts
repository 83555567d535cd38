import { step } from '../../engine/node/step.ts';
import { agentCall } from '../task/agentCall.ts';
import type { PipelineDeps } from '../task/pipelineDeps.ts';
import type { GraphState } from '../types.ts';
import { advance } from './advance.ts';
import { proposalRequest, withDocuments } from './documents.ts';
import { isProposedAt } from './proposals.ts';

/** `design` without agents: moves the project on and announces the gate. */
export function designNode(state: GraphState): Partial<GraphState> {
  return { ...advance(state, 'specifying'), pendingApprovalGate: 'design_approval' };
}

/** `design`: reads brief, reports and a human's feedback, writes the documents of the first gate. */
export function makeDesignNode({ agents, now }: PipelineDeps) {
  return async (state: GraphState): Promise<Partial<GraphState>> => {
    if (isProposedAt(state, 'design_approval')) return designNode(state);
    const request = proposalRequest(state, 'design_approval');
    const { documents } = await step('design', (call) => agents.design(request, agentCall(call)));
    const at = new Date(now()).toISOString();
    return { ...designNode(state), documents: withDocuments(state, documents, at) };
  };
}
