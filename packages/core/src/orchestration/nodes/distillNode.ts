import type { PipelinePorts } from '../ports.ts';
import { StageView } from '../task/StageView.ts';
import { agentCall } from '../task/scrubbedStep.ts';
import { advance, isEpicOpen } from '../taskStates.ts';
import type { GraphState } from '../types.ts';
import { planFrom } from './plan.ts';
import {
  changesSince,
  isPlanProposed,
  keptIds,
  proposalRequest,
  proposedOn,
  rejectedPlan,
} from './proposals.ts';

/** `distill` without agents: starts the next open epic and announces the gate. */
export function distillNode(state: GraphState): Partial<GraphState> {
  return {
    ...advance(state, 'planning'),
    activeEpicId: state.epics.find(isEpicOpen)?.epicId ?? state.activeEpicId,
    pendingApprovalGate: 'dag_approval',
  };
}

/** `distill`: reads the approved documents, writes requirements, epics and the task DAG of the second gate. */
export function makeDistillNode(ports: PipelinePorts) {
  const { agents } = ports;
  return async (state: GraphState): Promise<Partial<GraphState>> => {
    if (isPlanProposed(state)) return distillNode(state);
    const view = await StageView.open(state, ports);
    const changes = await changesSince(state, 'dag_approval', view);
    const request = {
      ...proposalRequest(state, 'dag_approval'),
      ...view.seen,
      rejected: rejectedPlan(state),
      ...(changes.length > 0 && { changes }),
    };
    const draft = await view.ask('distill', (call) => agents.distill(request, agentCall(call)));
    const projectConfig = proposedOn(state, 'dag_approval', view);
    return distillUpdate({ ...state, projectConfig }, planFrom(state, draft, keptIds(state, draft)));
  };
}

function distillUpdate(state: GraphState, plan: ReturnType<typeof planFrom>): Partial<GraphState> {
  return { ...distillNode({ ...state, ...plan }), ...plan };
}
