import { activeNode } from '../../engine/node/nodeContext.ts';
import { advance } from '../advance.ts';
import { agentCall } from '../task/agentCall.ts';
import type { PipelineDeps } from '../task/pipelineDeps.ts';
import { StageView } from '../task/StageView.ts';
import type { GraphState } from '../types.ts';
import { briefOf, withDocuments } from './documents.ts';
import { isResearched } from './proposals.ts';
import { recordBaseline } from './recordBaseline.ts';

/** `research` without agents: only advances the project. */
export function researchNode(state: GraphState): Partial<GraphState> {
  return advance(state, 'researching');
}

/**
 * `research`: has the checks run on the untouched tree, then reads the brief and writes reports; none where what they are
 * for was given. Red checks suspend the run before anything is paid.
 */
export function makeResearchNode(deps: PipelineDeps) {
  return async (given: GraphState): Promise<Partial<GraphState>> => {
    const taken = given.projectConfig.baseline === undefined ? await recordBaseline(given, deps) : null;
    const { baseline = given.projectConfig.baseline, red = null } = taken ?? {};
    const { failedBefore: _, ...config } = given.projectConfig;
    const projectConfig = { ...config, ...(baseline && { baseline }) };
    const state: GraphState = { ...given, projectConfig };
    if (red !== null) return { projectConfig, pendingSuspension: redBaseline(state, red) };
    return research(state, deps);
  };
}

async function research(state: GraphState, deps: PipelineDeps): Promise<Partial<GraphState>> {
  const { agents, now } = deps;
  if (isResearched(state)) return researchNode(state);
  const view = await StageView.open(state, deps);
  const request = { brief: briefOf(state), attempt: 1, ...view.seen };
  const { documents } = await view.ask('research', (call) => agents.research(request, agentCall(call)));
  const at = new Date(now()).toISOString();
  return { ...researchNode(state), documents: withDocuments(state, documents, at, 'research') };
}

/** Asked at the entry of the next visit; one question per visit that found it red. */
function redBaseline(
  { projectConfig: { projectId } }: GraphState,
  checkOutput: string,
): GraphState['pendingSuspension'] {
  const { lgTaskId } = activeNode('research').visit;
  return {
    sessionId: `baseline/${lgTaskId}`,
    kind: 'baseline',
    taskId: projectId,
    node: 'research',
    checkOutput,
  };
}
