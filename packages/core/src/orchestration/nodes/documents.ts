import type { DraftDocument, FileEdit } from '../ports.ts';
import { taskLabel } from '../taskStates.ts';
import type { DocumentRecord, EpicRecord, GraphState, TaskRecord } from '../types.ts';

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

/** A document of a run as a file of its own. */
export interface DocumentFile extends FileEdit {
  /** A file name, such as `PRD.md`. */
  readonly path: string;
  readonly content: string;
}

type Documented = Pick<GraphState, 'documents' | 'requirements' | 'epics' | 'tasks'>;

/** The plan has no document of its own in the state. */
const PLAN = 'PLAN';

/**
 * Every document of a run, and its plan, as Markdown files. A document is byte for byte what was read at its gate, so
 * that it can be handed to another run.
 */
export function documentFiles(state: Documented): readonly DocumentFile[] {
  const taken = new Set(state.tasks.length > 0 ? [PLAN] : []);
  const files = state.documents.map(({ type, content }) => ({
    path: `${fileName(type, taken)}.md`,
    content,
  }));
  return state.tasks.length === 0 ? files : [...files, { path: `${PLAN}.md`, content: planDocument(state) }];
}

/** A type is an agent's word: no path, and no name that another document has. */
function fileName(type: string, taken: Set<string>): string {
  const name = type.replaceAll(/[^A-Za-z0-9_-]+/g, '_').slice(0, 80) || '_';
  let free = name;
  for (let count = 2; taken.has(free.toUpperCase()); count += 1) free = `${name}-${count}`;
  taken.add(free.toUpperCase());
  return free;
}

function planDocument({ requirements, epics, tasks }: Documented): string {
  const externalIds = new Map(
    requirements.map(({ requirementId, externalId }) => [requirementId, externalId]),
  );
  return [
    '# Plan',
    '',
    '## Requirements',
    '',
    ...requirements.map(({ externalId, description }) => `- ${externalId}: ${description}`),
    ...epics.flatMap((epic) => epicMarkdown(epic, tasks, externalIds)),
    '',
  ].join('\n');
}

function epicMarkdown(
  { epicId, name, description, phaseNumber }: EpicRecord,
  tasks: readonly TaskRecord[],
  externalIds: ReadonlyMap<string, string>,
): readonly string[] {
  const own = tasks.filter((task) => task.epicId === epicId);
  return [
    '',
    `## Epic ${phaseNumber}: ${name}`,
    '',
    description,
    ...own.flatMap((task) => taskSection(task, externalIds)),
  ];
}

function taskSection(task: TaskRecord, externalIds: ReadonlyMap<string, string>): readonly string[] {
  const { dependsOn, requirementIds = [], acceptanceCriteria = [], kind, checkedBy } = task;
  const facts = [
    ['Shown by', kind === undefined ? '' : [kind, checkedBy].filter(Boolean).join(': ')],
    ['Depends on', dependsOn.map(taskLabel).join(', ')],
    ['Requirements', requirementIds.map((id) => externalIds.get(id) ?? id).join(', ')],
  ] as const;
  return [
    '',
    `### ${taskLabel(task.taskId)}: ${task.name}`,
    '',
    task.description,
    '',
    ...facts.flatMap(([name, value]) => (value === '' ? [] : [`- ${name}: ${value}`])),
    ...acceptanceCriteria.map((criterion) => `- [ ] ${criterion}`),
  ];
}
