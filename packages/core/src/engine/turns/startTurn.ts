import { setTimeout as sleep } from 'node:timers/promises';
import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint';
import type { TypedBytes } from '../../state/checkpointRecords.ts';
import type { InputTurn } from '../../state/ThreadInputStore.ts';
import { LEASE_TTL_MS, type Lease, type LeaseSnapshot, type Thread } from '../../state/ThreadStore.ts';
import { recordedShape } from '../compile/graphChange.ts';
import { type GraphShape, graphFingerprint } from '../compile/graphShape.ts';
import { cancelBelow } from '../drive/cancelRuns.ts';
import { assertSameGiven } from '../drive/recordedInput.ts';
import type { EngineStore } from '../EngineStore.ts';
import { acceptedPolicies } from '../gates/acceptedPolicies.ts';
import type { NamedGates } from '../gates/parsedGate.ts';
import { lawOf } from '../lawOf.ts';
import { type AskedTurn, assertEnded, drivenBy, ofParent, turnUnnamed, wouldLose } from './turnRefused.ts';

/** A turn as its caller gives it to a run that exists. */
export interface GivenTurn extends AskedTurn {
  readonly given: TypedBytes;
}

export interface TurnDeps {
  readonly store: EngineStore;
  readonly serde: Pick<BaseCheckpointSaver['serde'], 'loadsTyped'>;
  /** Of the graph as it is now. */
  readonly shape: GraphShape;
  /** What its author declares to be asked. */
  readonly gates: NamedGates | undefined;
}

/**
 * Finds the turn of a key, or begins it on the state that the run has. The record is one transaction: of two keys that are
 * given at once one wins, and the same key given twice is one turn. Nothing is driven.
 *
 * @throws DevsError `INPUT_NOT_TAKEN` for a new key while the turn before has not ended, and for another input than a
 *   known key was given with; `GRAPH_CHANGED` if the graph has lost a channel of the run. Nothing is changed then.
 */
export async function startTurn(asked: GivenTurn, deps: TurnDeps): Promise<void> {
  const { store, serde } = deps;
  const { threadId, key, given } = asked;
  let unchangedFor: LeaseSnapshot | undefined;
  for (;;) {
    const taken = store.runs.together(() => {
      const begun = findOrBegin(asked, unchangedFor, deps);
      // A turn that failed has left them, to be tried anew.
      if (begun === 'begun') cancelBelow(threadId, { store });
      return begun;
    });
    if (taken === 'begun') return;
    if ('turn' in taken) {
      return assertSameGiven(given, store.inputs.require(threadId, taken.turn), {
        ...{ serde, threadId, turn: key },
        law: lawOf(store.threads.get(threadId)),
      });
    }
    // Its holder is of another host or boot: it gets the time to renew that `holdLease` gives, too.
    await sleep(LEASE_TTL_MS);
    unchangedFor = taken;
  }
}

/**
 * What is given without a key is that of a first turn that was.
 *
 * @throws DevsError `INPUT_NOT_TAKEN`
 */
export async function assertFirstTurn(
  threadId: string,
  given: TypedBytes,
  { store, serde }: Pick<TurnDeps, 'store' | 'serde'>,
): Promise<void> {
  const first = store.inputs.find(threadId, null);
  if (first === null) throw turnUnnamed(threadId);
  const law = lawOf(store.threads.get(threadId));
  await assertSameGiven(given, store.inputs.require(threadId, first.turn), { serde, threadId, law });
}

function findOrBegin(
  asked: GivenTurn,
  unchangedFor: LeaseSnapshot | undefined,
  deps: TurnDeps,
): InputTurn | LeaseSnapshot | 'begun' {
  const { threadId, key } = asked;
  const { store } = deps;
  const { threads, inputs } = store;
  const known = inputs.find(threadId, key);
  if (known !== null) return known;
  const parentId = store.children.find(threadId)?.parentId;
  if (parentId !== undefined) throw ofParent(parentId, asked);
  const thread = threads.require(threadId);
  assertEnded(thread, asked);
  // The claim fences whoever held the run and was taken for dead.
  const claim = threads.claim(threadId, { ...(unchangedFor && { unchangedFor }) });
  if (claim.kind === 'busy') {
    if (claim.expiresInMs === null && unchangedFor === undefined) return claim.snapshot;
    throw drivenBy(claim.owner, asked);
  }
  try {
    beginTurn(asked, claim.lease, thread, deps);
    return 'begun';
  } finally {
    threads.release(claim.lease);
  }
}

function beginTurn(asked: GivenTurn, lease: Lease, thread: Thread, deps: TurnDeps): void {
  const { threadId, key, given } = asked;
  const { store } = deps;
  const { threads, inputs, steps, sessions, waits, checkpoints, failureGate } = store;
  takeUpGraph(thread, asked, deps);
  const { status, reason } = thread;
  const checkpointId = checkpoints.loadLatest({ threadId, checkpointNs: '' })?.checkpointId ?? null;
  inputs.end(threadId, { status, reason, checkpointId });
  sessions.closeTurn(threadId);
  const stuck = failureGate.getGateStatus(threadId);
  if (stuck !== null) failureGate.withdraw(threadId, stuck.sessionId, 'cancelled');
  steps.abandon(threadId);
  waits.keepOnly(threadId, []);
  inputs.insert(threadId, given, key);
  threads.beginTurn(lease);
}

/** Nothing of the turn before goes on, so only what the state holds must have its place in the graph. */
function takeUpGraph(thread: Thread, asked: AskedTurn, { store, shape, gates }: TurnDeps): void {
  const { threadId, graphFingerprint: recorded } = thread;
  const fingerprint = graphFingerprint(shape);
  if (recorded === fingerprint) return;
  const before = recordedShape(thread);
  const gone = before?.channels.filter((name) => !shape.channels.includes(name)) ?? [];
  if (gone.length > 0) throw wouldLose(gone, asked);
  const policies = acceptedPolicies(thread.policies, {
    threadId,
    before: new Set(Object.keys(before?.gates ?? {})),
    gates,
    renamed: (gate) => (Object.hasOwn(shape.gates, gate) ? gate : null),
  });
  store.threads.updatePolicies(threadId, { ...policies, graph: shape });
  store.threads.setFingerprint(threadId, fingerprint);
}

/** Characters of a turn's key: the id of a message, of whatever service. */
const LONGEST_KEY = 1000;

/** @throws TypeError if it is no text with characters, RangeError if it is too long. */
export function assertTurnKey(key: unknown): asserts key is string {
  if (typeof key !== 'string' || key === '') throw new TypeError('turn must be a string that is not empty.');
  if (!(key as string & { isWellFormed(): boolean }).isWellFormed())
    throw new TypeError('turn must be a string without lone surrogates.');
  if (key.length > LONGEST_KEY) {
    throw new RangeError(`turn must have at most ${LONGEST_KEY} characters, got ${key.length}.`);
  }
}
