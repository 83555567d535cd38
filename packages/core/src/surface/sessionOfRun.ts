import { DevsError } from '../errors/DevsError.ts';
import type { HitlSessionStore } from '../state/gates/HitlSessionStore.ts';
import type { HitlSession } from '../state/gates/hitlSession.ts';

/** A session, open or closed. @throws DevsError `GATE_NOT_FOUND` also for one of another run. */
export function sessionOfRun(threadId: string, sessionId: string, sessions: HitlSessionStore): HitlSession {
  const session = sessions.require(sessionId);
  if (session.threadId === threadId) return session;
  throw new DevsError(`Run "${threadId}" has no gate "${sessionId}".`, {
    code: 'GATE_NOT_FOUND',
    remedy: 'Use the run that the gate belongs to.',
    context: { threadId, sessionId },
  });
}
