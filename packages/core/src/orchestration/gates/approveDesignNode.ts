import type { LangGraphRunnableConfig } from '@langchain/langgraph';
import { hashOf } from '../../values/canonicalJson.ts';
import { withDocuments } from '../nodes/documents.ts';
import type { GraphState } from '../types.ts';
import { designArtifact } from './artifacts.ts';
import { askForApproval, type EditedGate } from './askForApproval.ts';
import { baselineLine } from './baselineLine.ts';
import { recordEdit, withDecision } from './withDecision.ts';

/**
 * Gate after `design`: a person approves the documents (continues with `distill`), rejects them (`design`) or edits
 * them.
 */
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
  const decided = withDecision(state, 'design_approval', approval, {
    approved: 'planning',
    rejected: 'specifying',
  });
  if (!approval.signal.approved) return decided;
  return { ...decided, documents: state.documents.map((document) => ({ ...document, status: 'approved' })) };
}

function editDesign(state: GraphState, edited: EditedGate<'design_approval'>): Partial<GraphState> {
  const { documents: drafts, editedAt } = edited.edit;
  const documents = withDocuments(state, drafts, editedAt);
  const record = { artifactHash: hashOf(designArtifact({ ...state, documents })) };
  return recordEdit(state, 'design_approval', edited, { update: { documents }, record });
}
