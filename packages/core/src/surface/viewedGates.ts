// What people saw of a gate: each view is on record, and hidden text only once a person read it.

import { assertDecidable } from '../engine/gates/approvals.ts';
import type { EngineStore } from '../engine/gates/EngineStore.ts';
import { type Gate, gateOf } from '../engine/gates/Gate.ts';
import { type RevealedPlace, revealedPlaces, revealFact } from '../engine/gates/hiddenPlaces.ts';
import { asHuman, isSameId, principalOf, principalText } from '../engine/gates/principals.ts';
import { afterBarrier } from '../state/commits/CommitBarrier.ts';
import type { Principal } from '../state/gates/hitlSession.ts';
import { commentedGates } from './CommentedGates.ts';
import { sessionOfRun } from './gatesOfRun.ts';
import type { PipelineFile } from './PipelineFiles.ts';

/** Records that a person viewed a gate; see {@link Run.recordViewed}. */
export function recordViewed(
  threadId: string,
  gate: Gate,
  by: Principal,
  store: EngineStore,
): Promise<Gate | null> {
  const { kind, sessionId, taskId, artifactHash } = gate;
  const reader = principalOf(by);
  sessionOfRun(threadId, sessionId, store.sessions);
  const before = store.commit((emit) => {
    const payload = { sessionId, kind, principal: principalText(reader), artifactHash };
    const last = lastShown(gate, reader, store);
    emit('GATE_SHOWN', payload, { threadId, taskId });
    return last;
  });
  return afterBarrier(store.outlet, before);
}

/** Hidden places of an open gate, for one person; see {@link Run.reveal}. */
export async function revealHidden(
  threadId: string,
  { sessionId, artifactHash }: Pick<Gate, 'sessionId' | 'artifactHash'>,
  by: Principal,
  file: PipelineFile,
): Promise<readonly RevealedPlace[]> {
  const human = asHuman(by, threadId, 'read hidden text at gates of');
  const { store } = file.app;
  assertDecidable(sessionOfRun(threadId, sessionId, store.sessions), artifactHash);
  const gate = await commentedGates(threadId, file).withCode({ sessionId });
  const payload = revealFact(gate, human);
  if (payload.count > 0)
    store.commit((emit) => emit('GATE_REVEALED', payload, { threadId, taskId: gate.taskId }));
  return afterBarrier(store.outlet, revealedPlaces(gate));
}

/**
 * What a person was shown last of a gate's kind and task, if that was something else than it shows now; `null` for
 * the first time, and when it is the same. For display only: no decision depends on it.
 */
function lastShown(gate: Gate, by: Principal, store: EngineStore): Gate | null {
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
