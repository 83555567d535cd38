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
 */
export function withDocuments(
  { documents, projectConfig: { projectId } }: GraphState,
  drafts: readonly DraftDocument[],
  at: string,
): readonly DocumentRecord[] {
  const records = [...documents];
  for (const draft of drafts) {
    const index = records.findIndex(({ type }) => type === draft.type);
    const current = records[index];
    if (current === undefined) records.push(newDocument(projectId, draft, at));
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
  return {
    brief: briefOf(state),
    attempt: state.rejections[gate] + 1,
    documents: draftsOf(state),
    feedback: feedbackOn(state, gate),
  };
}

/** A human's reason for sending a proposal back, and what was said at its gate, for the next attempt at it. */
export function feedbackOn(
  { hitlDecisions }: GraphState,
  gate: 'design_approval' | 'dag_approval',
): string | null {
  const last = hitlDecisions.findLast((decision) => decision.gate === gate);
  return last?.signal.approved === false ? withTalk(last.signal.feedback ?? null, gate) : null;
}
