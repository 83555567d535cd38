import type { DesignRequest, DraftDocument, ResearchRequest, TaskRequest } from '@devs/core';

export type StageRequest = ResearchRequest | DesignRequest | TaskRequest;

/** A request as the text a model reads: every part between tags, absent parts left out. */
export function renderRequest(request: StageRequest): string {
  const parts = 'task' in request ? taskParts(request) : proposalParts(request);
  return parts.filter((part) => part !== null).join('\n\n');
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

function taskParts({ task, documents, lastFailure, guidance, attempt }: TaskRequest): readonly Part[] {
  const criteria = task.acceptanceCriteria.map((criterion) => `- ${criterion}`);
  const described = [`# ${task.name}`, task.description, 'Acceptance criteria:', ...criteria].join('\n');
  return [
    ...documents.map(documentPart),
    tag('task', described),
    attempt > 1 ? `This is attempt ${attempt} at the task.` : null,
    tag('last_failure', lastFailure),
    ...guidance.map((text) => tag('guidance', text)),
  ];
}

const documentPart = ({ type, title, content }: DraftDocument): string =>
  `<document type=${JSON.stringify(type)} title=${JSON.stringify(title)}>\n${content.trim()}\n</document>`;

const tag = (name: string, content: string | null): Part =>
  content === null ? null : `<${name}>\n${content.trim()}\n</${name}>`;
