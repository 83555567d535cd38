// A node may wait for something that is no human: an hour, a signal. That is a *wait*, in three places:
//
//   node    records a row in `waits` and leaves with a question to nobody: an interrupt whose id the row has
//   driver  ends the rows of open interrupts whose time or thing has come, and runs their nodes again
//   node    finds its row ended, and goes on
//
// Nothing is handed to LangGraph: a node reads its row anew in every execution, so that no answer can be lost, given
// twice or taken by another call. A row is found again by its place in the visit, as a step is.
//
//   W1. The row is committed before LangGraph knows the interrupt; its date is that of the first execution.
//   W2. A row is ended once, by one conditional update in its driver's transaction: time or thing, never both.
//   W3. Only rows that a task waits at are ended: what nobody comes back to takes nothing.
//
// The deadlines of gates are rows of the same table, fired in the same way; see `driverGates.ts`.
//
// Another kind of wait is a purpose in WaitStore, what comes for it in `WAIT_KINDS`, how a run that it makes due is
// found in `WaitStore.ts`, and a function beside `sleep` that calls `waitHere`.

import type { EventSink } from '../../events/events.ts';
import { maskSensitiveData } from '../../masking/maskSensitiveData.ts';
import type { Principal } from '../../state/gates/hitlSession.ts';
import type { StateFile } from '../../state/StateFile.ts';
import { endIsMissing } from '../../state/threads/ChildStore.ts';
import { hasEnded, type Lease } from '../../state/threads/threadRecords.ts';
import type { Wait, WaitKey, WaitPurpose } from '../../state/threads/WaitStore.ts';
import { sha256Hex } from '../../values/canonicalJson.ts';
import type { Law } from '../execution/lawOf.ts';

/** What readers of a checkpoint are shown of a wait. */
export interface WaitQuestion {
  readonly waitsFor: string;
  readonly subject: string | null;
  /** ISO 8601, UTC; `null` where only what it waits for ends it. */
  readonly until: string | null;
}

// By identity: what a value looks like proves nothing about who asks.
const waitQuestions = new WeakSet<object>();

/** The interrupt of a wait is the same in every execution of its node. */
export const waitInterruptId = ({ threadId, place, name }: WaitKey): string =>
  sha256Hex(`wait/${threadId}/${place}/${name}`).slice(0, 32);

/** What LangGraph is left with. */
export function waitInterrupt({ interruptId, purpose, subject, dueAt }: Wait): {
  readonly id: string;
  readonly value: WaitQuestion;
} {
  const until = dueAt === null ? null : new Date(dueAt).toISOString();
  const value = { waitsFor: purpose, subject, until };
  waitQuestions.add(value);
  return { id: interruptId, value };
}

/** Whether the engine waits with this value, and not a node that passes `interrupt()` something of the same form. */
export const isWaitQuestion = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && waitQuestions.has(value);

const MAX_NAME = 200;

/**
 * A name as it is recorded, so that who waits and who tells have the same.
 *
 * @throws TypeError for what is no text; RangeError for an empty one or more than 200 characters.
 */
export function signalName(name: unknown, law: Law): string {
  if (typeof name !== 'string') throw new TypeError('The name of the signal is missing.');
  if (name === '' || name.length > MAX_NAME)
    throw new RangeError(`The name of a signal must have 1 to ${MAX_NAME} characters, got ${name.length}.`);
  return law.keep(name).value;
}

/** What a run was told from outside. */
export interface Message {
  readonly name: string;
  readonly signalId: string;
  /** Plain JSON. */
  readonly payload: unknown;
  readonly by: Principal;
}

/** The message in a row of `signals`. */
export function messageOf(rowId: string, { threads }: Pick<StateFile, 'threads'>): Message {
  return threads.signals.require(rowId).payload as Message;
}

/** The tables that end a wait. */
type WaitTables = Pick<StateFile, 'waits' | 'threads' | 'children' | 'checkpoints'>;

/** Where waits are ended: one transaction of the run's driver. */
interface WaitEnding {
  readonly store: WaitTables;
  readonly emit: EventSink['emit'];
  /** Milliseconds since the Unix epoch: what is due by then has come. */
  readonly now: number;
}

/** How a wait ends but by its time. */
interface WaitKind {
  /** Takes what has come, and tells it; the row that came, or `null`. */
  readonly take: (wait: Wait, ending: WaitEnding) => string | null;
}

/** The others end by their time alone. */
const WAIT_KINDS: { readonly [Purpose in WaitPurpose]?: WaitKind } = {
  signal: {
    take: ({ threadId, subject }, { store, emit }) => {
      const row = store.threads.signals.takeMessage(threadId, subject ?? '');
      if (row === null) return null;
      const { name, signalId } = messageOf(row, store);
      const told = { name: maskSensitiveData(name), signalId: maskSensitiveData(signalId) };
      emit('SIGNAL_TAKEN', told, { threadId });
      return row;
    },
  },
  child: { take: ({ subject }, { store }) => takeEnd(subject ?? '', store) },
};

/**
 * Records how a child has ended, for its parent, once and for all; its id, or `null` as long as it has not.
 *
 * @throws DevsError `STATE_CORRUPT` where the checkpoint that it completed with is missing.
 */
function takeEnd(childId: string, { threads, children, checkpoints }: WaitTables): string | null {
  const { status, reason } = threads.require(childId);
  if (!hasEnded(status)) return null;
  const latest = checkpoints.loadLatest({ threadId: childId, checkpointNs: '' });
  // What a task wrote is on top of an earlier checkpoint than the one its run completed with.
  if (status === 'completed' && (latest === null || checkpoints.loadWrites(latest).length > 0))
    throw endIsMissing(childId);
  children.end(childId, { status, reason, checkpointId: latest?.checkpointId ?? null });
  return childId;
}

/**
 * Ends a wait with what has come for it, else with its time; returns it as it is then. What has come goes first, however
 * late: a run that nobody drove for a week does not lose what it was told in that week.
 */
export function endWait(wait: Wait, ending: WaitEnding): Wait {
  const { store, emit, now } = ending;
  const { threadId, purpose, dueAt, state } = wait;
  if (state !== 'pending') return wait;
  const metBy = WAIT_KINDS[purpose]?.take(wait, ending) ?? null;
  if (metBy !== null) store.waits.meet(wait, metBy);
  else if (dueAt !== null && store.waits.fire(wait, now))
    emit('TIMER_FIRED', { purpose, dueAt: new Date(dueAt).toISOString() }, { threadId });
  return store.waits.find(wait) ?? wait;
}

interface WaitLookup {
  readonly lease: Lease;
  readonly store: WaitTables & Pick<StateFile, 'commitUnder'>;
  /** Milliseconds since the Unix epoch: what is due by then has come. */
  readonly now: number;
}

/** Of the open interrupts of a run those that are no questions to a human. */
export interface OpenWaits<Open> {
  readonly questions: readonly Open[];
  readonly pending: readonly Wait[];
  /** Whether a node can go on. */
  readonly hasEnded: boolean;
}

/** Looks at what a run waits for, and ends what has come. */
export function openWaits<Open extends { readonly interruptId: string }>(
  open: readonly Open[],
  { lease, store, now }: WaitLookup,
): OpenWaits<Open> {
  const { threadId } = lease;
  const ids = open.map(({ interruptId }) => interruptId);
  if (ids.length === 0 || store.waits.at(threadId, ids).length === 0)
    return { questions: open, pending: [], hasEnded: false };
  const looked = store.commitUnder(lease, (emit) => {
    store.waits.keepOnly(threadId, ids);
    return store.waits.at(threadId, ids).map((wait) => endWait(wait, { store, emit, now }));
  });
  const waiting = new Set(looked.map(({ interruptId }) => interruptId));
  return {
    questions: open.filter(({ interruptId }) => !waiting.has(interruptId)),
    pending: looked.filter(({ state }) => state === 'pending'),
    hasEnded: looked.some(({ state }) => state !== 'pending'),
  };
}

/** Reasons for waiting other than gates. */
export interface WaitInfo {
  /** Next timer of the run or its children, in milliseconds since the Unix epoch; absent without a timer. */
  readonly until?: number;
  /** Names of the signals it waits for, in order; absent if it waits for none. */
  readonly waitsFor?: readonly string[];
  /** Ids of the child runs it waits for, in order; absent if it waits for none. */
  readonly children?: readonly string[];
}

/** What a run waits for besides humans. */
export function awaited(pending: readonly Wait[], { children }: Pick<StateFile, 'children'>): WaitInfo {
  const named = (purpose: WaitPurpose): readonly string[] => [
    ...new Set(pending.filter((wait) => wait.purpose === purpose).flatMap(({ subject }) => subject ?? [])),
  ];
  const [signals, runs] = [named('signal'), named('child')];
  const below = runs.length === 0 ? null : children.untilOf(runs);
  const dates = [...pending.flatMap(({ dueAt }) => dueAt ?? []), ...(below === null ? [] : [below])];
  return {
    ...(dates.length > 0 && { until: Math.min(...dates) }),
    ...(signals.length > 0 && { waitsFor: signals }),
    ...(runs.length > 0 && { children: runs }),
  };
}

/** The same for the log. */
export function waitSuspension(gates: number, { until, waitsFor, children }: WaitInfo) {
  return {
    gates,
    ...(until !== undefined && { until: new Date(until).toISOString() }),
    ...(waitsFor && { waitsFor: waitsFor.map((name) => maskSensitiveData(name)) }),
    ...(children && { children }),
  };
}

/** Why a run waits, for people. */
export function waitReason(gates: number, { until, waitsFor = [], children = [] }: WaitInfo): string {
  const named = [...waitsFor.map((name) => `signal "${name}"`), ...children.map((id) => `run "${id}"`)];
  const parts = [
    ...(gates > 0 || (until === undefined && named.length === 0) ? [`${gates} open gate(s)`] : []),
    ...named,
    ...(until === undefined ? [] : [`until ${new Date(until).toISOString()}`]),
  ];
  return parts.join(', ');
}
