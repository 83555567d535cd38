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
  return [...instructions, ...partsOf(request)].filter((part) => part !== null).join('\n\n');
}

function partsOf(request: StageRequest | AnswerRequest): readonly Part[] {
  if ('question' in request) return questionParts(request);
  if (!('task' in request)) return proposalParts(request);
  return 'tried' in request ? pivotParts(request) : taskParts(request);
}

type Part = string | null;

function proposalParts(request: ResearchRequest | DesignRequest | DistillRequest): readonly Part[] {
  const {
    documents = [],
    changes = [],
    feedback = null,
    rejected = null,
  } = request as Partial<DistillRequest>;
  const others = documents.filter(({ type }) => type !== 'BRIEF');
  return [
    tag('brief', request.brief),
    tag('checks_of_the_project', request.checks ?? null),
    ...others.map(documentPart),
    rejected === null ? null : tag('rejected_plan', planText(rejected)),
    changes.length === 0 ? null : tag('changed_since_then', changes.join('\n')),
    tag('feedback_on_the_last_proposal', feedback),
  ];
}

function taskParts(request: TaskRequest | ReviewRequest): readonly Part[] {
  const { task, documents, lastFailure, strategy, guidance, rejectedDiff, attempt } = request;
  return [
    ...documents.map(documentPart),
    taskPart(task),
    attempt > 1 ? `This is attempt ${attempt} at the task.` : null,
    tag('last_failure', lastFailure),
    tag('strategy', strategy ?? null),
    tag('rejected_diff', rejectedDiff ?? null),
    ...guidance.map((text) => tag('guidance', text)),
    ...workParts(request),
  ];
}

/** What a reviewer judges. */
function workParts({ diff, files, check, losses = [] }: Partial<ReviewRequest>): readonly Part[] {
  const changed = files?.map(({ path, added, removed }) => `${path} +${added ?? '?'} -${removed ?? '?'}`);
  return [
    changed === undefined ? null : tag('changed_files', changed.join('\n')),
    tag('diff', diff ?? null),
    check === undefined ? null : checkPart(check),
    losses.length === 0 ? null : tag('lost_tests', losses.map(({ words }) => `- ${words}`).join('\n')),
  ];
}

function checkPart({ command, passed, output }: CheckResult): Part {
  return tag('check', `${command}: ${passed ? 'passed' : 'failed'}\n${output}`);
}

function pivotParts(request: PivotRequest): readonly Part[] {
  const { task, documents, attempt, reason, tried, observations, errors, guidance, refused } = request;
  return [
    ...documents.map(documentPart),
    tag('checks_of_the_project', request.checks ?? null),
    taskPart(task),
    `After attempt ${attempt}, ${REASONS[reason]}.`,
    ...tried.map(({ strategy }) => tag('tried_strategy', strategy)),
    ...observations.map(({ action, observation }) => tag('attempt', `${action}\n${observation}`)),
    ...errors.map((message) => tag('error', message)),
    ...guidance.map((text) => tag('guidance', text)),
    tag('refused_because_it_was_tried', refused),
  ];
}

const REASONS: Readonly<Record<PivotRequest['reason'], string>> = {
  turns_spent: 'the turns one strategy may take are spent',
  same_error: 'the same error came again and again',
  same_output: 'the attempts left the same files again and again',
};

function questionParts(request: AnswerRequest): readonly Part[] {
  const { brief, documents, task, gate, earlier, question } = request;
  return [
    tag('brief', brief),
    ...documents.filter(({ type }) => type !== 'BRIEF').map(documentPart),
    task === undefined ? null : taskPart(task),
    tag('what_the_person_is_shown', `${gate.message}\n${JSON.stringify(gate.artifact, null, 2)}`),
    ...earlier.map((each) => tag('earlier', `They asked: ${each.question}\nYou answered: ${each.answer}`)),
    tag('question', question),
  ];
}

function taskPart({ name, description, acceptanceCriteria }: TaskRequest['task']): Part {
  const criteria = acceptanceCriteria.map((criterion) => `- ${criterion}`);
  return tag('task', [`# ${name}`, description, 'Acceptance criteria:', ...criteria].join('\n'));
}

const instructionParts = ({ instructions = [] }: StageRequest): readonly Part[] =>
  instructions.map(({ path, content }: NonNullable<TaskRequest['instructions']>[number]) =>
    tag('project_instructions', content, { path }),
  );

const documentPart = ({ type, title, content, rejected }: DraftDocument): Part =>
  tag('document', content, { type, title, ...(rejected && { rejected: 'sent back' }) });

/** Tasks under the names people know them by; a task that stays keeps its name as its key. */
function planText({ requirements, epics }: PlanResult): string {
  return JSON.stringify({ requirements, epics }, null, 1);
}

/** What stands in it cannot end it: repositories and models say what they like. */
function tag(name: string, content: string | null, attributes: Readonly<Record<string, string>> = {}): Part {
  if (content === null) return null;
  const named = Object.entries(attributes).map(([key, value]) => ` ${key}=${JSON.stringify(value)}`);
  const inner = content.trim().replaceAll(`</${name}>`, `<\\/${name}>`);
  return `<${name}${named.join('')}>\n${inner}\n</${name}>`;
}
