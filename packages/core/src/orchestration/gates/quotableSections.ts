import type { QuotableSection } from '../../engine/gates/comments.ts';
import { taskLabel } from '../taskStates.ts';
import type { DagArtifact, DesignArtifact } from './artifacts.ts';

// What of a proposal may be quoted in comments on it.

/** The documents, line for line. */
export function documentSections(artifact: unknown): readonly QuotableSection[] {
  const { documents } = artifact as DesignArtifact;
  return documents.map(({ type, documentId, content }) => ({ names: [type, documentId], texts: [content] }));
}

/** Of tasks, epics and requirements the name and what it is about, and of tasks each criterion on a line. */
export function planSections(artifact: unknown): readonly QuotableSection[] {
  const { requirements, epics, tasks } = artifact as DagArtifact;
  return [
    ...tasks.map(({ taskId, name, description, acceptanceCriteria }) =>
      quotableSection([taskLabel(taskId), taskId], [name, description, ...acceptanceCriteria]),
    ),
    ...epics.map(({ phaseNumber, epicId, name, description }) =>
      quotableSection([`E${phaseNumber}`, epicId], [name, description]),
    ),
    ...requirements.map(({ externalId, requirementId, description }) =>
      quotableSection([externalId, requirementId], [description]),
    ),
  ];
}

const quotableSection = (names: readonly string[], lines: readonly string[]): QuotableSection => ({
  names,
  texts: [lines.join('\n')],
});
