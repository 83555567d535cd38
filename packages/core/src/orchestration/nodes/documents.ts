import { rejectionText } from '../../engine/gates/comments.ts';
import type { DesignRequest, DraftDocument } from '../ports.ts';
import { withTalk } from '../task/gateTalk.ts';
import type { DocumentRecord, GraphState, HitlGate } from '../types.ts';

/** The brief, as it was masked when the run started; empty for a project without one. */
export function briefOf({ documents, projectConfig }: GraphState): string {
  return documents.find(({ type }) => type === 'BRIEF')?.content ?? projectConfig.description;
}

export function draftsOf({
  documents,
}: {
  readonly documents: readonly DraftDocument[];
}): readonly DraftDocument[] {
  return documents.map(({ type, title, content }) => ({ type, title, content }));
}

/**
 * Puts proposed documents into the project: one per type, a changed one as its next version, an unchanged one as it
 * is (so that asking again does not undo an approval).
 *
 * @param stage - Of the agent that proposed them; without one a human did.
 */
export function withDocuments(
  { documents, projectConfig: { projectId } }: GraphState,
  drafts: readonly DraftDocument[],
  at: string,
  stage?: DocumentRecord['stage'],
): readonly DocumentRecord[] {
  const records = [...documents];
  for (const { type, title, content } of drafts) {
    const draft = { type, title, content };
    const index = records.findIndex((record) => record.type === type);
    const current = records[index];
    if (current === undefined)
      records.push({ ...newDocument(projectId, draft, at), ...(stage && { stage }) });
    else if (current.title !== draft.title || current.content !== draft.content) {
      records[index] = { ...current, ...draft, status: 'draft', version: current.version + 1, updatedAt: at };
    }
  }
  return records;
}

export function newDocument(
  projectId: string,
  { type, title, content }: DraftDocument,
  at: string,
): DocumentRecord {
  return {
    documentId: `${projectId}/${type}`,
    projectId,
    type,
    title,
    content,
    status: 'draft',
    version: 1,
    createdAt: at,
    updatedAt: at,
  };
}

/** What an agent is told whose proposal a human will read at `gate`. */
export function proposalRequest(state: GraphState, gate: HitlGate): DesignRequest {
  const isRejected = gate === 'design_approval' && wasSentBack(state, gate);
  return {
    brief: briefOf(state),
    attempt: state.rejections[gate] + 1,
    documents: isRejected ? markedDrafts(state) : draftsOf(state),
    feedback: feedbackOn(state, gate),
  };
}

/** Brief and reports were shown at the gate too; what is to be done again is the rest. */
function markedDrafts({ documents }: GraphState): readonly DraftDocument[] {
  return documents.map(({ type, title, content, stage }) => ({
    type,
    title,
    content,
    ...(type !== 'BRIEF' && stage !== 'research' && { rejected: true as const }),
  }));
}

/** Whether the last word of a human at a gate was no. */
export function wasSentBack({ hitlDecisions }: Pick<GraphState, 'hitlDecisions'>, gate: HitlGate): boolean {
  const last = hitlDecisions.findLast((decision) => decision.gate === gate);
  return last !== undefined && !last.signal.approved && last.edit === undefined;
}

/** A human's reason for sending a proposal back, and what was said at its gate, for the next attempt at it. */
export function feedbackOn(
  { hitlDecisions }: GraphState,
  gate: 'design_approval' | 'dag_approval',
): string | null {
  const last = hitlDecisions.findLast((decision) => decision.gate === gate);
  return last?.signal.approved === false ? withTalk(rejectionText(last.signal), gate) : null;
}
