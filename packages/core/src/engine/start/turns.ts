// Turns of a run: the record of the next one, its drive, and the refusals of a turn that cannot begin.

import { setTimeout as sleep } from 'node:timers/promises';
import { DevsError } from '../../errors/DevsError.ts';
import type { TypedBytes } from '../../state/checkpoints/checkpointRecords.ts';
import type { QueuedTurn } from '../../state/threads/QueuedTurnStore.ts';
import type { InputTurn, TurnEnd } from '../../state/threads/ThreadInputStore.ts';
import { LEASE_TTL_MS } from '../../state/threads/ThreadStore.ts';
import {
  hasEnded,
  type Lease,
  type LeaseSnapshot,
  type Thread,
  type ThreadStatus,
} from '../../state/threads/threadRecords.ts';
import { isWellFormed } from '../../values/isWellFormed.ts';
import type { Engine } from '../drive/Engine.ts';
import { recordTurn } from '../drive/queuedTurns.ts';
import { assertSameGiven } from '../drive/runInput.ts';
import { cancelBelow, endIfFree, putBehind } from '../drive/signals.ts';
import type { EngineStore } from '../gates/EngineStore.ts';
import { acceptedPolicies } from '../gates/gatePolicies.ts';
import type { Principal } from '../gates/principals.ts';
import { graphChanges, graphFingerprint, isSameGraph, recordedShape } from '../graph/graphShape.ts';

/** The turn that cannot begin. */
interface AskedTurn {
  readonly threadId: string;
  readonly key: string;
}

/** A turn as its caller gives it to a run that exists. */
interface GivenTurn extends AskedTurn {
  readonly given: TypedBytes;
  /** True leaves it to a worker at once; false says that the caller drives it. */
  readonly isHandedOver: boolean;
  readonly strategy: MultitaskStrategy;
  /** The person at its start, which may end the turn before. */
  readonly by?: Principal | undefined;
}

/** LangGraph's words for a turn while the run is in another one. */
export const MULTITASK_STRATEGIES = ['reject', 'enqueue', 'interrupt'] as const;

export type MultitaskStrategy = (typeof MULTITASK_STRATEGIES)[number];

type TurnEngine = Pick<Engine, 'gates' | 'graph' | 'leave' | 'saver' | 'shape' | 'store' | 'streams'>;

/**
 * Finds the turn of a key, or begins it on the state that the run has. The record is one transaction: of two keys that are
 * given at once one wins, and the same key given twice is one turn. Nothing is driven.
 *
 * @throws DevsError `INPUT_NOT_TAKEN` for a new key while the turn before has not ended, and for another input than a
 *   known key was given with; `GRAPH_CHANGED` if a newer graph has driven the run and this one lacks a channel of
 *   it. Nothing is changed then.
 */
export async function startTurn(asked: GivenTurn, engine: TurnEngine): Promise<void> {
  const { store } = engine;
  const { threadId, key, given } = asked;
  let unchangedFor: LeaseSnapshot | undefined;
  for (;;) {
    const taken = store.runs.together(() => {
      const begun = findOrBegin(asked, unchangedFor, engine);
      // A turn that failed has left them, to be tried anew.
      if (begun === 'begun') cancelBelow(threadId, { store });
      return begun;
    });
    if (taken === 'begun') return;
    if (taken === 'queued') return asked.strategy === 'interrupt' ? endIfFree(threadId, engine) : undefined;
    if ('given' in taken) return assertSameGiven(given, taken.given, { threadId, turn: key }, engine);
    if ('turn' in taken) {
      const recorded = store.inputs.require(threadId, taken.turn);
      return assertSameGiven(given, recorded, { threadId, turn: key }, engine);
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
  engine: Pick<Engine, 'saver' | 'store'>,
): Promise<void> {
  const { inputs } = engine.store;
  const first = inputs.find(threadId, null);
  if (first === null) throw turnUnnamed(threadId);
  await assertSameGiven(given, inputs.require(threadId, first.turn), { threadId }, engine);
}

function findOrBegin(
  asked: GivenTurn,
  unchangedFor: LeaseSnapshot | undefined,
  engine: TurnEngine,
): InputTurn | QueuedTurn | LeaseSnapshot | 'begun' | 'queued' {
  const { threadId, key, strategy } = asked;
  const { store } = engine;
  const { threads, inputs, queue } = store;
  const known = inputs.find(threadId, key) ?? queue.find(threadId, key);
  if (known !== null) return known;
  const thread = threads.require(threadId);
  assertNoChild(asked, store);
  if (strategy !== 'reject' && canQueue(thread)) {
    putBehind({ ...asked, strategy }, engine);
    return 'queued';
  }
  assertEnded(thread, asked);
  // The claim fences whoever held the run and was taken for dead.
  const claim = threads.claim(threadId, { ...(unchangedFor && { unchangedFor }) });
  if (claim.kind === 'busy') {
    if (claim.expiresInMs === null && unchangedFor === undefined) return claim.snapshot;
    throw drivenBy(claim.owner, asked);
  }
  try {
    beginTurn(asked, claim.lease, thread, engine);
    return 'begun';
  } finally {
    threads.release(claim.lease);
  }
}

/** A child run has one turn. @throws DevsError `INPUT_NOT_TAKEN` */
function assertNoChild(asked: AskedTurn, { children }: Pick<EngineStore, 'children'>): void {
  const parentId = children.find(asked.threadId)?.parentId;
  if (parentId !== undefined) throw ofParent(parentId, asked);
}

/** Whether a turn may be recorded behind the one of a run. @throws DevsError `INPUT_NOT_TAKEN` */
export function assertTakesTurns(thread: Thread, key: string, { store }: Pick<Engine, 'store'>): void {
  const asked = { threadId: thread.threadId, key };
  assertNoChild(asked, store);
  if (thread.status === 'dead_letter') assertEnded(thread, asked);
}

/** Whether another turn begins by itself once this one has ended. */
const canQueue = ({ status }: Thread): boolean => !hasEnded(status);

function beginTurn(asked: GivenTurn, lease: Lease, thread: Thread, engine: TurnEngine): void {
  takeUpGraph(thread, asked, engine);
  recordTurn(asked, lease, engine);
  if (asked.isHandedOver) engine.store.threads.signals.wake(asked.threadId);
}

/** The turn before has ended, so any later graph takes the run; an earlier one only if it has every channel of it. */
function takeUpGraph(thread: Thread, asked: AskedTurn, { store, shape, gates }: TurnEngine): void {
  const { threadId, graphFingerprint: recorded } = thread;
  if (isSameGraph(thread, shape)) return;
  const fingerprint = graphFingerprint(shape);
  const before = recordedShape(thread);
  const gone = before?.channels.filter((name) => !shape.channels.includes(name)) ?? [];
  const isEarlier = store.threads.graphs.isEarlier(fingerprint, recorded);
  if (gone.length > 0 && isEarlier) throw wouldLose(gone, asked);
  const policies = acceptedPolicies(thread.policies, {
    threadId,
    before: new Set(Object.keys(before?.gates ?? {})),
    gates,
    renamed: (gate) => (Object.hasOwn(shape.gates, gate) ? gate : null),
  });
  store.threads.updatePolicies(threadId, { ...policies, graph: shape });
  store.threads.setFingerprint(threadId, fingerprint);
  const changes = graphChanges(before, shape).join('; ');
  store.commit((emit) => emit('GRAPH_TAKEN', { changes, fingerprint }, { threadId }));
}

/** How a turn is driven, and what became of it once another one followed. */
interface TurnDrive<Result> {
  /** Drives the run. `assertCurrent` is to be called under its lease, before anything is done. */
  drive(assertCurrent: () => void): Promise<Result>;
  /** How the turn ended; `null` while the run stands in it. */
  end(): TurnEnd | null;
  /** The result of a turn that another one has followed. */
  past(end: TurnEnd): Promise<Result>;
}

/** The result of one turn. The next may begin in another process at any moment: it is not driven here, nor told as this one. */
export async function driveTurn<Result>({ drive, end, past }: TurnDrive<Result>): Promise<Result> {
  const assertCurrent = (): void => {
    const ended = end();
    if (ended !== null) throw new TurnIsOver(ended);
  };
  try {
    assertCurrent();
    const driven = await drive(assertCurrent);
    assertCurrent();
    return driven;
  } catch (error) {
    if (error instanceof TurnIsOver) return past(error.end);
    throw error;
  }
}

/** Told to nobody: another turn had begun when the run was to be driven. */
class TurnIsOver extends Error {
  readonly end: TurnEnd;

  constructor(end: TurnEnd) {
    super('another turn has begun');
    this.end = end;
  }
}

/** Characters of a turn's key: the id of a message, of whatever service. */
const LONGEST_KEY = 1000;

/** @throws TypeError if it is no text with characters, RangeError if it is too long. */
export function assertTurnKey(key: unknown): asserts key is string {
  if (typeof key !== 'string' || key === '') throw new TypeError('turn must be a string that is not empty.');
  if (!isWellFormed(key)) throw new TypeError('turn must be a string without lone surrogates.');
  if (key.length > LONGEST_KEY) {
    throw new RangeError(`turn must have at most ${LONGEST_KEY} characters, got ${key.length}.`);
  }
}

/** @throws RangeError for an unknown one; TypeError for another than `reject` without a key. */
export function assertStrategy(strategy: MultitaskStrategy, turn: string | undefined): void {
  if (!MULTITASK_STRATEGIES.includes(strategy))
    throw new RangeError(
      `multitaskStrategy: expected ${MULTITASK_STRATEGIES.join(', ')}, got ${String(strategy)}.`,
    );
  if (strategy !== 'reject' && turn === undefined)
    throw new TypeError(`multitaskStrategy: '${strategy}' needs a turn.`);
}

/**
 * Without an input, LangGraph goes on with what is there, and a turn would be none.
 *
 * @throws DevsError `INVALID_INPUT`
 */
export function assertTurnInput(input: unknown, { threadId, key }: AskedTurn): void {
  if (input !== undefined && input !== null) return;
  throw new DevsError(`Turn "${key}" of run "${threadId}" is new and has no input.`, {
    code: 'INVALID_INPUT',
    remedy: 'Send the input of the new turn. To continue the current turn, resume the run by its id alone.',
    context: { threadId, turn: key },
  });
}

/** What the turn before does, and what ends it. */
const UNENDED: Readonly<Partial<Record<ThreadStatus, readonly [does: string, remedy: string]>>> = {
  created: ['has not been executed yet', 'Resume the run by its id alone, or end the turn with cancel()'],
  running: [
    'has not ended',
    'Resume the run by its id alone until the turn ends, or end the turn with cancel()',
  ],
  paused: ['was paused', 'Resume the run by its id alone until the turn ends, or end the turn with cancel()'],
  waiting: [
    'waits',
    'Answer its open gates and resume the run by its id alone, or end the turn with cancel()',
  ],
  dead_letter: [
    'was given up, because its processes kept dying',
    'Revive the run with revive(), then end its turn',
  ],
};

/**
 * A turn begins where the one before has ended.
 *
 * @throws DevsError `INPUT_NOT_TAKEN`
 */
function assertEnded({ threadId, status }: Thread, { key }: AskedTurn): void {
  const [does, remedy] = UNENDED[status] ?? [];
  if (does === undefined) return;
  throw turnNotTaken(
    { threadId, key },
    `the previous turn ${does}`,
    `${remedy}. Then send this input again.`,
  );
}

/** A turn that waits is executed after the one before it, by a worker. @throws DevsError `INPUT_NOT_TAKEN` */
export function assertNotQueued(asked: AskedTurn, { queue }: Pick<EngineStore, 'queue'>): void {
  if (queue.find(asked.threadId, asked.key) === null) return;
  throw turnNotTaken(
    asked,
    'it is queued, or was cancelled while it was',
    'Read its events with stream(id, null, { turn }), or look at turns().',
  );
}

function drivenBy(owner: string, asked: AskedTurn): DevsError {
  const remedy = 'Wait until that process has released the run, then send this input again.';
  return turnNotTaken(asked, `the run is in use by process ${owner}`, remedy);
}

/** What a child was begun for is one thing, and its parent was told of its end. */
const ofParent = (parentId: string, asked: AskedTurn): DevsError =>
  turnNotTaken(asked, `it is a child of run "${parentId}"`, 'Start a new run with this input.');

/** A run that was begun with a name for its turn has none without. */
function turnUnnamed(threadId: string): DevsError {
  return new DevsError(`Run "${threadId}" has turns, but this input has no turn key.`, {
    code: 'INPUT_NOT_TAKEN',
    remedy: 'Send the input with a turn key, or resume the run by its id alone.',
    context: { threadId },
  });
}

/** The state of a run outlives its graph only by names that both have. */
function wouldLose(channels: readonly string[], { threadId, key }: AskedTurn): DevsError {
  const changes = channels.map((name) => `channel "${name}" is gone`).join('; ');
  return new DevsError(
    `Turn "${key}" cannot start, because a newer graph has executed run "${threadId}": ${changes}.`,
    {
      code: 'GRAPH_CHANGED',
      remedy: 'Send the turn to the newer version of the program, or start a new run.',
      context: { threadId, changes },
    },
  );
}

function turnNotTaken({ threadId, key }: AskedTurn, why: string, remedy: string): DevsError {
  return new DevsError(`Turn "${key}" of run "${threadId}" cannot start: ${why}.`, {
    code: 'INPUT_NOT_TAKEN',
    remedy,
    context: { threadId, turn: key },
  });
}
