import type { EventSink } from '../../events/EventBus.ts';
import type { HitlSession } from '../../state/HitlSessionStore.ts';
import type { Lease } from '../../state/ThreadStore.ts';
import type { Wait } from '../../state/WaitStore.ts';
import type { EngineStore } from '../EngineStore.ts';
import type { Deadline } from '../gates/DeclaredGate.ts';
import { DEADLINE, deadlineAnswer, deadlineOf } from '../gates/deadlines.ts';

interface Passing {
  readonly lease: Lease;
  readonly store: EngineStore;
  /** Milliseconds since the Unix epoch: what is due by then has passed. */
  readonly now: number;
}

/** The deadlines of the gates that a run waits at. */
export interface GateDeadlines {
  readonly pending: readonly Wait[];
  /** Whether something was done about one. */
  readonly hasPassed: boolean;
}

/**
 * Does what the run was started with about gates that nobody has decided in time: once, in one transaction with the end of
 * the deadline, so that neither a reminder nor a decision is lost or comes twice.
 */
export function applyDeadlines(open: readonly HitlSession[], { lease, store, now }: Passing): GateDeadlines {
  const ids = open.map(({ id }) => id);
  const all = ids.length === 0 ? [] : store.waits.deadlines(lease.threadId, ids);
  const pending = all.filter(({ state }) => state === 'pending');
  const due = pending.filter(({ dueAt }) => dueAt !== null && dueAt <= now);
  if (due.length === 0) return { pending, hasPassed: false };
  store.commitUnder(lease, (emit) => {
    for (const wait of due) {
      const session = store.sessions.require(wait.place);
      const isOpen = session.status === 'awaiting_approval'; // nobody was faster
      if (isOpen && store.waits.fire(wait, now)) pass(deadlineOf(wait, session), session, { store, emit });
    }
  });
  return { pending: [], hasPassed: true };
}

function pass(
  deadline: Deadline,
  { id: sessionId, kind, threadId, taskId, artifactHash }: HitlSession,
  { store, emit }: { readonly store: EngineStore; readonly emit: EventSink['emit'] },
): void {
  const { within, do: act } = deadline;
  const scope = { taskId, ...(threadId !== null && { threadId }) };
  if (act === 'remind') emit('GATE_REMINDED', { sessionId, kind, within }, scope);
  else if (typeof act === 'object')
    emit('GATE_REASSIGNED', { sessionId, kind, within, to: act.reassign }, scope);
  else {
    const answer = deadlineAnswer(deadline);
    store.manager.decide(sessionId, { artifactHash: artifactHash ?? '', answer, by: DEADLINE });
  }
}
