import type { GraphState, RequirementRecord, TaskRecord } from '@devs/core';
import type { EntropyScore } from '@devs/core/internal';
import { isPassedBudget } from '../gates/passedBudget.ts';
import { columns, type Line, withoutBlankEnd } from '../terminal/Line.ts';
import { oneLine } from '../terminal/visible.ts';
import { missingNamedLines } from './missingNamed.ts';
import { passedBudgetLines } from './renderBudget.ts';
import { codeReviewLines, formatCheckTime, isCodeReview } from './renderCodeReview.ts';
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

/** Names of failures that are shown, before it says how many more there are. */
const MAX_NAMES = 40;

/** What the gate of red checks shows. */
export interface BaselineView {
  readonly command: string;
  readonly failing: readonly string[];
  /** Of these: what did not fail when somebody was asked before. */
  readonly appeared?: readonly string[];
  readonly flaky: readonly string[];
  readonly cases: number | null;
  readonly output: string;
  readonly parts?: readonly {
    readonly name: string;
    readonly kind: string;
    readonly passed: boolean;
    /** Milliseconds. */
    readonly durationMs?: number;
  }[];
  /** A program that is not there. */
  readonly missing?: string;
}

function isBaseline(artifact: unknown): artifact is BaselineView {
  if (typeof artifact !== 'object' || artifact === null) return false;
  const { command, failing, flaky, output } = artifact as Partial<BaselineView>;
  return typeof command === 'string' && typeof output === 'string' && [failing, flaky].every(Array.isArray);
}

/** What fails, by name, for the one who says how it goes on. */
function baselineLines(shown: BaselineView): readonly Line[] {
  const { command, parts = [], cases, flaky, missing, output } = shown;
  const failing = newFirst(shown);
  const ran = cases === null ? '' : `, ${cases} test cases ran`;
  return [
    { style: 'bold', text: oneLine(`${command} fails on the untouched repository${ran}`) },
    ...parts.map(
      ({ name, kind, passed, durationMs }) =>
        `  ${passed ? 'passed' : 'failed'}  ${oneLine(`${name} (${kind})`)}${durationMs === undefined ? '' : ` in ${formatCheckTime(durationMs)}`}`,
    ),
    '',
    ...(missing === undefined ? formatNames('What fails', failing) : missingLines(missing)),
    ...wholeLines(shown),
    ...missingNamedLines(output),
    ...formatNames('Flaky: failed and passed on the same files', flaky),
    ...(output.trim() === ''
      ? []
      : [{ style: 'bold', text: 'End of the output' } as const, output.trimEnd(), '']),
  ];
}

/** Of a command that tells no cases, accepting its failure accepts all that it can say. */
function wholeLines({ command, parts = [], failing, missing }: BaselineView): readonly Line[] {
  const whole =
    parts.length === 0 ? [command] : parts.filter(({ kind }) => kind === 'test').map(({ name }) => name);
  const named = failing.find((name) => whole.includes(name));
  if (named === undefined || missing !== undefined) return [];
  return [
    oneLine(
      `${named} does not report which case fails. If you accept it, devs cannot see a new test fail there,`,
    ),
    'and commands after && in it do not run. Separate checks all run:',
    'devs init splits a script such as "xo && ava && tsd" into separate checks.',
    '',
  ];
}

function missingLines(program: string): readonly Line[] {
  return [
    { style: 'bold', text: oneLine(`The checks could not run: ${program} is not installed here.`) },
    'Install it, or add a setup command to .devs/config.json, which prepares the folder of every run:',
    '  "setup": ["npm", "ci"]',
    '',
  ];
}

/** What fails, marked where it did not when somebody was asked before; that first, as the list may be cut. */
function newFirst({ failing, appeared = [] }: BaselineView): readonly string[] {
  const known = failing.filter((name) => !appeared.includes(name));
  return [...appeared.map((name) => `${name}  (new)`), ...known];
}

function formatNames(title: string, names: readonly string[]): readonly Line[] {
  if (names.length === 0) return [];
  const lines = names.slice(0, MAX_NAMES).map((name) => `  - ${oneLine(name)}`);
  const more = names.length - MAX_NAMES;
  return [{ style: 'bold', text: title }, ...lines, ...(more > 0 ? [`  … and ${more} more`] : []), ''];
}

/** What the gate of a stuck task shows. */
export interface StuckTaskView {
  readonly taskId: string;
  readonly name: string | null;
  readonly reason: string | null;
  readonly attempts: number;
  readonly strategies: readonly { readonly strategy: string; readonly reason: string }[];
  readonly guidance: readonly string[];
  readonly errors: readonly string[];
  readonly lastObservation: string | null;
  /** Where a score opened the gate. */
  readonly entropy?: EntropyScore;
}

const REASONS: Readonly<Record<string, string>> = {
  entropy_limit: 'it keeps repeating itself',
  pivots_exhausted: 'no new strategy made progress',
  pivot_invalid: 'the pivot agent did not return a new strategy',
};

function isStuckTask(artifact: unknown): artifact is StuckTaskView {
  if (typeof artifact !== 'object' || artifact === null) return false;
  const { attempts, strategies, guidance, errors } = artifact as Partial<StuckTaskView>;
  return typeof attempts === 'number' && [strategies, guidance, errors].every((list) => Array.isArray(list));
}

/** What was tried, for the one who says how it goes on. */
function stuckTaskLines(task: StuckTaskView): readonly Line[] {
  const { taskId, name, reason, attempts, strategies, guidance, errors, lastObservation, entropy } = task;
  const why = reason === null ? 'no progress' : (REASONS[reason] ?? reason);
  const title = oneLine([taskLabelOrEmpty(taskId), name ?? taskId].filter((word) => word !== '').join(' '));
  return [
    { style: 'bold', text: title },
    `stopped after ${attempts === 1 ? '1 attempt' : `${attempts} attempts`}: ${why}`,
    '',
    ...(entropy === undefined ? [] : entropyLines(entropy)),
    ...formatItems(
      'Strategies tried',
      strategies.map((tried) => `${tried.strategy}\n    reason: ${tried.reason}`),
    ),
    ...formatItems('Guidance so far', guidance),
    ...formatItems('Errors', errors),
    ...(lastObservation === null
      ? []
      : [{ style: 'bold', text: 'Last observation' } as const, lastObservation.trimEnd(), '']),
  ];
}

function formatItems(title: string, items: readonly string[]): readonly Line[] {
  if (items.length === 0) return [];
  return [{ style: 'bold', text: title }, ...items.map((item, index) => `  ${index + 1}. ${item}`), ''];
}

function isEntropyScore(value: unknown): value is EntropyScore {
  if (typeof value !== 'object' || value === null) return false;
  const { score, parts } = value as Partial<EntropyScore>;
  return typeof score === 'number' && Array.isArray(parts);
}

/** Why a task counts as repeating itself: each part with its share of the score. */
function entropyLines({ score, parts }: EntropyScore): readonly Line[] {
  const reasons = parts.map(({ share, evidence }) => `  ${share.toFixed(2)}  ${evidence}`);
  return [
    { style: 'bold', text: `Repetition: ${score.toFixed(2)} of 1` },
    ...(reasons.length === 0 ? ['  score set by the node'] : reasons),
    '',
  ];
}
