import type { EngineStore } from '../engine/EngineStore.ts';
import { type Gate, gateOf } from '../engine/gates/Gate.ts';
import { isSameId, principalText } from '../engine/gates/principals.ts';
import type { Principal } from '../state/gates/hitlSession.ts';

/**
 * What a person was shown last of a gate's kind and task, if that was something else than it shows now; `null` for
 * the first time, and when it is the same. For display only: no decision depends on it.
 */
export function lastShown(gate: Gate, by: Principal, store: EngineStore): Gate | null {
  const last = timesShown(gate, by, store).at(-1);
  return last === undefined || last.artifactHash === gate.artifactHash ? null : gateViewedAt(last, store);
}

/** What they were shown last of other versions than this one, whether or not they have seen this one. For display only. */
export function shownBefore(gate: Gate, by: Principal, store: EngineStore): Gate | null {
  const isOther = ({ artifactHash }: ViewedGateKey): boolean => artifactHash !== gate.artifactHash;
  const last = timesShown(gate, by, store).findLast(isOther);
  return last === undefined ? null : gateViewedAt(last, store);
}

type ViewedGateKey = Pick<Gate, 'sessionId' | 'artifactHash'>;

function timesShown(gate: Gate, by: Principal, store: EngineStore): readonly ViewedGateKey[] {
  const { kind, taskId, threadId } = gate;
  const principal = principalText(by);
  return store.log
    .listNamed(threadId, 'GATE_SHOWN')
    .filter((event) => event.taskId === taskId)
    .map(({ payload }) => payload)
    .filter((payload) => payload.kind === kind && isSameId(payload.principal, principal));
}

function gateViewedAt({ sessionId }: ViewedGateKey, store: EngineStore): Gate | null {
  const session = store.sessions.find(sessionId);
  return session === null ? null : gateOf(session);
}
