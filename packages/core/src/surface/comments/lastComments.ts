import type { Gate } from '../../engine/Gate.ts';
import { isEdit } from '../../engine/gates/answers.ts';
import { commentsOf, type GateComment } from '../../engine/gates/comments.ts';
import { principalText } from '../../engine/gates/decidable.ts';
import {
  placeNamed,
  type ShownPlace,
  type ShownPlaces,
  type SinceQuoted,
  sinceQuoted,
} from '../../engine/gates/quotes.ts';
import { isDevsError } from '../../errors/DevsError.ts';
import type { CodeReview } from '../../orchestration/CodeReview.ts';
import type { HitlSessionStore } from '../../state/HitlSessionStore.ts';
import type { HitlSession } from '../../state/hitlSession.ts';
import type { ReadCode } from './codeQuoted.ts';

/** What somebody said of the last version that a gate showed, and what became of it in this one. */
export interface LastComment extends GateComment {
  /** Such as `human:ada`. */
  readonly by: string;
  /** ISO 8601, UTC. */
  readonly at: string;
  /** The gate it was said at. */
  readonly sessionId: string;
  readonly since: SinceQuoted;
}

interface Deps {
  readonly sessions: HitlSessionStore;
  readonly places: ShownPlaces;
  readonly read: ReadCode | null;
}

/** The comments of the rejection before a gate, in the order they were given. */
export async function lastComments(
  gate: Gate,
  { sessions, places, read }: Deps,
): Promise<readonly LastComment[]> {
  const last = lastDecision(gate, sessions);
  const given = last === null ? [] : commentsOf(Object(last.decision) as object);
  if (last === null || given.length === 0) return [];
  const [before, now] = [places(artifactOf(last)), places(gate.artifact)];
  const about = {
    by: last.principal === null ? '' : principalText(last.principal),
    at: new Date(last.decidedAt ?? 0).toISOString(),
    sessionId: last.id,
  };
  const sinceOf = async (comment: GateComment): Promise<SinceQuoted> => {
    const then = placeNamed(before, comment.in);
    if (then !== null || gate.kind !== 'review')
      return sinceQuoted(comment.quote, then, placeNamed(now, comment.in));
    return sinceInCode(comment, [artifactOf(last), gate.artifact] as readonly CodeReview[], read);
  };
  const found: LastComment[] = [];
  for (const comment of given) found.push({ ...comment, ...about, since: await sinceOf(comment) });
  return found;
}

/** An edit decides nothing: what was said before it still stands. */
function lastDecision(gate: Gate, sessions: HitlSessionStore): HitlSession | null {
  const openedAt = Date.parse(gate.openedAt);
  const isBefore = (session: HitlSession): boolean =>
    session.id !== gate.sessionId &&
    session.suspendedAt <= openedAt &&
    !isEdit(session.decision) &&
    isAboutSame(artifactOf(session), gate);
  return sessions.listDecided(gate.threadId, gate.kind).findLast(isBefore) ?? null;
}

/** A design and a plan are about the whole run; a review is about tasks. */
function isAboutSame(before: unknown, { kind, artifact }: Gate): boolean {
  if (kind !== 'review') return true;
  const { taskIds } = before as CodeReview;
  return (artifact as CodeReview).taskIds.some((id) => taskIds.includes(id));
}

async function sinceInCode(
  { in: path, quote }: GateComment,
  reviews: readonly CodeReview[],
  read: ReadCode | null,
): Promise<SinceQuoted> {
  if (read === null) return 'unknown';
  const placeAt = async ({ range: { to } }: CodeReview): Promise<ShownPlace | null> => {
    const text = await read(to, path);
    return text === null ? null : { names: [path], texts: [text] };
  };
  try {
    const [before = null, now = null] = await Promise.all(reviews.map(placeAt));
    return sinceQuoted(quote, before, now);
  } catch (error) {
    // Commits of a run that was carried over to others may be gone.
    if (isDevsError(error, 'WORKSPACE_FAILED')) return 'unknown';
    throw error;
  }
}

const artifactOf = ({ question }: HitlSession): unknown =>
  (question as { readonly artifact?: unknown } | null)?.artifact ?? null;
