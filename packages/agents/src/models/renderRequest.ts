import type {
  AnswerRequest,
  CheckResult,
  DesignRequest,
  DistillRequest,
  DraftDocument,
  PivotRequest,
  PlanResult,
  ResearchRequest,
  ReviewRequest,
  TaskRequest,
} from '@devs/core';
import { formatCheck } from '@devs/core/internal';
import type { ShownFiles } from './foundFiles.ts';
import type { PromptVersion } from './loadPrompts.ts';

export type StageRequest =
  | ResearchRequest
  | DesignRequest
  | DistillRequest
  | TaskRequest
  | ReviewRequest
  | PivotRequest;

/**
 * A request as the text a model reads: every part between tags, absent parts left out.
 *
 * @param prompts - Version of the run's prompts. Older ones lack the parts that stages hand over.
 */
export function renderRequest(request: StageRequest | AnswerRequest, prompts: PromptVersion): string {
  const instructions = 'question' in request ? [] : instructionParts(request);
  return joined([...instructions, ...requestParts(request, prompts)]);
}

/** The common part of the stages of a task, for the beginning of their conversation: providers cache it. */
export function renderOpening(request: TaskRequest, prompts: PromptVersion): string {
  return joined([...instructionParts(request), ...openingParts(request, prompts)]);
}

/**
 * The part of one stage of a task.
 *
 * @param isContinued - The conversation has the stages before.
 * @param shown - Files of the project.
 */
export function renderHandOver(
  request: TaskRequest,
  isContinued: boolean,
  shown: ShownFiles = { passages: [], headings: [] },
): string {
  const found = [
    ...shown.passages.map(filePart),
    ...shown.headings.map(({ path, content }) => xmlTag('headings', content, { path })),
  ];
  if (!isContinued) return joined([...handOverParts(request), ...found]);
  const { test, files, commit } = request;
  return joined([
    redPart(test?.red),
    changedPart(files),
    ...found,
    xmlTag('commit_style', commit?.style ?? null),
  ]);
}

const joined = (parts: readonly RequestPart[]): string => parts.filter((part) => part !== null).join('\n\n');

function requestParts(request: StageRequest | AnswerRequest, prompts: PromptVersion): readonly RequestPart[] {
  if ('question' in request) return questionParts(request);
  if (!('task' in request)) return proposalParts(request);
  if ('tried' in request) return pivotParts(request);
  return HANDED_OVER[prompts] ? taskParts(request, prompts) : taskPartsBefore(request);
}

/** Whether a request has the results of the stages before. */
const HANDED_OVER: Readonly<Record<PromptVersion, boolean>> = { v1: false, v2: false, v3: true, v4: true };

/** Whether a request has the brief of a small job once. */
const SAID_ONCE: Readonly<Record<PromptVersion, boolean>> = { v1: false, v2: false, v3: false, v4: true };

type RequestPart = string | null;

function proposalParts(request: ResearchRequest | DesignRequest | DistillRequest): readonly RequestPart[] {
  const {
    documents = [],
    changes = [],
    feedback = null,
    rejected = null,
  } = request as Partial<DistillRequest>;
  const others = documents.filter(({ type }) => type !== 'BRIEF');
  return [
    xmlTag('brief', request.brief),
    xmlTag('checks_of_the_project', request.checks ?? null),
    ...others.map(documentPart),
    rejected === null ? null : xmlTag('rejected_plan', planJson(rejected)),
    changes.length === 0 ? null : xmlTag('changed_since_then', changes.join('\n')),
    xmlTag('feedback_on_the_last_proposal', feedback),
  ];
}

function taskPartsBefore(request: TaskRequest | ReviewRequest): readonly RequestPart[] {
  const { check, losses } = request as Partial<ReviewRequest>;
  const isReview = check !== undefined;
  return [
    ...request.documents.map(documentPart),
    ...aboutTask(request),
    ...(isReview ? workParts(request) : []),
    isReview ? checkPart(`${check.command}: ${check.passed ? 'passed' : 'failed'}`, check) : null,
    lossesPart(losses),
  ];
}

function taskParts(request: TaskRequest | ReviewRequest, prompts: PromptVersion): readonly RequestPart[] {
  const { check, losses, findings = [] } = request as Partial<ReviewRequest>;
  return [
    ...openingParts(request, prompts),
    ...handOverParts(request),
    check === undefined ? null : checkPart(formatCheck(check), check),
    lossesPart(losses),
    findings.length === 0 ? null : xmlTag('findings', findings.map((words) => `- ${words}`).join('\n')),
  ];
}

function openingParts(request: TaskRequest, prompts: PromptVersion): readonly RequestPart[] {
  const { documents, checks = null, siblings = [] } = request;
  const about = SAID_ONCE[prompts] ? withoutBrief(request) : request;
  return [
    ...documents.map(documentPart),
    xmlTag('checks_of_the_project', checks),
    siblings.length === 0 ? null : xmlTag('other_tasks', siblings.map(siblingLine).join('\n')),
    ...aboutTask(about),
  ];
}

/** A small job is one task, which its brief describes. */
function withoutBrief(request: TaskRequest): TaskRequest {
  const { task, documents } = request;
  const isBrief = documents.some(
    ({ type, content }) => type === 'BRIEF' && content.trim() === task.description.trim(),
  );
  return isBrief ? { ...request, task: { ...task, description: 'What the document BRIEF says.' } } : request;
}

function handOverParts(request: TaskRequest): readonly RequestPart[] {
  const { excerpts = [], test, commit } = request;
  return [
    ...excerpts.map(filePart),
    ...(test === undefined ? [] : testParts(test)),
    ...workParts(request),
    xmlTag('commit_style', commit?.style ?? null),
  ];
}

/** The first line keeps its indentation: an edit finds a passage by its text. */
const filePart = ({ path, fromLine, content }: ShownFiles['passages'][number]): RequestPart =>
  tagged('file', content.replace(/^(?:[^\S\n]*\n)+/, '').trimEnd(), { path, from_line: String(fromLine) });

const siblingLine = ({ label, name, state }: NonNullable<TaskRequest['siblings']>[number]): string =>
  `${label} ${name} (${state.replace('_', ' ')})`;

function aboutTask(request: TaskRequest): readonly RequestPart[] {
  const { task, lastFailure, strategy, guidance, rejectedDiff, attempt } = request;
  return [
    taskPart(task),
    attempt > 1 ? `This is attempt ${attempt} at the task.` : null,
    xmlTag('last_failure', lastFailure),
    xmlTag('strategy', strategy ?? null),
    xmlTag('rejected_diff', rejectedDiff ?? null),
    ...guidance.map((text) => xmlTag('guidance', text)),
  ];
}

/** The failing test, and how it fails. */
function testParts({ files, diff, red }: NonNullable<TaskRequest['test']>): readonly RequestPart[] {
  return [
    files.length === 0 ? null : xmlTag('test_files', files.join('\n')),
    xmlTag('test_diff', diff ?? null),
    redPart(red),
  ];
}

const redPart = (red: CheckResult | undefined): RequestPart =>
  red === undefined
    ? null
    : xmlTag('check_without_the_code', `${formatCheck(red)}\n${shownOutput(red.output)}`);

/** The work on the task so far. */
const workParts = ({ diff, files }: TaskRequest): readonly RequestPart[] => [
  changedPart(files),
  xmlTag('diff', diff ?? null),
];

const changedPart = (files: TaskRequest['files']): RequestPart =>
  files === undefined
    ? null
    : xmlTag(
        'changed_files',
        files.map(({ path, added, removed }) => `${path} +${added ?? '?'} -${removed ?? '?'}`).join('\n'),
      );

const lossesPart = (losses: ReviewRequest['losses'] = []): RequestPart =>
  losses.length === 0 ? null : xmlTag('lost_tests', losses.map(({ words }) => `- ${words}`).join('\n'));

const checkPart = (said: string, { output }: CheckResult): RequestPart =>
  xmlTag('check', `${said}\n${shownOutput(output)}`);

/** Characters of the checks' output, from its end. */
const OUTPUT_SHOWN = 16_000;

function shownOutput(output: string): string {
  const cut = output.length - OUTPUT_SHOWN;
  return cut <= 0 ? output : `[the first ${cut} characters are left out]\n${output.slice(cut)}`;
}

function pivotParts(request: PivotRequest): readonly RequestPart[] {
  const { task, documents, attempt, reason, tried, observations, errors, guidance, refused } = request;
  return [
    ...documents.map(documentPart),
    xmlTag('checks_of_the_project', request.checks ?? null),
    taskPart(task),
    `After attempt ${attempt}, ${REASONS[reason]}.`,
    ...tried.map(({ strategy }) => xmlTag('tried_strategy', strategy)),
    ...observations.map(({ action, observation }) => xmlTag('attempt', `${action}\n${observation}`)),
    ...errors.map((message) => xmlTag('error', message)),
    ...guidance.map((text) => xmlTag('guidance', text)),
    xmlTag('refused_because_it_was_tried', refused),
  ];
}

const REASONS: Readonly<Record<PivotRequest['reason'], string>> = {
  turns_spent: 'the turns one strategy may take are spent',
  same_error: 'the same error came again and again',
  same_output: 'the attempts left the same files again and again',
};

function questionParts(request: AnswerRequest): readonly RequestPart[] {
  const { brief, documents, task, gate, earlier, question } = request;
  return [
    xmlTag('brief', brief),
    ...documents.filter(({ type }) => type !== 'BRIEF').map(documentPart),
    task === undefined ? null : taskPart(task),
    xmlTag('what_the_person_is_shown', `${gate.message}\n${JSON.stringify(gate.artifact, null, 2)}`),
    ...earlier.map((each) => xmlTag('earlier', `They asked: ${each.question}\nYou answered: ${each.answer}`)),
    xmlTag('question', question),
  ];
}

function taskPart({ name, description, acceptanceCriteria }: TaskRequest['task']): RequestPart {
  const criteria = acceptanceCriteria.map((criterion) => `- ${criterion}`);
  return xmlTag('task', [`# ${name}`, description, 'Acceptance criteria:', ...criteria].join('\n'));
}

const instructionParts = ({ instructions = [] }: StageRequest): readonly RequestPart[] =>
  instructions.map(({ path, content }: NonNullable<TaskRequest['instructions']>[number]) =>
    xmlTag('project_instructions', content, { path }),
  );

const documentPart = ({ type, title, content, rejected }: DraftDocument): RequestPart =>
  xmlTag('document', content, { type, title, ...(rejected && { rejected: 'sent back' }) });

/** Tasks under the names people know them by; a task that stays keeps its name as its key. */
function planJson({ requirements, epics }: PlanResult): string {
  return JSON.stringify({ requirements, epics }, null, 1);
}

function xmlTag(
  name: string,
  content: string | null,
  attributes: Readonly<Record<string, string>> = {},
): RequestPart {
  return content === null ? null : tagged(name, content.trim(), attributes);
}

/** What stands in it cannot end it: repositories and models say what they like. */
function tagged(name: string, text: string, attributes: Readonly<Record<string, string>>): string {
  const named = Object.entries(attributes).map(([key, value]) => ` ${key}=${JSON.stringify(value)}`);
  return `<${name}${named.join('')}>\n${text.replaceAll(`</${name}>`, `<\\/${name}>`)}\n</${name}>`;
}
