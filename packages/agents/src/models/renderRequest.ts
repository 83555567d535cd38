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

export type StageRequest =
  | ResearchRequest
  | DesignRequest
  | DistillRequest
  | TaskRequest
  | ReviewRequest
  | PivotRequest;

/** A request as the text a model reads: every part between tags, absent parts left out. */
export function renderRequest(request: StageRequest | AnswerRequest): string {
  const instructions = 'question' in request ? [] : instructionParts(request);
  return [...instructions, ...requestParts(request)].filter((part) => part !== null).join('\n\n');
}

function requestParts(request: StageRequest | AnswerRequest): readonly RequestPart[] {
  if ('question' in request) return questionParts(request);
  if (!('task' in request)) return proposalParts(request);
  return 'tried' in request ? pivotParts(request) : taskParts(request);
}

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

function taskParts(request: TaskRequest | ReviewRequest): readonly RequestPart[] {
  const { task, documents, lastFailure, strategy, guidance, rejectedDiff, attempt } = request;
  return [
    ...documents.map(documentPart),
    taskPart(task),
    attempt > 1 ? `This is attempt ${attempt} at the task.` : null,
    xmlTag('last_failure', lastFailure),
    xmlTag('strategy', strategy ?? null),
    xmlTag('rejected_diff', rejectedDiff ?? null),
    ...guidance.map((text) => xmlTag('guidance', text)),
    ...workParts(request),
  ];
}

/** What a reviewer judges. */
function workParts({ diff, files, check, losses = [] }: Partial<ReviewRequest>): readonly RequestPart[] {
  const changed = files?.map(({ path, added, removed }) => `${path} +${added ?? '?'} -${removed ?? '?'}`);
  return [
    changed === undefined ? null : xmlTag('changed_files', changed.join('\n')),
    xmlTag('diff', diff ?? null),
    check === undefined ? null : checkPart(check),
    losses.length === 0 ? null : xmlTag('lost_tests', losses.map(({ words }) => `- ${words}`).join('\n')),
  ];
}

function checkPart({ command, passed, output }: CheckResult): RequestPart {
  return xmlTag('check', `${command}: ${passed ? 'passed' : 'failed'}\n${output}`);
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

/** What stands in it cannot end it: repositories and models say what they like. */
function xmlTag(
  name: string,
  content: string | null,
  attributes: Readonly<Record<string, string>> = {},
): RequestPart {
  if (content === null) return null;
  const named = Object.entries(attributes).map(([key, value]) => ` ${key}=${JSON.stringify(value)}`);
  const inner = content.trim().replaceAll(`</${name}>`, `<\\/${name}>`);
  return `<${name}${named.join('')}>\n${inner}\n</${name}>`;
}
