import type {
  AnswerRequest,
  DesignRequest,
  DraftDocument,
  PivotReason,
  PivotRequest,
  ResearchRequest,
  TaskRequest,
} from '@devs/core';

export type StageRequest = ResearchRequest | DesignRequest | TaskRequest | PivotRequest;

/** A request as the text a model reads: every part between tags, absent parts left out. */
export function renderRequest(request: StageRequest | AnswerRequest): string {
  return partsOf(request)
    .filter((part) => part !== null)
    .join('\n\n');
}

function partsOf(request: StageRequest | AnswerRequest): readonly Part[] {
  if ('question' in request) return questionParts(request);
  if (!('task' in request)) return proposalParts(request);
  return 'tried' in request ? pivotParts(request) : taskParts(request);
}

type Part = string | null;

function proposalParts(request: ResearchRequest | DesignRequest): readonly Part[] {
  const documents = 'documents' in request ? request.documents.filter(({ type }) => type !== 'BRIEF') : [];
  return [
    tag('brief', request.brief),
    ...documents.map(documentPart),
    'feedback' in request ? tag('feedback_on_the_last_proposal', request.feedback) : null,
  ];
}

function taskParts({
  task,
  documents,
  lastFailure,
  strategy,
  guidance,
  attempt,
}: TaskRequest): readonly Part[] {
  return [
    ...documents.map(documentPart),
    taskPart(task),
    attempt > 1 ? `This is attempt ${attempt} at the task.` : null,
    tag('last_failure', lastFailure),
    tag('strategy', strategy ?? null),
    ...guidance.map((text) => tag('guidance', text)),
  ];
}

function pivotParts(request: PivotRequest): readonly Part[] {
  const { task, documents, attempt, reason, tried, observations, errors, guidance, refused } = request;
  return [
    ...documents.map(documentPart),
    taskPart(task),
    `After attempt ${attempt}, ${REASONS[reason]}.`,
    ...tried.map(({ strategy }) => tag('tried_strategy', strategy)),
    ...observations.map(({ action, observation }) => tag('attempt', `${action}\n${observation}`)),
    ...errors.map((message) => tag('error', message)),
    ...guidance.map((text) => tag('guidance', text)),
    tag('refused_because_it_was_tried', refused),
  ];
}

const REASONS: Readonly<Record<PivotReason, string>> = {
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

const documentPart = ({ type, title, content }: DraftDocument): string =>
  `<document type=${JSON.stringify(type)} title=${JSON.stringify(title)}>\n${content.trim()}\n</document>`;

const tag = (name: string, content: string | null): Part =>
  content === null ? null : `<${name}>\n${content.trim()}\n</${name}>`;
