// Comments of the rejection before a gate, and what became of them.

import {
  type CommentTally,
  commentsOf,
  type GateComment,
  placeNamed,
  type QuotableSection,
  type QuotableSections,
  type QuoteStatus,
  sinceQuoted,
} from '../../engine/gates/answerForms.ts';
import { isEdit } from '../../engine/gates/engineGates.ts';
import type { Gate } from '../../engine/gates/Gate.ts';
import { principalText } from '../../engine/gates/principals.ts';
import { isDevsError } from '../../errors/DevsError.ts';
import type { HitlSessionStore } from '../../state/gates/HitlSessionStore.ts';
import type { HitlSession, Principal } from '../../state/gates/hitlSession.ts';
import type { CodeReview } from '../ports.ts';

/** What somebody said of the last version that a gate showed, and what became of it in this one. */
export interface LastComment extends GateComment {
  /** Such as `human:ada`. */
  readonly by: string;
  /** ISO 8601, UTC. */
  readonly at: string;
  /** The gate it was said at. */
  readonly sessionId: string;
  readonly since: QuoteStatus;
}

/** A gate, or what will be one: without `sessionId` and `openedAt` it is asked now. */
export type AskedGate = Pick<Gate, 'kind' | 'threadId' | 'artifact'> &
  Partial<Pick<Gate, 'sessionId' | 'openedAt'>>;

/** Reads a file of a run's commit, without its secrets, as comments on it are recorded; `null` where there is none. */
export type ReadQuotedCode = (commit: string, path: string) => Promise<string | null>;

/** The texts of a gate that comments quote; `read` is `null` where the code of runs cannot be read. */
export interface QuotableTexts {
  readonly places: QuotableSections;
  readonly read: ReadQuotedCode | null;
}

type Sessions = Pick<HitlSessionStore, 'listDecided'>;

/** The comments of the rejection before a gate, in the order they were given. */
export async function lastComments(
  gate: AskedGate,
  { places, read }: QuotableTexts,
  sessions: Sessions,
): Promise<readonly LastComment[]> {
  const last = decisionBefore(gate, sessions);
  if (last === null) return [];
  const reviews = [artifactOf(last), gate.artifact] as ReviewsInTurn;
  const found: LastComment[] = [];
  for (const { since, ...comment } of commentsOn(gate, last, places))
    found.push({ ...comment, since: since ?? (await sinceInCode(comment, reviews, read)) });
  return found;
}

/** How many comments of the rejection before a proposal are answered by it; `null` without any. */
export function tallyComments(
  gate: AskedGate,
  places: QuotableSections,
  sessions: Sessions,
): CommentTally | null {
  const last = decisionBefore(gate, sessions);
  return last === null ? null : tallyOf(commentsOn(gate, last, places));
}

/** Answered: the text that a comment quotes has changed. `null` without comments. */
export function tallyOf(comments: readonly { readonly since: QuoteStatus | null }[]): CommentTally | null {
  const answered = comments.filter(({ since }) => since === 'changed' || since === 'gone').length;
  return comments.length === 0 ? null : { answered, total: comments.length };
}

/** `since` is `null` of those on files of a review. */
function commentsOn(gate: AskedGate, last: DecidedSession, places: QuotableSections) {
  const [before, now] = [places(artifactOf(last)), places(gate.artifact)];
  const about = {
    by: principalText(last.principal),
    at: new Date(last.decidedAt).toISOString(),
    sessionId: last.id,
  };
  return commentsOf(last.decision).map((comment) => {
    const then = placeNamed(before, comment.in);
    const isCode = then === null && gate.kind === 'review';
    const since = isCode ? null : sinceQuoted(comment.quote, then, placeNamed(now, comment.in));
    return { ...comment, ...about, since };
  });
}

/** A session of a run that was decided: these are all there. */
type DecidedSession = HitlSession & {
  readonly decision: object;
  readonly principal: Principal;
  readonly decidedAt: number;
};

/** An edit decides nothing: what was said before it still stands. */
function decisionBefore(gate: AskedGate, sessions: Sessions): DecidedSession | null {
  const openedAt = gate.openedAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(gate.openedAt);
  const isBefore = (session: DecidedSession): boolean =>
    session.id !== gate.sessionId &&
    session.suspendedAt <= openedAt &&
    !isEdit(session.decision) &&
    isAboutSame(artifactOf(session), gate);
  const decided = sessions.listDecided(gate.threadId, gate.kind) as readonly DecidedSession[];
  return decided.findLast(isBefore) ?? null;
}

/** A design and a plan are about the whole run; a review is about tasks. */
function isAboutSame(before: unknown, { kind, artifact }: AskedGate): boolean {
  if (kind !== 'review') return true;
  const { taskIds } = before as CodeReview;
  return (artifact as CodeReview).taskIds.some((id) => taskIds.includes(id));
}

/** The one that was commented on, and the one after it. */
type ReviewsInTurn = readonly [CodeReview, CodeReview];

async function sinceInCode(
  { in: path, quote }: GateComment,
  [before, after]: ReviewsInTurn,
  read: ReadQuotedCode | null,
): Promise<QuoteStatus> {
  if (read === null) return 'unknown';
  try {
    const [then, now] = await Promise.all([read(before.range.to, path), read(after.range.to, path)]);
    const placeOf = (text: string | null): QuotableSection => ({ names: [path], texts: [text ?? ''] });
    return sinceQuoted(quote, placeOf(then), then !== null && now === null ? null : placeOf(now));
  } catch (error) {
    // Commits of a run that was carried over to others may be gone.
    if (isDevsError(error, 'WORKSPACE_FAILED')) return 'unknown';
    throw error;
  }
}

const artifactOf = ({ question }: HitlSession): unknown =>
  (question as { readonly artifact?: unknown } | null)?.artifact ?? null;
