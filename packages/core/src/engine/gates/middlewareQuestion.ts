// The question of LangChain's `humanInTheLoopMiddleware`, an `interrupt()` of a known form. Its node throws at an answer of another
// form, and an answer is recorded for good: a wrong one would end the run. LangChain's own front ends look for the names of Python's
// middleware, which JavaScript's does not write.

import { isRecord } from '../../values/isRecord.ts';

type JsonRecord = Readonly<Record<string, unknown>>;

export interface AskedAction {
  readonly name: string;
  readonly args: JsonRecord;
  readonly allowed: readonly string[];
  /** Both stand so in the question. */
  readonly request: JsonRecord;
  readonly review: JsonRecord;
}

/** Has one member for each action, in their order. */
export type MiddlewareQuestion = readonly AskedAction[];

/** A question that allows others is of a newer middleware, or of another program: its node knows what it takes. */
const DECISIONS = ['approve', 'edit', 'reject'] as const;

type MiddlewareDecision = (typeof DECISIONS)[number];

/** Reads such a question; returns `null` for any other value. */
export function middlewareQuestion(value: unknown): MiddlewareQuestion | null {
  if (!isRecord(value)) return null;
  const { actionRequests, reviewConfigs } = value;
  if (!Array.isArray(actionRequests) || !Array.isArray(reviewConfigs)) return null;
  if (actionRequests.length === 0 || actionRequests.length !== reviewConfigs.length) return null;
  const actions = actionRequests.map((action: unknown, at) => askedAction(action, reviewConfigs[at]));
  return actions.every((action) => action !== null) ? actions : null;
}

function askedAction(request: unknown, review: unknown): AskedAction | null {
  if (!isRecord(request) || !isRecord(review)) return null;
  const { name, args } = request;
  const { actionName, allowedDecisions: allowed } = review;
  if (typeof name !== 'string' || actionName !== name || !isRecord(args)) return null;
  if (!Array.isArray(allowed) || !allowed.every(isDecision)) return null;
  return { name, args, allowed, request, review };
}

const isDecision = (given: unknown): boolean => DECISIONS.includes(given as MiddlewareDecision);

/** Returns the decisions that each action takes. */
export const commonDecisions = (question: MiddlewareQuestion): readonly MiddlewareDecision[] =>
  DECISIONS.filter((decision) => question.every(({ allowed }) => allowed.includes(decision)));

/** Turns `{ approved }` for the whole question into its `decisions`; returns any other answer as it is. */
export function asDecisions(question: MiddlewareQuestion, answer: unknown): unknown {
  if (!isRecord(answer)) return answer;
  const { approved, feedback: message, ...rest } = answer;
  if (typeof approved !== 'boolean' || Object.values(rest).some((other) => other !== undefined))
    return answer;
  if (approved && message !== undefined) return answer;
  const decision = approved
    ? { type: 'approve' }
    : { type: 'reject', ...(message !== undefined && { message }) };
  return { value: { decisions: question.map(() => decision) } };
}

interface Problem {
  readonly message: string;
  readonly path: readonly (string | number)[];
}

/** Finds what the middleware would throw at; returns `null` for an answer that it takes. */
export function decisionsProblem(question: MiddlewareQuestion, answer: unknown): Problem | null {
  const decisions = isRecord(answer) ? answer['decisions'] : undefined;
  if (!Array.isArray(decisions) || decisions.length !== question.length)
    return { path: ['decisions'], message: `Expected a list of ${question.length}, one for each action` };
  for (const [at, { allowed }] of question.entries()) {
    const problem = decisionProblem(decisions[at], allowed);
    if (problem !== null) return { ...problem, path: ['decisions', at, ...problem.path] };
  }
  return null;
}

function decisionProblem(decision: unknown, allowed: readonly string[]): Problem | null {
  const { type, editedAction, message } = isRecord(decision) ? decision : {};
  if (!allowed.includes(type as string))
    return { path: ['type'], message: `Expected one of ${allowed.join(', ')}` };
  if (type === 'reject' && message !== undefined && typeof message !== 'string')
    return { path: ['message'], message: 'Expected a text' };
  if (type !== 'edit') return null;
  const isAction =
    isRecord(editedAction) && typeof editedAction['name'] === 'string' && isRecord(editedAction['args']);
  return isAction ? null : { path: ['editedAction'], message: 'Expected { name, args }' };
}

/**
 * Adds the names that front ends look for to the question. A review has them itself: LangGraph's SDK shows `reviewConfigs`
 * under both names.
 */
export function withClientNames(value: object, question: MiddlewareQuestion): JsonRecord {
  const reviews = question.map(({ name, allowed, review }) => ({
    ...review,
    action_name: name,
    allowed_decisions: allowed,
  }));
  const [only] = question;
  return {
    ...value,
    action_requests: question.map(({ request }) => request),
    reviewConfigs: reviews,
    review_configs: reviews,
    ...(only !== undefined && question.length === 1 && inboxNames(only)),
  };
}

/** Agent Inbox shows one action. */
function inboxNames({ name, args, allowed, request: { description } }: AskedAction): JsonRecord {
  return {
    action_request: { action: name, args },
    config: {
      allow_accept: allowed.includes('approve'),
      allow_edit: allowed.includes('edit'),
      allow_respond: allowed.includes('reject'),
      allow_ignore: allowed.includes('reject'),
    },
    ...(typeof description === 'string' && { description }),
  };
}
