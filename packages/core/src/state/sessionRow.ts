import { canonicalJson } from './canonicalJson.ts';
import type { Vote } from './HitlVoteStore.ts';
import type { AnsweredSession, HitlSession, Principal } from './hitlSession.ts';
import { parseStored } from './parseStored.ts';

/** A row; `sound` is there where it was compared with its SHA-256. */
export interface SessionRow
  extends Omit<HitlSession, 'question' | 'evidence' | 'decision' | 'principal' | 'via' | 'votes'> {
  readonly questionJson: string | null;
  readonly evidenceJson: string | null;
  readonly decisionJson: string | null;
  readonly principalKind: Principal['kind'] | null;
  readonly principalId: string | null;
  readonly sound?: 1;
}

/** The columns of an {@link AnsweredSession}: without what was shown, which may be large. */
export type AnsweredRow = Omit<AnsweredSession, 'decision' | 'principal' | 'via'> &
  Pick<SessionRow, 'decisionJson' | 'principalKind' | 'principalId'>;

/** No answer has a member of this name: their forms are strict. */
const VIA = 'via';

/** A decision as its row has it: the answer, and beside it the way it was given. */
export const storedDecision = (answer: unknown, via: string | undefined): string =>
  canonicalJson(via === undefined ? answer : { ...(answer as object), [VIA]: via });

/** A session as its row has it. @param votesOf - Read where its gate counts votes. */
export function sessionOf(row: SessionRow, votesOf: (id: string) => readonly Vote[]): HitlSession {
  const { questionJson, evidenceJson, decisionJson, principalKind, principalId, sound: _, ...session } = row;
  const question = parse(questionJson, session.id);
  return {
    ...session,
    ...answerIn({ id: session.id, decisionJson, principalKind, principalId }),
    question,
    evidence: parse(evidenceJson, session.id),
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
  'decision' | 'principal' | 'via'
> {
  const given = parse(decisionJson, id);
  const { [VIA]: via, ...decision } = Object(given) as Readonly<Record<string, unknown>>;
  return {
    decision: typeof via === 'string' ? decision : given,
    principal: principalKind === null ? null : { kind: principalKind, id: principalId ?? '' },
    ...(typeof via === 'string' && { via }),
  };
}

function wantsVotes(question: unknown): boolean {
  const { takes } = (question ?? {}) as { readonly takes?: { readonly approvals?: unknown } };
  return takes?.approvals !== undefined;
}

function parse(json: string | null, id: string): unknown {
  return json === null ? null : parseStored(json, `session "${id}"`);
}
