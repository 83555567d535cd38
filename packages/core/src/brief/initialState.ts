import { newDocument } from '../orchestration/nodes/documents.ts';
import { planFrom } from '../orchestration/nodes/plan.ts';
import type { ReviewScope } from '../orchestration/ports.ts';
import {
  createInitialState,
  type HitlGate,
  type OrchestratorState,
  type ProjectConfig,
} from '../orchestration/types.ts';
import type { Brief, ProvidedInputs } from './brief.ts';

/** What a run is declared with, beside what is given. */
interface Declared {
  readonly review?: ReviewScope | undefined;
  readonly documentsDir?: string | undefined;
}

/**
 * The state a project starts with: the brief is its first document, and what was given stands as if its stage had just
 * written it; research that was declined counts as done. Pure; `at` is ISO 8601, UTC.
 *
 * @throws DevsError `DAG_INVALID` for a given plan that cannot become tasks.
 */
export function initialState(
  projectId: string,
  brief: Pick<Brief, 'title' | 'text'>,
  at: string,
  { review, documentsDir, ...given }: ProvidedInputs & Declared = {},
): OrchestratorState {
  const { documents = [], tasks, research = true } = given;
  const state = emptyProjectState(projectId, brief, {
    at,
    status: research ? 'initializing' : 'researching',
    ...(review && { review }),
    ...(documentsDir !== undefined && { documentsDir }),
  });
  const drafts = [{ type: 'BRIEF', title: brief.title, content: brief.text }, ...documents];
  return {
    ...state,
    documents: drafts.map((draft) => newDocument(projectId, draft, at)),
    ...(tasks && planFrom(state, tasks)),
    pendingApprovalGate: firstGate(given),
  };
}

/** Where the run begins: at the first gate whose proposal is there. */
function firstGate({ documents = [], tasks }: ProvidedInputs): HitlGate | null {
  if (documents.length > 0) return 'design_approval';
  return tasks === undefined ? null : 'dag_approval';
}

function emptyProjectState(
  projectId: string,
  { title, text }: Pick<Brief, 'title' | 'text'>,
  { at, ...config }: { readonly at: string } & Pick<ProjectConfig, 'status' | 'review' | 'documentsDir'>,
): OrchestratorState {
  return createInitialState({
    projectId,
    name: title,
    description: text,
    createdAt: at,
    updatedAt: at,
    ...config,
  });
}
