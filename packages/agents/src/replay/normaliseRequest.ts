import type {
  AnswerRequest,
  DesignRequest,
  DistillRequest,
  PivotRequest,
  ResearchRequest,
  ReviewRequest,
  TaskRequest,
} from '@devs/core';

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

export type AgentRequest =
  | ResearchRequest
  | DesignRequest
  | DistillRequest
  | TaskRequest
  | ReviewRequest
  | PivotRequest
  | AnswerRequest;

/** Stands for the output of a red check, whose wording belongs to the test runner's version. */
const RED_CHECK = '<output of a red check>';

/** Stands for the message of an error: it may be a provider's. */
const ERROR = '<error>';

/** What differs between two runs of one brief, in the order of replacement. */
const PLACEHOLDERS: readonly (readonly [pattern: RegExp, placeholder: string])[] = [
  [/(?:file:\/\/)?(?:\/[\w.@+-]+)*\/\.devs-work\/[a-z0-9-]+(?:\.\d+)?/g, '<workspace>'],
  [/(?:file:\/\/)?(?:\/private)?\/(?:tmp|var\/tmp|var\/folders)(?:\/[\w.@+-]+)+/g, '<temporary path>'],
  [/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)/g, '<time>'],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, '<id>'],
  [/\b(?:[0-9a-f]{64}|[0-9a-f]{40})\b/g, '<sha>'],
  [/\bduration_ms:?\s+\d+(?:\.\d+)?/g, '<duration>'],
  [/\b\d+(?:\.\d+)?\s?ms\b/g, '<duration>'],
];

/**
 * Reduces a request to the parts that are equal in every run of the same brief, for recordings. Idempotent.
 *
 * - the workspace reader is dropped, and members that JSON cannot express;
 * - data of the repository is dropped (instructions, checks, diffs, lists of files), and rejected work: it follows from
 * earlier answers, and older recordings lack it;
 * - of a person's question, everything except the documents is dropped: the content of the gate can be the output of
 * checks, and earlier questions belong to one conversation;
 * - task ids become `T<n>`;
 * - workspace and temporary paths, times, durations, UUIDs and git object ids become placeholders;
 * - the output of a failed check, and an error's message, become one placeholder, because test runners of other
 * versions use other texts.
 */
export function normaliseRequest(request: AgentRequest): Json {
  const plain = withoutRepositoryFields(request);
  const projectId = /^(.+):\d+$/.exec(plain.task?.taskId ?? '')?.[1];
  const json = JSON.parse(JSON.stringify(withoutOutput(plain))) as Json;
  return normaliseJson(json, projectId);
}

/** Applies the placeholders to every text of a JSON value; `projectId` names the task ids to shorten. */
export function normaliseJson(value: Json, projectId?: string): Json {
  if (typeof value === 'string') return normaliseText(value, projectId);
  if (Array.isArray(value)) return value.map((item: Json) => normaliseJson(item, projectId));
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).map(([key, item]) => [key, normaliseJson(item, projectId)] as const);
  return Object.fromEntries(entries);
}

function normaliseText(text: string, projectId: string | undefined): string {
  const named = projectId === undefined ? text : shortenTaskIds(text, projectId);
  return PLACEHOLDERS.reduce((result, [pattern, placeholder]) => result.replace(pattern, placeholder), named);
}

function shortenTaskIds(text: string, projectId: string): string {
  const literal = projectId.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  return text.replace(new RegExp(`(?<![\\w-])${literal}:(\\d+)\\b`, 'g'), 'T$1');
}

type AnyRequest = Partial<Omit<ReviewRequest, 'attempt'> & PivotRequest>;

/** Members of requests that no recording has. */
const NOT_RECORDED: ReadonlySet<string> = new Set<
  keyof DesignRequest | keyof DistillRequest | keyof ReviewRequest | keyof PivotRequest | keyof AnswerRequest
>([
  'workspace',
  'instructions',
  'checks',
  'changes',
  'rejected',
  'rejectedDiff',
  'diff',
  'files',
  'check',
  'losses',
  'siblings',
  'test',
  'excerpts',
  'findings',
  'commit',
  'gate',
  'earlier',
]);

function withoutRepositoryFields(request: AgentRequest): AnyRequest {
  const kept = Object.entries(request).filter(([name]) => !NOT_RECORDED.has(name));
  const plain = Object.fromEntries(kept) as AnyRequest;
  const { documents } = plain;
  if (documents === undefined) return plain;
  return { ...plain, documents: documents.map(({ rejected: _rejected, ...document }) => document) };
}

/** Leaves what a recording fixes: how often something failed, in which steps. */
function withoutOutput({ lastFailure, observations, errors, ...plain }: AnyRequest): AnyRequest {
  return {
    ...plain,
    ...(lastFailure !== undefined && { lastFailure: lastFailure === null ? null : RED_CHECK }),
    ...(observations && {
      observations: observations.map((report) => ({ ...report, observation: RED_CHECK })),
    }),
    ...(errors && { errors: errors.map(() => ERROR) }),
  };
}
