import type { GraphState, RequirementRecord, TaskRecord } from '@devs/core';
import { isPassedBudget } from '../gates/passedBudget.ts';
import { columns, type Line, withoutBlankEnd } from '../terminal/Line.ts';
import { oneLine } from '../terminal/visible.ts';
import { baselineLines, isBaseline } from './renderBaseline.ts';
import { passedBudgetLines } from './renderBudget.ts';
import { codeReviewLines, isCodeReview } from './renderCodeReview.ts';
import { entropyLines, isEntropyScore, isStuckTask, stuckTaskLines } from './renderStuckTask.ts';
import { taskLabelOrEmpty } from './sentence.ts';

export interface ShownDocuments {
  readonly documents: readonly Pick<
    GraphState['documents'][number],
    'type' | 'title' | 'content' | 'version'
  >[];
  /** Named by the design, and not in the repository. */
  readonly unknownFiles?: readonly string[];
}

export interface ShownTasks {
  readonly requirements: readonly Pick<RequirementRecord, 'requirementId' | 'externalId' | 'description'>[];
  readonly epics: readonly Pick<
    GraphState['epics'][number],
    'epicId' | 'name' | 'description' | 'phaseNumber'
  >[];
  readonly tasks: readonly Omit<TaskRecord, 'status' | 'gitHash'>[];
}

export const isShownDocuments = (artifact: unknown): artifact is ShownDocuments =>
  hasLists(artifact, ['documents']);
export const isShownTasks = (artifact: unknown): artifact is ShownTasks =>
  hasLists(artifact, ['requirements', 'epics', 'tasks']);

/** What a decision is about, for people. */
export function artifactLines(artifact: unknown): readonly Line[] {
  if (isShownDocuments(artifact)) return documentLines(artifact);
  if (isShownTasks(artifact)) return planLines(artifact);
  if (isPassedBudget(artifact)) return passedBudgetLines(artifact);
  if (isCodeReview(artifact)) return codeReviewLines(artifact);
  if (isStuckTask(artifact)) return stuckTaskLines(artifact);
  if (isBaseline(artifact)) return baselineLines(artifact);
  return [JSON.stringify(artifact, null, 2), '', ...ownEntropyLines(artifact)];
}

/** A graph of one's own shows its score too, below what it is about. */
function ownEntropyLines(artifact: unknown): readonly Line[] {
  const { entropy } = (artifact ?? {}) as { readonly entropy?: unknown };
  return isEntropyScore(entropy) ? entropyLines(entropy) : [];
}

function hasLists(value: unknown, names: readonly string[]): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return names.every((name) => Array.isArray((value as Readonly<Record<string, unknown>>)[name]));
}

function documentLines(shown: ShownDocuments): readonly Line[] {
  const findings = findingsOn(shown).map((line) => oneLine(line));
  const documents = decidedFirst(shown.documents).flatMap(({ type, title, content, version }) => [
    { style: 'bold', text: oneLine(`── ${type}: ${title} (version ${version})`) } as const,
    { style: 'markdown', text: withoutBlankEnd(content) } as const,
    '',
  ]);
  return findings.length === 0 ? documents : [...findings, '', ...documents];
}

function planLines({ requirements, epics, tasks }: ShownTasks): readonly Line[] {
  const externalIds = new Map(
    requirements.map(({ requirementId, externalId }) => [requirementId, externalId]),
  );
  const namesOf = (ids: readonly string[]): string =>
    ids.map((id) => externalIds.get(id) ?? id).join(', ') || '-';
  const ordered = byNumber(tasks);
  const rows = ordered.map(({ taskId, dependsOn, requirementIds = [], name }) => [
    taskLabelOrEmpty(taskId),
    dependsOn.map(taskLabelOrEmpty).join(', ') || '-',
    namesOf(requirementIds),
    name,
  ]);
  return [
    { style: 'bold', text: 'Requirements' },
    ...columns(requirements.map(({ externalId, description }) => [externalId, description])).map(row),
    '',
    { style: 'bold', text: 'Tasks' },
    ...columns([['task', 'after', 'requirements', 'name'], ...rows]).map(row),
    '',
    ...epics.flatMap((epic) => planEpicLines(epic, ordered)),
  ];
}

const row = (text: string): Line => ({ style: 'row', text });

function planEpicLines(
  { epicId, name, description, phaseNumber }: ShownTasks['epics'][number],
  tasks: ShownTasks['tasks'],
): readonly Line[] {
  const own = tasks.filter((task) => task.epicId === epicId);
  return [
    { style: 'bold', text: oneLine(`Epic E${phaseNumber}: ${name}`) },
    { style: 'markdown', text: description },
    '',
    ...own.flatMap(planTaskLines),
  ];
}

function planTaskLines(task: ShownTasks['tasks'][number]): readonly Line[] {
  const { taskId, name, description, agentRole, acceptanceCriteria = [] } = task;
  const markdown = (text: string): Line => ({ style: 'markdown', text });
  const criteria = acceptanceCriteria.map((criterion) => markdown(oneLine(`  - ${criterion}`)));
  const title = oneLine(`${taskLabelOrEmpty(taskId)} ${name} (${agentRole})`);
  const kind = formatTaskKind(task);
  return [
    title,
    markdown(indentText(description)),
    ...(kind === null ? [] : [oneLine(`  ${kind}`)]),
    ...criteria,
    '',
  ];
}

/** How a task is shown to be right, where that is no test of its own; `null` where it is. */
export function formatTaskKind({ kind, checkedBy }: Pick<TaskRecord, 'kind' | 'checkedBy'>): string | null {
  if (kind === 'behaviour-kept') return 'behaviour kept: the checks pass before and after';
  if (kind !== 'checked-by') return null;
  return checkedBy === 'review'
    ? 'verified by a review of its diff'
    : `verified by the command: ${checkedBy}`;
}

/** No line of it begins where one of ours does. */
const indentText = (text: string): string => `  ${text.replaceAll('\n', '\n  ')}`;

/** What is shown is in the order of the text of its ids; people count. */
export const byNumber = (tasks: ShownTasks['tasks']): ShownTasks['tasks'] =>
  [...tasks].sort((a, b) => taskOrdinal(a.taskId) - taskOrdinal(b.taskId));

const taskOrdinal = (taskId: string): number => Number(taskLabelOrEmpty(taskId).slice(1));

/** What a proposal rests on, and nobody decides about. */
const READ_LATER = ['RESEARCH', 'MARKET', 'COMPETITION', 'TECHNOLOGY', 'USERS', 'BASELINE', 'BRIEF'];

/** Documents as people read them at a gate: what is decided on, then reports, then their own brief. */
export function decidedFirst<Document extends ShownDocuments['documents'][number]>(
  documents: readonly Document[],
): readonly Document[] {
  const placeOf = ({ type }: Document): number => READ_LATER.indexOf(type);
  return documents.toSorted((a, b) => placeOf(a) - placeOf(b));
}

/** What the engine found about a design, in lines; none where it found nothing. */
export function findingsOn({ unknownFiles = [] }: ShownDocuments): readonly string[] {
  if (unknownFiles.length === 0) return [];
  return [
    'The design names files that are not in the repository. The agent was asked about them and kept the names:',
    ...unknownFiles.map((path) => `- ${path}`),
  ];
}
