import { canonicalJson } from './canonicalJson.ts';
import type { Vote } from './HitlVoteStore.ts';
import type { AnsweredSession, HiddenRecord, HitlSession, Principal } from './hitlSession.ts';
import { parseStored } from './parseStored.ts';

/** A row; `sound` is there where it was compared with its SHA-256. */
export interface SessionRow
  extends Omit<HitlSession, 'question' | 'evidence' | 'decision' | 'principal' | 'via' | 'hidden' | 'votes'> {
  readonly questionJson: string | null;
  readonly evidenceJson: string | null;
  readonly decisionJson: string | null;
  readonly principalKind: Principal['kind'] | null;
  readonly principalId: string | null;
  readonly sound?: 1;
}

/** The columns of an {@link AnsweredSession}: without what was shown, which may be large. */
export type AnsweredRow = Omit<AnsweredSession, 'decision' | 'principal' | 'via' | 'hidden'> &
  Pick<SessionRow, 'decisionJson' | 'principalKind' | 'principalId'>;

/** What is kept beside an answer, in its row. No answer has members of these names: their forms are strict. */
export interface AnswerExtras {
  /** The way it was given: a short word. */
  readonly via?: string | undefined;
  readonly hidden?: HiddenRecord | undefined;
}

/** A decision as its row has it: the answer, and beside it the way it was given and what was hidden. */
export function storedDecision(answer: unknown, { via, hidden }: AnswerExtras): string {
  if (via === undefined && hidden === undefined) return canonicalJson(answer);
  return canonicalJson({
    ...(answer as object),
    ...(via !== undefined && { via }),
    ...(hidden !== undefined && { hidden }),
  });
}

/** A session as its row has it. @param votesOf - Read where its gate counts votes. */
export function sessionFromRow(row: SessionRow, votesOf: (id: string) => readonly Vote[]): HitlSession {
  const { questionJson, evidenceJson, decisionJson, principalKind, principalId, sound: _, ...session } = row;
  const question = parseColumn(questionJson, session.id);
  return {
    ...session,
    ...answerIn({ id: session.id, decisionJson, principalKind, principalId }),
    question,
    evidence: parseColumn(evidenceJson, session.id),
    ...(wantsVotes(question) && { votes: votesOf(session.id) }),
  };
}

export function answeredSessionOf(row: AnsweredRow): AnsweredSession {
  const { decisionJson: _, principalKind: _kind, principalId: _id, ...session } = row;
  return { ...session, ...answerIn(row) };
}

function answerIn({
  id,
  decisionJson,
  principalKind,
  principalId,
}: Pick<AnsweredRow, 'id' | 'decisionJson' | 'principalKind' | 'principalId'>): Pick<
  HitlSession,
  'decision' | 'principal' | 'via' | 'hidden'
> {
  const given = parseColumn(decisionJson, id);
  const { via, hidden, ...decision } = Object(given) as AnswerExtras;
  const isBeside = via !== undefined || hidden !== undefined;
  return {
    decision: isBeside ? decision : given,
    principal: principalKind === null ? null : { kind: principalKind, id: principalId ?? '' },
    ...(typeof via === 'string' && { via }),
    ...(hidden !== undefined && { hidden }),
  };
}

function wantsVotes(question: unknown): boolean {
  const { takes } = (question ?? {}) as { readonly takes?: { readonly approvals?: unknown } };
  return takes?.approvals !== undefined;
}

function parseColumn(json: string | null, id: string): unknown {
  return json === null ? null : parseStored(json, `session "${id}"`);
}
