import type { FencedLease } from '../../state/Fence.ts';
import type { InterruptedQuestion } from '../../state/HitlSessionStore.ts';
import type { HitlSession } from '../../state/hitlSession.ts';
import type { RunStore } from '../../state/RunStore.ts';

/** The session of a question that no node asks: the driver does, and it is told where it was not asked before. */
export function openGateSession(
  question: InterruptedQuestion,
  lease: FencedLease,
  runs: Pick<RunStore, 'ask'>,
): HitlSession {
  const [session] = runs.ask(lease, [
    {
      question,
      facts: ({ session: { id: sessionId, kind, taskId, threadId }, opened }) => {
        const scope = { taskId, ...(threadId !== null && { threadId }) };
        return opened ? [{ name: 'HITL_SESSION_OPENED', payload: { sessionId, kind, taskId }, scope }] : [];
      },
    },
  ]);
  return session as HitlSession;
}
