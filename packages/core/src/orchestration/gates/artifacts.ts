import type { QuotableSection } from '../../engine/gates/answerForms.ts';
import { hashOf } from '../../values/canonicalJson.ts';
import { isLasting, makeLasting, onceForLasting } from '../../values/lasting.ts';
import { taskKind } from '../nodes/plan.ts';
import { taskLabel } from '../taskStates.ts';
import type { DocumentRecord, GraphState, TaskRecord } from '../types.ts';

// What a human approves at the two gates, in the form its hash is taken over. Only what was read counts: a status
// that changes later, a commit or a time stamp keeps an approval; a changed word or edge needs a new one.

export interface DesignArtifact {
  readonly documents: readonly Pick<
    DocumentRecord,
    'documentId' | 'type' | 'title' | 'content' | 'version'
  >[];
  /** Files the documents name and the repository does not have; its agent was told. */
  readonly unknownFiles?: readonly string[];
}

export function designArtifact({
  documents,
  projectConfig,
}: Pick<GraphState, 'documents' | 'projectConfig'>): DesignArtifact {
  // An edit may have mended it.
  const unknownFiles = (projectConfig.unknownFiles ?? []).filter((path) =>
    documents.some(({ content }) => content.includes(path)),
  );
  return {
    ...(unknownFiles.length > 0 && { unknownFiles }),
    documents: documents.map(({ documentId, type, title, content, version }) => ({
      documentId,
      type,
      title,
      content,
      version,
    })),
  };
}

export function dagArtifact({
  tasks,
  epics,
  requirements,
}: Pick<GraphState, 'tasks' | 'epics' | 'requirements'>) {
  return {
    requirements: sortedBy(requirements, 'requirementId').map(
      ({ requirementId, externalId, description }) => ({
        requirementId,
        externalId,
        description,
      }),
    ),
    epics: sortedBy(epics, 'epicId').map(({ epicId, name, description, phaseNumber, requirementIds }) => ({
      epicId,
      name,
      description,
      phaseNumber,
      requirementIds: [...requirementIds].sort(),
    })),
    tasks: sortedBy(tasks, 'taskId').map(plannedTask),
  };
}

const plannedTask = onceForLasting((task: TaskRecord) => {
  const planned = {
    taskId: task.taskId,
    epicId: task.epicId,
    name: task.name,
    description: task.description,
    agentRole: task.agentRole,
    dependsOn: [...task.dependsOn].sort(),
    requirementIds: [...(task.requirementIds ?? [])].sort(),
    acceptanceCriteria: task.acceptanceCriteria ?? [],
    ...taskKind(task),
  };
  if (isLasting(task)) makeLasting(planned);
  return planned;
});

export type DagArtifact = ReturnType<typeof dagArtifact>;

/** True when the last decision on the DAG approves exactly the DAG in the state. An empty DAG has a hash too. */
export function isDagApproved(
  state: Pick<GraphState, 'tasks' | 'epics' | 'requirements' | 'hitlDecisions'>,
): boolean {
  const last = state.hitlDecisions.findLast(({ gate }) => gate === 'dag_approval');
  return last?.signal.approved === true && last.artifactHash === hashOf(dagArtifact(state));
}

function sortedBy<Key extends string, Item extends Readonly<Record<Key, string>>>(
  items: readonly Item[],
  key: Key,
): readonly Item[] {
  return [...items].sort((a, b) => (a[key] < b[key] ? -1 : a[key] > b[key] ? 1 : 0));
}

// The sections of a proposal that comments may quote.

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
