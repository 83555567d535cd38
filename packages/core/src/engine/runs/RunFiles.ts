// The port that handles on runs use: one state file, or one file for each run elsewhere. In one file, `read`, `claim` and `notify` call
// their function at once and return its value, without a copy or a promise. They may throw at once: call them in an async function.

import type { HitlSession } from '../../state/gates/hitlSession.ts';
import { hashOf } from '../../values/canonicalJson.ts';
import type { StopReceipt, StopRequest } from '../drive/stopRequests.ts';
import { readOnce, type SentAnswer } from '../gates/Gate.ts';
import type { RunSignal } from './Runs.ts';

/** Something that came of telling a run something. */
export interface SignalDraft<T> {
  readonly left: T;
  /** The signal to record for the process that executes the run; `null` if it has it already. */
  readonly signal: RunSignal | null;
}

/** Something a run is told from outside. */
export interface Notice<File, T> {
  /** Writes it into the run's file, with all of the engine's checks. */
  apply(file: File): T | Promise<T>;
  /** The same in a copy of the file, with the signal that brings it to the process that executes the run. */
  draft(file: File): Promise<SignalDraft<T>>;
}

/** The run that is told something: by its id, or by one of its gates. */
export type Addressee = { readonly run: string } | { readonly gate: string };

export interface ClaimOptions {
  /** Execute the run after the change, whatever its status. @defaultValue false */
  readonly goesOn?: boolean;
  /** Also a run of another graph: the change makes it one of this graph. @defaultValue false */
  readonly takesOver?: boolean;
}

/** Files of runs, reached by the id of a run. */
export interface RunFiles<File> {
  /** Calls `use` with the run's file as it is once its driver has taken what the run was told. */
  read<T>(id: string, use: (file: File) => T | Promise<T>): T | Promise<T>;
  /** Calls `change` with the run's file, under the run's lease. */
  claim<T>(id: string, change: (file: File) => T | Promise<T>, options?: ClaimOptions): T | Promise<T>;
  notify<T>(to: Addressee, notice: Notice<File, T>): T | Promise<T>;
}

/** Runs that are all in one open file. A change of it claims its run itself. */
export class OneFile<File> implements RunFiles<File> {
  protected readonly file: File;

  constructor(file: File) {
    this.file = file;
  }

  read<T>(_id: string, use: (file: File) => T | Promise<T>): T | Promise<T> {
    return use(this.file);
  }

  claim<T>(_id: string, change: (file: File) => T | Promise<T>): T | Promise<T> {
    return change(this.file);
  }

  notify<T>(_to: Addressee, notice: Notice<File, T>): T | Promise<T> {
    return notice.apply(this.file);
  }
}

interface SignalledDecision {
  readonly answer: SentAnswer;
  /** Secrets that were taken out of it. */
  readonly redacted: number;
}

/** @param apply - Writes it into the run's file. */
export const stopNoticeOf = <File>(
  request: StopRequest,
  apply: (file: File) => Promise<StopReceipt>,
  newIdIn: (file: File) => string,
): Notice<File, StopReceipt> => ({
  apply,
  draft: async (file) => {
    const left = await apply(file);
    return { left, signal: left.isAccepted ? { id: newIdIn(file), ...request } : null };
  },
});

/** How a decision is recorded in a run's file. */
interface Deciding<File> {
  /** The session before the decision. */
  session(file: File): HitlSession;
  decide(file: File, answer: SentAnswer): Promise<HitlSession>;
  /** The answer on its way to the run. */
  signalled(answer: SentAnswer): SignalledDecision;
}

export function decisionNoticeOf<File>(
  given: SentAnswer,
  { session, decide, signalled }: Deciding<File>,
): Notice<File, HitlSession> {
  let read: SentAnswer | undefined;
  return {
    apply: (file) => decide(file, given),
    draft: async (file) => {
      read ??= readOnce(given);
      const answer = read;
      const before = session(file);
      const left = await decide(file, answer);
      return { left, signal: decisionSignal(before, left, signalled(answer)) };
    },
  };
}

/**
 * What a run is told of a decision; `null` for a vote that was given before.
 *
 * @param before - The session as it was read. @param after - As the decision has left it.
 */
export function decisionSignal(
  before: HitlSession,
  after: HitlSession,
  { answer, redacted }: SignalledDecision,
): RunSignal | null {
  const { id: sessionId, artifactHash, decidedAt, votes = [] } = after;
  const closes = after.status !== 'awaiting_approval';
  if (!closes && votes.length === (before.votes?.length ?? 0)) return null;
  const { withHidden: _, ...said } = answer;
  // Who says the same again, not knowing whether it was heard, is the same; two who decide are not.
  const id = `decision:${sessionId}:${hashOf(said)}`;
  const at = decidedAt ?? votes.at(-1)?.votedAt;
  return {
    ...{ id, kind: 'decision', sessionId, artifactHash: artifactHash ?? '', answer: said, closes },
    ...(at !== undefined && { at }),
    ...(redacted > 0 && { redacted }),
    ...(after.hidden !== undefined && { hidden: after.hidden }),
  };
}
