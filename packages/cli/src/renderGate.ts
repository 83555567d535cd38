import type { DocumentRecord, EpicRecord, Gate, RequirementRecord, TaskRecord } from '@devs/core';
import { columns } from './columns.ts';
import { type Choice, GATE_CHOICES } from './gateAnswers.ts';
import { isMaskedForDisplay } from './maskedJson.ts';
import type { Line } from './Output.ts';
import { isPassedBudget, passedBudgetLines, raiseFlags } from './renderBudget.ts';
import { entropyLines, isEntropyScore } from './renderEntropy.ts';
import { isStuckTask, stuckTaskLines } from './renderStuckTask.ts';
import type { Session } from './Session.ts';
import { GATE_NAMES, taskLabel } from './sentence.ts';

export interface ShownDocuments {
  readonly documents: readonly Pick<DocumentRecord, 'type' | 'title' | 'content' | 'version'>[];
}

export interface ShownTasks {
  readonly requirements: readonly Pick<RequirementRecord, 'requirementId' | 'externalId' | 'description'>[];
  readonly epics: readonly Pick<EpicRecord, 'epicId' | 'name' | 'description' | 'phaseNumber'>[];
  readonly tasks: readonly Omit<TaskRecord, 'status' | 'gitHash'>[];
}

/** A gate in one line: how to name it, what it is about, since when. */
export function gateLine(gate: Gate): readonly string[] {
  const task = taskLabel(gate.taskId);
  const about = `${GATE_NAMES[gate.kind]}${task === '' ? '' : ` ${task}`}`;
  return [shortId(gate), gate.threadId, about, gate.openedAt];
}

export const shortId = ({ sessionId }: Pick<Gate, 'sessionId'>): string => sessionId.slice(0, 8);
export const shortHash = ({ artifactHash }: Pick<Gate, 'artifactHash'>): string => artifactHash.slice(0, 12);

/** All that a decision on the gate is about, and how to decide. */
export function renderGate(gate: Gate, devs: Session['devs']): readonly Line[] {
  const [id, hash] = [shortId(gate), shortHash(gate)];
  return [
    { style: 'bold', text: `Gate ${id}: ${GATE_NAMES[gate.kind]} of ${gate.threadId}` },
    `open since ${gate.openedAt}, hash ${hash}`,
    gate.message,
    '',
    ...artifactLines(gate.artifact),
    ...(isMaskedForDisplay(gate.artifact)
      ? [
          'Note: passages that look like secrets are masked above. The hash covers the text without this mask.',
          '',
        ]
      : []),
    ...choicesAt(gate).flatMap(({ name, meaning, verb, flags }): readonly Line[] => [
      { style: 'dim', text: `${name}: ${meaning}` },
      `  ${devs(verb, id, '--hash', hash, ...flags)}`,
    ]),
  ];
}

/** A budget is raised where it was passed. */
function choicesAt({ kind, artifact }: Gate): readonly Choice[] {
  const choices = GATE_CHOICES[kind];
  if (!isPassedBudget(artifact)) return choices;
  return choices.map((choice) =>
    choice.name === 'raise' ? { ...choice, flags: raiseFlags(artifact) } : choice,
  );
}

export const isDocuments = (artifact: unknown): artifact is ShownDocuments =>
  hasLists(artifact, ['documents']);
export const isPlan = (artifact: unknown): artifact is ShownTasks =>
  hasLists(artifact, ['requirements', 'epics', 'tasks']);

/** What a decision is about, for people. */
export function artifactLines(artifact: unknown): readonly Line[] {
  if (isDocuments(artifact)) return documentLines(artifact);
  if (isPlan(artifact)) return planLines(artifact);
  if (isPassedBudget(artifact)) return passedBudgetLines(artifact);
  if (isStuckTask(artifact)) return stuckTaskLines(artifact);
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

function documentLines({ documents }: ShownDocuments): readonly Line[] {
  return documents.flatMap(({ type, title, content, version }) => [
    { style: 'bold', text: `── ${type}: ${title} (version ${version})` } as const,
    content.trimEnd(),
    '',
  ]);
}

function planLines({ requirements, epics, tasks }: ShownTasks): readonly Line[] {
  const externalIds = new Map(
    requirements.map(({ requirementId, externalId }) => [requirementId, externalId]),
  );
  const namesOf = (ids: readonly string[]): string =>
    ids.map((id) => externalIds.get(id) ?? id).join(', ') || '-';
  const ordered = byNumber(tasks);
  const rows = ordered.map(({ taskId, dependsOn, requirementIds = [], name }) => [
    taskLabel(taskId),
    dependsOn.map(taskLabel).join(', ') || '-',
    namesOf(requirementIds),
    name,
  ]);
  return [
    { style: 'bold', text: 'Requirements' },
    ...columns(requirements.map(({ externalId, description }) => [externalId, description])),
    '',
    { style: 'bold', text: 'Tasks' },
    ...columns([['task', 'after', 'requirements', 'name'], ...rows]),
    '',
    ...epics.flatMap((epic) => epicLines(epic, ordered)),
  ];
}

function epicLines(
  { epicId, name, description, phaseNumber }: ShownTasks['epics'][number],
  tasks: ShownTasks['tasks'],
): readonly Line[] {
  const own = tasks.filter((task) => task.epicId === epicId);
  return [
    { style: 'bold', text: `Epic E${phaseNumber}: ${name}` },
    description,
    '',
    ...own.flatMap(taskLines),
  ];
}

function taskLines({
  taskId,
  name,
  description,
  agentRole,
  acceptanceCriteria = [],
}: ShownTasks['tasks'][number]) {
  const criteria = acceptanceCriteria.map((criterion) => `  - ${criterion}`);
  return [`${taskLabel(taskId)} ${name} (${agentRole})`, `  ${description}`, ...criteria, ''];
}

/** What is shown is in the order of the text of its ids; people count. */
export const byNumber = (tasks: ShownTasks['tasks']): ShownTasks['tasks'] =>
  [...tasks].sort((a, b) => numberOf(a.taskId) - numberOf(b.taskId));

const numberOf = (taskId: string): number => Number(taskLabel(taskId).slice(1));
