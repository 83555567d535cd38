import type { BusyWait } from '../db/busy.ts';
import type { NewEvent } from '../events/events.ts';
import type { CommitBarrier } from './commits/CommitBarrier.ts';
import type { FencedLease } from './commits/immediateTransaction.ts';
import type { InterruptedQuestion, OpenedSession } from './gates/HitlSessionStore.ts';
import type { HitlSession } from './gates/hitlSession.ts';
import type { NewStep, Refusal, Reserve, StepKey, StepUsage } from './steps/stepRecords.ts';
import type { MadeRoom, TranscribedStep, TranscriptPiece } from './steps/TranscriptStore.ts';
import type { NewSignal } from './threads/SignalStore.ts';
import type { ClaimOptions, ClaimResult, Lease, Thread, ThreadStatus } from './threads/threadRecords.ts';
import type { NewWait } from './threads/WaitStore.ts';
import type { LangGraphCheckpoint } from './types.ts';

/** Who writes: the run, and the epoch of the lease it is driven under; `null` in plain LangGraph use, where nothing is fenced. */
export interface WriteScope {
  readonly threadId: string;
  readonly epoch: number | null;
}

/** A call of a graph, with the lease it says it has. */
export interface LeasedCall {
  /** Whose lease it is. */
  readonly threadId: string;
  /** The thread that is written: that of the run, or of a child frame below it. */
  readonly frame: string;
  readonly epoch: number | null;
  readonly lease: unknown;
}

/** A line of the journal, with what is told of it. */
export interface NodeTurn {
  readonly entry: LangGraphCheckpoint;
  /** The pipeline's task; `null` outside one. */
  readonly taskId: string | null;
  readonly facts: readonly NewEvent[];
}

/** What a guard says about a call, from what is on record as the call is asked for. */
export interface CallVerdict {
  readonly mayBegin: boolean;
  /** Held back for the call until it has ended. */
  readonly reserve: Reserve;
  readonly facts: readonly NewEvent[];
}

/** A step that was begun, or was not. */
export interface BegunStep<Verdict> {
  /** From 1: how often it was begun; `null` where the guard does not let it. */
  readonly attempt: number | null;
  readonly verdict: Verdict;
}

/** How a step has ended, and what it has cost. */
export type StepEnd = {
  readonly usage: StepUsage;
  readonly facts: readonly NewEvent[];
  /** Verbs that are called in it are part of this one. @defaultValue nothing */
  readonly inSameTransaction?: () => void;
} & (
  | { readonly kind: 'done'; readonly result: unknown }
  /** Its call threw: it is begun again when its node is. */
  | { readonly kind: 'failed' }
  /** Its call was made, and what it returned cannot be kept. */
  | { readonly kind: 'refused'; readonly refusal: Refusal }
);

/** A question to a human, with what follows from its being opened. Pure. */
export interface AskedQuestion {
  readonly question: InterruptedQuestion;
  readonly facts: (opened: OpenedSession) => readonly NewEvent[];
  /** Its deadlines. @defaultValue none */
  readonly waits?: (session: HitlSession) => readonly NewWait[];
}

/** What a driver finds where it begins. */
export interface DriverStart {
  /** Of {@link RunStore.claim}: a driver left without releasing. */
  readonly recovered: boolean;
  /** Calls whose result could not be kept are made again. */
  readonly allowsRefused: boolean;
}

/** Where a run stands when its driver leaves it. */
export interface StatusUpdate {
  readonly status: ThreadStatus;
  readonly reason: string | null;
  /** The wake that the driver has read: a later one means that it looks again. */
  readonly seenWakeSeq: number;
  readonly facts: readonly NewEvent[];
  /** Its open questions are asked no more. @defaultValue false */
  readonly withdrawsQuestions?: boolean;
  /** Called where the run is settled; verbs that are called in it are part of this one. @defaultValue nothing */
  readonly inSameTransaction?: () => void;
}

/**
 * What a node's execution asks of storage. Each call is one synchronous transaction, whole or not at all, and fenced:
 * refused once a newer driver exists (law L3). What is told is told once it is committed.
 *
 * @throws DevsError of every verb: `LEASE_LOST`; `STATE_…` if the file cannot be written.
 */
export interface NodeStore extends Pick<CommitBarrier, 'pending'> {
  /** {@link CommitBarrier.keepsUp} of all that the run has written, late or not. */
  keepsUp(): Promise<void> | null;

  /**
   * Calls verbs, in synchronous `work`, once others that write the file let it: until then the event loop turns. Work that is
   * refused as busy has had no effect.
   *
   * @throws DevsError `STATE_IO` if the file stays busy; what `work` throws.
   */
  whenFree<T>(work: () => T, wait?: BusyWait): Promise<T>;

  /**
   * A run is gone on with by its driver alone: any other call would pass its gates and run its nodes a second time. The
   * driver has the lease that was claimed for this run, and not just its number, which everybody can read.
   *
   * @throws DevsError `LEASE_LOST` without that lease on a thread that is a run.
   */
  assertDriven(call: LeasedCall): void;

  /** Whether a human has answered a question of this super-step. Decisions are kept: every execution of a visit reads the same. */
  humanDecided(at: { readonly threadId: string; readonly checkpointId: string | null }): boolean;

  /** Whether a step of this visit was ever begun. */
  hasBegun(threadId: string, visitId: string): boolean;

  /** What the run was started with, or was told since, by its name; `undefined` where there is none. */
  policyOf(threadId: string, name: string): unknown;

  /** The Thought, before the node works. It is on record when this returns; as {@link leave} of a driver that writes late. */
  enter(at: WriteScope, turn: NodeTurn): void;

  /**
   * The Action, once the node has returned: with the next commit of this connection, and at the latest when the event loop has
   * turned. Refused, it stops its run.
   */
  leave(at: WriteScope, turn: NodeTurn): void;

  /** Tells what has happened: a node has thrown, an agent was asked. */
  note(at: WriteScope, facts: readonly NewEvent[]): void;

  /**
   * A step is about to be made. It is on record when this returns, so that a call is never made that nobody knows of.
   *
   * @param judge - Called in the transaction: two calls that are asked for at once are judged one after the other.
   * @throws RangeError if the step is finished: its result must be used instead.
   */
  beginStep<Verdict extends CallVerdict>(
    at: WriteScope,
    step: NewStep,
    judge: () => Verdict,
  ): BegunStep<Verdict>;

  /** A step has ended. A recorded result is progress: the run's recoveries are counted anew. @throws RangeError if it was not begun. */
  endStep(at: WriteScope, step: StepKey & Pick<NewStep, 'taskId'>, end: StepEnd): void;

  /**
   * {@link endStep} after its run was {@link RunStore.cutOff}: a paid result is kept. False, without a write, where the run was
   * gone on with or the step was begun anew.
   *
   * @param attempt - Of the call that has ended.
   */
  endStepLate(
    at: WriteScope,
    step: StepKey & Pick<NewStep, 'taskId'> & { readonly attempt: number },
    end: StepEnd,
  ): boolean;

  /** A piece of what a step tells while it runs; returns its place among them. Derived: losing it harms no run (law L6). */
  transcribe(at: WriteScope, step: TranscribedStep, piece: TranscriptPiece, dropped: MadeRoom | null): number;

  /**
   * Opens the questions a node is left with, together: with the next commit, as {@link leave}. That is the commit of the
   * interrupt at the latest.
   */
  suspend(at: WriteScope, asked: readonly AskedQuestion[]): void;
}

/** What the engine asks of storage about a run, beside {@link NodeStore}. */
export interface RunStore extends NodeStore {
  /** Verbs that are called in `work` are one transaction. Synchronous. */
  together<T>(work: () => T): T;

  /** Takes the lease of a run if nobody holds it; see `ThreadStore`. @throws DevsError `THREAD_NOT_FOUND` */
  claim(threadId: string, options?: ClaimOptions): ClaimResult;

  /** The driver is alive. @throws DevsError `LEASE_LOST` */
  renew(lease: Lease): void;

  /** Gives the lease back; does nothing if it is lost. */
  release(lease: Lease): void;

  /** Gives the lease back, and refuses every later write under it: aborted calls may go on. */
  cutOff(lease: Lease): void;

  /**
   * Its driver is gone, as whoever hands the run out knows: the next claim takes it over at once. False where nobody held it.
   *
   * @throws DevsError `THREAD_NOT_FOUND`
   */
  evict(threadId: string): boolean;

  /** The run is driven from here. @throws DevsError `WORKSPACE_BUSY` if its folder is another run's now. */
  begin(lease: Lease, beginning: DriverStart): Thread;

  /** Opens questions together, before a person is asked; an open one is returned as it is. */
  ask(at: WriteScope, asked: readonly AskedQuestion[]): readonly HitlSession[];

  /** Where the run stands; `again` where a signal came in after the one the driver has read, and then nothing is written. */
  settle(lease: Lease, settlement: StatusUpdate): 'settled' | 'again';

  /** Records what a run is asked or told, and wakes it; returns the wake's number. @throws DevsError `THREAD_NOT_FOUND` */
  signal(threadId: string, signal: NewSignal, facts?: readonly NewEvent[]): number;

  /** What the run was asked for is done. */
  consume(lease: FencedLease, kind: NewSignal['kind']): void;

  /** How far the run is driven, until somebody says otherwise; `null` for as far as it goes. */
  goal(lease: FencedLease, goal: unknown, facts: readonly NewEvent[]): void;
}
