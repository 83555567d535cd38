import { newDocument } from '../orchestration/nodes/documents.ts';
import { createInitialState, type OrchestratorState } from '../orchestration/types.ts';
import type { Brief } from './brief.ts';

/** The state a project starts with: the brief is its first document. Pure; `at` is ISO 8601, UTC. */
export function initialState(
  projectId: string,
  { title, text }: Pick<Brief, 'title' | 'text'>,
  at: string,
): OrchestratorState {
  const state = createInitialState({
    projectId,
    name: title,
    description: text,
    status: 'initializing',
    createdAt: at,
    updatedAt: at,
  });
  return { ...state, documents: [newDocument(projectId, { type: 'BRIEF', title, content: text }, at)] };
}
