import type { EngineStore } from '../engine/EngineStore.ts';
import { type Gate, gateOf } from '../engine/Gate.ts';
import { principalText } from '../engine/gates/decidable.ts';
import type { Principal } from '../state/hitlSession.ts';

/**
 * What a person was shown last of a gate's kind and task, if that was something else than it shows now; `null` for
 * the first time, and when it is the same. For display only: no decision depends on it.
 */
export function lastShown(gate: Gate, by: Principal, store: EngineStore): Gate | null {
  const { kind, taskId } = gate;
  const principal = principalText(by);
  const last = store.log
    .listNamed(gate.threadId, 'GATE_SHOWN')
    .findLast(
      ({ payload, ...event }) =>
        payload.kind === kind && payload.principal === principal && event.taskId === taskId,
    );
  if (last === undefined || last.payload.artifactHash === gate.artifactHash) return null;
  const session = store.sessions.find(last.payload.sessionId);
  return session === null ? null : gateOf(session);
}
