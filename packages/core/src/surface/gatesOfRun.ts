// The gates of a run: found by their session, as a person saw them last, announced once.

import type { Gate } from '../engine/gates/Gate.ts';
import { DevsError } from '../errors/DevsError.ts';
import type { EventBus } from '../events/EventBus.ts';
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

/** Told of a gate that a human has to decide. May be asynchronous; nothing waits for it. */
export type OnGate = (gate: Gate) => void | Promise<void>;

/**
 * Tells of each gate, once per process, when the run that waits at it has come to rest: it can be decided then. A
 * listener that fails is a warning of the process; the run does not notice.
 *
 * @returns A function that stops it.
 */
export function tellGates(
  events: EventBus,
  gatesOf: (threadId: string) => readonly Gate[] | Promise<readonly Gate[]>,
  onGate: OnGate,
): () => void {
  const told = new Set<string>();
  const tell = (gates: readonly Gate[]): void => {
    for (const gate of gates.filter(({ sessionId }) => !told.has(sessionId))) {
      told.add(gate.sessionId);
      Promise.resolve(gate).then(onGate).catch(warn);
    }
  };
  return events.on('RUN_SUSPENDED', (_payload, { threadId }) => {
    Promise.resolve(gatesOf(threadId ?? ''))
      .then(tell)
      .catch(warn);
  });
}

function warn(error: unknown): void {
  process.emitWarning(`onGate failed: ${String(error)}`, 'DevsListenerWarning');
}
