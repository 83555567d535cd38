import type { FileEdit } from './ports.ts';
import { taskLabel } from './taskStates.ts';
import type { EpicRecord, GraphState, TaskRecord } from './types.ts';

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
