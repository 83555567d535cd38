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
// The deadlines of gates are rows of the same table, fired in the same way; see `applyDeadlines.ts`.
//
// Another kind of wait is a purpose in WaitStore, what comes for it in `waitKinds.ts`, how a run that it makes due is
// found in `waitSql.ts`, and a function beside `sleep` that calls `waitHere`.

import { sha256Hex } from '../../state/canonicalJson.ts';
import type { Wait, WaitKey } from '../../state/WaitStore.ts';

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
