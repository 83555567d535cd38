import { isEdit } from '../../engine/gates/answers.ts';
import {
  commentsOf,
  type GateComment,
  placeNamed,
  type QuotableSection,
  type QuotableSections,
  type QuoteStatus,
  sinceQuoted,
} from '../../engine/gates/comments.ts';
import type { Gate } from '../../engine/gates/Gate.ts';
import { principalText } from '../../engine/gates/principals.ts';
import { isDevsError } from '../../errors/DevsError.ts';
import type { CodeReview } from '../../orchestration/CodeReview.ts';
import type { HitlSessionStore } from '../../state/gates/HitlSessionStore.ts';
import type { HitlSession, Principal } from '../../state/gates/hitlSession.ts';
import type { ReadQuotedCode } from './codeQuoted.ts';

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

interface CommentDeps {
  readonly sessions: HitlSessionStore;
  readonly places: QuotableSections;
  readonly read: ReadQuotedCode | null;
}

/** The comments of the rejection before a gate, in the order they were given. */
export async function lastComments(
  gate: Gate,
  { sessions, places, read }: CommentDeps,
): Promise<readonly LastComment[]> {
  const last = decisionBefore(gate, sessions);
  if (last === null) return [];
  const [before, now] = [places(artifactOf(last)), places(gate.artifact)];
  const about = {
    by: principalText(last.principal),
    at: new Date(last.decidedAt).toISOString(),
    sessionId: last.id,
  };
  const sinceOf = async (comment: GateComment): Promise<QuoteStatus> => {
    const then = placeNamed(before, comment.in);
    if (then !== null || gate.kind !== 'review')
      return sinceQuoted(comment.quote, then, placeNamed(now, comment.in));
    return sinceInCode(comment, [artifactOf(last), gate.artifact] as ReviewsInTurn, read);
  };
  const found: LastComment[] = [];
  for (const comment of commentsOf(last.decision))
    found.push({ ...comment, ...about, since: await sinceOf(comment) });
  return found;
}

/** A session of a run that was decided: these are all there. */
type DecidedSession = HitlSession & {
  readonly decision: object;
  readonly principal: Principal;
  readonly decidedAt: number;
};

/** An edit decides nothing: what was said before it still stands. */
function decisionBefore(gate: Gate, sessions: HitlSessionStore): DecidedSession | null {
  const openedAt = Date.parse(gate.openedAt);
  const isBefore = (session: DecidedSession): boolean =>
    session.id !== gate.sessionId &&
    session.suspendedAt <= openedAt &&
    !isEdit(session.decision) &&
    isAboutSame(artifactOf(session), gate);
  const decided = sessions.listDecided(gate.threadId, gate.kind) as readonly DecidedSession[];
  return decided.findLast(isBefore) ?? null;
}

/** A design and a plan are about the whole run; a review is about tasks. */
function isAboutSame(before: unknown, { kind, artifact }: Gate): boolean {
  if (kind !== 'review') return true;
  const { taskIds } = before as CodeReview;
  return (artifact as CodeReview).taskIds.some((id) => taskIds.includes(id));
}

/** The one that was commented on, and the one after it. */
type ReviewsInTurn = readonly [CodeReview, CodeReview];

async function sinceInCode(
  { in: path, quote }: GateComment,
  reviews: ReviewsInTurn,
  read: ReadQuotedCode | null,
): Promise<QuoteStatus> {
  if (read === null) return 'unknown';
  try {
    const [before, after] = reviews;
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
