import type { LangGraphRunnableConfig } from '@langchain/langgraph';
import { hashOf } from '../../state/canonicalJson.ts';
import { withDocuments } from '../nodes/documents.ts';
import type { GraphState } from '../types.ts';
import { designArtifact } from './artifacts.ts';
import { askForApproval, type Edited } from './askForApproval.ts';
import { baselineLine } from './baselineLine.ts';
import { recordDecision, recordEdit } from './recordDecision.ts';

/** Gate after `design`: a human approves the documents (on to `distill`), sends them back (`design`) or edits them. */
export function approveDesignNode(state: GraphState, config?: LangGraphRunnableConfig): Partial<GraphState> {
  const approval = askForApproval(
    state,
    {
      gate: 'design_approval',
      node: 'approveDesign',
      message: `Read the documents. Approve them to have them broken down into tasks.${baselineLine(state)}`,
      artifact: designArtifact(state),
    },
    config,
  );
  if ('edit' in approval) return editDesign(state, approval);
  const decided = recordDecision(state, 'design_approval', approval, {
    approved: 'planning',
    rejected: 'specifying',
  });
  if (!approval.signal.approved) return decided;
  return { ...decided, documents: state.documents.map((document) => ({ ...document, status: 'approved' })) };
}

function editDesign(state: GraphState, edited: Edited<'design_approval'>): Partial<GraphState> {
  const { documents: drafts, editedAt } = edited.edit;
  const documents = withDocuments(state, drafts, editedAt);
  const record = { artifactHash: hashOf(designArtifact({ ...state, documents })) };
  return recordEdit(state, 'design_approval', edited, { update: { documents }, record });
}
