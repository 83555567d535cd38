import { step } from '../../engine/node/step.ts';
import { agentCall } from '../task/agentCall.ts';
import type { PipelineDeps } from '../task/pipelineDeps.ts';
import { isEpicOpen } from '../taskStates.ts';
import type { GraphState } from '../types.ts';
import { advance } from './advance.ts';
import { proposalRequest } from './documents.ts';
import { planFrom } from './plan.ts';
import { isPlanProposed } from './proposals.ts';

/** `distill` without agents: takes up the next open epic and announces the gate. */
export function distillNode(state: GraphState): Partial<GraphState> {
  return {
    ...advance(state, 'planning'),
    activeEpicId: state.epics.find(isEpicOpen)?.epicId ?? state.activeEpicId,
    pendingApprovalGate: 'dag_approval',
  };
}

/** `distill`: reads the approved documents, writes requirements, epics and the task DAG of the second gate. */
export function makeDistillNode({ agents }: PipelineDeps) {
  return async (state: GraphState): Promise<Partial<GraphState>> => {
    if (isPlanProposed(state)) return distillNode(state);
    const request = proposalRequest(state, 'dag_approval');
    const draft = await step('distill', (call) => agents.distill(request, agentCall(call)));
    return distillUpdate(state, planFrom(state, draft));
  };
}

function distillUpdate(state: GraphState, plan: ReturnType<typeof planFrom>): Partial<GraphState> {
  return { ...distillNode({ ...state, ...plan }), ...plan };
}
