import { agentCall } from '../task/agentCall.ts';
import type { PipelineDeps } from '../task/pipelineDeps.ts';
import { StageView } from '../task/StageView.ts';
import type { GraphState } from '../types.ts';
import { advance } from './advance.ts';
import { briefOf, withDocuments } from './documents.ts';
import { isResearched } from './proposals.ts';

/** `research` without agents: only moves the project on. */
export function researchNode(state: GraphState): Partial<GraphState> {
  return advance(state, 'researching');
}

/** `research`: reads the brief, writes reports; nothing where what they are for was given. */
export function makeResearchNode(deps: PipelineDeps) {
  const { agents, now } = deps;
  return async (state: GraphState): Promise<Partial<GraphState>> => {
    if (isResearched(state)) return researchNode(state);
    const view = await StageView.open(state, deps);
    const request = { brief: briefOf(state), attempt: 1, ...view.seen };
    const { documents } = await view.ask('research', (call) => agents.research(request, agentCall(call)));
    const at = new Date(now()).toISOString();
    return { ...researchNode(state), documents: withDocuments(state, documents, at, 'research') };
  };
}
