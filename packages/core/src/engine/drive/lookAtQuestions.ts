import type { HitlSession } from '../../state/gates/hitlSession.ts';
import type { Lease, Thread } from '../../state/threads/threadRecords.ts';
import type { Wait } from '../../state/threads/WaitStore.ts';
import { noteAnswers } from '../execution/driveContext.ts';
import type { EngineStore } from '../gates/EngineStore.ts';
import type { PendingQuestion } from '../saver/openQuestions.ts';
import { openWaits } from '../waits/waits.ts';
import { applyDeadlines, decideByPolicy, readAnswers, resumeCommand } from './driverGates.ts';

/** Gates, waits, and deadlines of the gates. */
export interface Awaiting {
  readonly gates: readonly HitlSession[];
  readonly pending: readonly Wait[];
  readonly deadlines: readonly Wait[];
}

/** Where the open interrupts of a run lead. */
export type Found =
  | { readonly next: 'again' }
  /** It has to be known whether a task of the next super-step has not begun. */
  | { readonly next: 'tasks' }
  | { readonly next: 'end'; readonly reason: string | null }
  /** @param input - For LangGraph. */
  | { readonly next: 'go on'; readonly input: unknown }
  /** Of which some may go on. */
  | ({ readonly next: 'children' } & Awaiting)
  | ({ readonly next: 'wait' } & Awaiting);

interface Looking {
  readonly thread: Thread;
  readonly lease: Lease;
  readonly store: EngineStore;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
  /** Whether a task has not begun, as its driver died; `null` where it is not known. */
  readonly hasUnstarted: boolean | null;
}

/** Ends waits and deadlines that are due, and reads the answers. Synchronous: it may be a part of a transaction. */
export function lookAtQuestions(
  open: readonly PendingQuestion[],
  { thread, lease, store, now, hasUnstarted }: Looking,
): Found {
  const waits = openWaits(open, { lease, store, now });
  const answers = readAnswers(waits.questions, lease, store);
  if (decideByPolicy(answers.unanswered, thread.policies, store)) return { next: 'again' };
  const deadlines = applyDeadlines(answers.unanswered, { lease, store, now });
  if (deadlines.hasPassed) return { next: 'again' };
  const ending = answers.given.find(({ endsRun }) => endsRun !== null);
  if (ending !== undefined) return { next: 'end', reason: ending.endsRun };
  if (waits.hasEnded || answers.given.length > 0) {
    noteAnswers();
    return { next: 'go on', input: resumeCommand(answers.given) };
  }
  if (hasUnstarted === null) return { next: 'tasks' };
  // The driver before died while a branch beside was on its way to its own question.
  if (hasUnstarted) return { next: 'go on', input: null };
  const awaiting = { gates: answers.unanswered, pending: waits.pending, deadlines: deadlines.pending };
  const hasChildren = waits.pending.some(({ purpose }) => purpose === 'child');
  return { next: hasChildren ? 'children' : 'wait', ...awaiting };
}
