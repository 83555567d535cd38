import type { LangGraphRunnableConfig } from '@langchain/langgraph';
import { dagArtifact } from '../artifacts.ts';
import type { GraphState } from '../types.ts';
import { askForApproval } from './askForApproval.ts';
import { recordDecision } from './recordDecision.ts';

/** Gate after `distill`: a human approves the task DAG (on to `implement`) or sends it back (`distill`). */
export function approveTaskDagNode(state: GraphState, config?: LangGraphRunnableConfig): Partial<GraphState> {
  const approval = askForApproval(
    state,
    {
      gate: 'dag_approval',
      node: 'approveTaskDag',
      message: 'Read the tasks. Approve them to have them implemented, one commit each.',
      artifact: dagArtifact(state),
    },
    config,
  );
  return recordDecision(state, 'dag_approval', approval, { approved: 'implementing', rejected: 'planning' });
}
