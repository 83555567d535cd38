import type { HitlSession } from '../../state/HitlSessionStore.ts';
import type { HitlSessionKind } from '../types.ts';

/** An open question to a human: what it is about and what it shows. Deciding it binds to `artifactHash`. */
export interface Gate {
  readonly sessionId: string;
  readonly threadId: string;
  readonly kind: HitlSessionKind;
  readonly taskId: string;
  /** SHA-256 (hex) of `artifact`. */
  readonly artifactHash: string;
  readonly message: string;
  readonly artifact: unknown;
  /** ISO 8601, UTC. */
  readonly openedAt: string;
}

export function gateOf(session: HitlSession): Gate {
  const { message, artifact } = (session.question ?? {}) as { message?: string; artifact?: unknown };
  return {
    sessionId: session.id,
    threadId: session.threadId ?? '',
    kind: session.kind,
    taskId: session.taskId,
    artifactHash: session.artifactHash ?? '',
    message: message ?? '',
    artifact: artifact ?? null,
    openedAt: new Date(session.suspendedAt).toISOString(),
  };
}
