import { activeVisit } from '../../engine/node/activeVisit.ts';
import { step } from '../../engine/node/step.ts';
import { agentCall } from '../task/agentCall.ts';
import type { PipelineDeps } from '../task/pipelineDeps.ts';
import type { GraphState } from '../types.ts';
import { advance } from './advance.ts';
import { briefOf, withDocuments } from './documents.ts';
import { isResearched } from './proposals.ts';
import { takeBaseline } from './takeBaseline.ts';

/** `research` without agents: only moves the project on. */
export function researchNode(state: GraphState): Partial<GraphState> {
  return advance(state, 'researching');
}

/**
 * `research`: has the checks run on the untouched tree, then reads the brief and writes reports; none where what they are
 * for was given. Red checks suspend the run before anything is paid.
 */
export function makeResearchNode(deps: PipelineDeps) {
  return async (given: GraphState): Promise<Partial<GraphState>> => {
    const taken = given.projectConfig.baseline === undefined ? await takeBaseline(given, deps) : null;
    const { baseline = given.projectConfig.baseline, red = null } = taken ?? {};
    const projectConfig = { ...given.projectConfig, ...(baseline && { baseline }) };
    const state: GraphState = { ...given, projectConfig };
    if (red !== null) return { projectConfig, pendingSuspension: redBaseline(state, red) };
    return research(state, deps);
  };
}

async function research(state: GraphState, { agents, now }: PipelineDeps): Promise<Partial<GraphState>> {
  if (isResearched(state)) return researchNode(state);
  const request = { brief: briefOf(state), attempt: 1 };
  const { documents } = await step('research', (call) => agents.research(request, agentCall(call)));
  const at = new Date(now()).toISOString();
  return { ...researchNode(state), documents: withDocuments(state, documents, at) };
}

/** Asked at the entry of the next visit; one question per visit that found it red. */
function redBaseline(
  { projectConfig: { projectId } }: GraphState,
  checkOutput: string,
): GraphState['pendingSuspension'] {
  const { lgTaskId } = activeVisit('research').visit;
  return {
    sessionId: `baseline/${lgTaskId}`,
    kind: 'baseline',
    taskId: projectId,
    node: 'research',
    checkOutput,
  };
}
