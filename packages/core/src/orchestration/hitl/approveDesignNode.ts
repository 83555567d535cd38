import type { LangGraphRunnableConfig } from '@langchain/langgraph';
import { designArtifact } from '../artifacts.ts';
import type { GraphState } from '../types.ts';
import { askForApproval } from './askForApproval.ts';
import { recordDecision } from './recordDecision.ts';

/** Gate after `design`: a human approves the documents (on to `distill`) or sends them back (`design`). */
export function approveDesignNode(state: GraphState, config?: LangGraphRunnableConfig): Partial<GraphState> {
  const approval = askForApproval(
    state,
    {
      gate: 'design_approval',
      node: 'approveDesign',
      message: 'Read the documents. Approve them to have them broken down into tasks.',
      artifact: designArtifact(state),
    },
    config,
  );
  const decided = recordDecision(state, 'design_approval', approval, {
    approved: 'planning',
    rejected: 'specifying',
  });
  if (!approval.signal.approved) return decided;
  return { ...decided, documents: state.documents.map((document) => ({ ...document, status: 'approved' })) };
}
