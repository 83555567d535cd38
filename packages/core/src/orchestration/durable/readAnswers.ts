import type { HitlSession } from '../../state/HitlSessionStore.ts';
import type { EngineStore } from './EngineStore.ts';
import type { OpenQuestion } from './openQuestions.ts';
import { asQuestion, sessionOf } from './openSessions.ts';
import { isQuestion, type KeyedAnswer } from './question.ts';

/** A recorded decision on its way to the interrupt it answers. */
export interface GivenAnswer {
  readonly interruptId: string;
  readonly session: HitlSession;
  /** What LangGraph is resumed with: keyed, except for a bare `interrupt()` of an own graph. */
  readonly resume: KeyedAnswer | unknown;
  /** Set when the decision ends the run instead of reaching its node. */
  readonly endsRun: string | null;
}

export interface Answers {
  readonly given: readonly GivenAnswer[];
  readonly unanswered: readonly HitlSession[];
}

/**
 * Pairs open questions with recorded decisions. A question whose session is missing (the process died between the
 * two) gets it here.
 */
export function readAnswers(open: readonly OpenQuestion[], threadId: string, store: EngineStore): Answers {
  const given: GivenAnswer[] = [];
  const unanswered: HitlSession[] = [];
  for (const question of open) {
    const session = sessionFor(question, threadId, store);
    if (session.status === 'awaiting_approval') unanswered.push(session);
    else given.push(givenAnswer(question, session));
  }
  return { given, unanswered };
}

function sessionFor({ interruptId, value }: OpenQuestion, threadId: string, store: EngineStore): HitlSession {
  const known = store.sessions.findByInterrupt(threadId, interruptId);
  if (known !== null) return known;
  const question = asQuestion(value, interruptId, threadId);
  return store.sessions.openForInterrupt(sessionOf(question, interruptId, { threadId, checkpointId: null }))
    .session;
}

function givenAnswer({ interruptId, value }: OpenQuestion, session: HitlSession): GivenAnswer {
  const answer = answerValue(session);
  const resume = isQuestion(value) ? { for: value.key, value: answer } : answer;
  return { interruptId, session, resume, endsRun: reasonToEnd(value, answer) };
}

/** What the human said, with who said it and when, for the record the node makes. */
function answerValue({ decision, principal, decidedAt }: HitlSession): Record<string, unknown> {
  const answer = decision as Record<string, unknown>;
  if (!('approved' in answer) || principal === null || decidedAt === null) return answer;
  return { ...answer, approvedBy: principal.id, approvedAt: new Date(decidedAt).toISOString() };
}

function reasonToEnd(question: unknown, answer: Readonly<Record<string, unknown>>): string | null {
  if (answer['action'] === 'abort') return 'aborted by a human';
  const rejected = answer['approved'] === false;
  if (!rejected || !isQuestion(question) || question.endsOnRejection !== true) return null;
  return `rejected: ${String(answer['feedback'] ?? 'no reason given')}`;
}
