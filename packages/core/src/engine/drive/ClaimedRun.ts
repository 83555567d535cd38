// The one place that resumes LangGraph: `Command`, `invoke(null)` and inputs are given here and nowhere else.
//
//   claim → no checkpoint of its turn: give the input · no tasks: finished · at a breakpoint: go on if it was answered, or
//   settle as waiting · open waits: end what has come and go on · open questions: apply recorded answers · children: drive
//   them, and look again · else settle as waiting, or go on
//
// Invariants:
//   D1. A question is open when a task has an interrupt and no output; it is read from the pending writes.
//   D2. An answer is applied under its interrupt id and carries the key of its question, so applying it twice is
//       harmless and another question refuses it.
//   D3. LangGraph goes on past a breakpoint whenever it is called again: it is called once that was answered.
//   D4. The run settles only against the wake sequence it has read: a signal that came later means "look again".
//   D5. An input is given until a checkpoint holds it, which says so in its own transaction: never lost, never twice.

import type { Callbacks } from '@langchain/core/callbacks/manager';
import { type GraphDrained, isGraphDrained } from '@langchain/langgraph';
import type { CheckpointTuple } from '@langchain/langgraph-checkpoint';
import type { NewEvent } from '../../events/events.ts';
import { withOwnSignal } from '../../events/onAbort.ts';
import type { HitlSession } from '../../state/gates/hitlSession.ts';
import type { StatusUpdate } from '../../state/RunStore.ts';
import type { EndedStatus, Thread, ThreadStatus } from '../../state/threads/threadRecords.ts';
import type { Wait } from '../../state/threads/WaitStore.ts';
import { isRejection, rejectedReason, stopsSomewhere } from '../breakpoints/Breakpoint.ts';
import { faultInside, RefusedResult } from '../execution/EngineFaults.ts';
import type { StopControl } from '../execution/StopControl.ts';
import { asThrowable } from '../execution/thrown.ts';
import { shouldYield, yieldToEventLoop } from '../execution/yieldToEventLoop.ts';
import type { DrivenConfig, InvokeOptions, PendingTask } from '../graph/EngineGraph.ts';
import type { Goal } from '../graph/NodeEngine.ts';
import { hasHappened, hasUnanswerable, openQuestions, type PendingQuestion } from '../saver/openQuestions.ts';
import { gateOpened, type RunStreamEvent, runEnded } from '../stream/runStreamEvents.ts';
import { awaited, waitReason, waitSuspension } from '../waits/waits.ts';
import { readState, streamedCall, valuesWhereAsked } from './compiledGraph.ts';
import type { SignalWatch } from './draining.ts';
import { abortReason, breakpointKey, questionAtBreakpoint, questionAtEnd } from './driverGates.ts';
import { ASKED_TO_STOP, OpenChildren } from './due.ts';
import type { Engine } from './Engine.ts';
import { onLastTurn, stageCancelledCalls } from './lastTurn.ts';
import type { ActiveLease } from './lease.ts';
import { type Awaiting, type Found, lookAtQuestions } from './lookAtQuestions.ts';
import { RunGoal } from './RunGoal.ts';
import {
  type Driven,
  ended,
  interruptInEdge,
  isOver,
  noProgress,
  reasonOf,
  runError,
  runFinished,
  type SessionOutcome,
  saveRunStatus,
  stopped,
} from './RunResult.ts';
import { recordedInput } from './runInput.ts';
import { CANCELLED_BY_REQUEST, cancelBelow } from './signals.ts';
import { hasMoved, type Standing, standingOf } from './standing.ts';

/** Drivers that may die without progress, one after the other: then the run is given up (no crash loops). */
const MAX_RECOVERIES = 5;

const GIVEN_UP = `${MAX_RECOVERIES} processes died while executing it, without progress`;

/** The lease of one drive, and what may stop it. */
interface DriveClaim {
  readonly held: ActiveLease;
  /** As it was begun. */
  readonly recoveries: number;
  /** Before it was begun. */
  readonly statusBefore: ThreadStatus;
  readonly control: StopControl;
  readonly requests: SignalWatch;
  readonly goal: Goal | undefined;
  /** What the run waits for and is due by then has come, in milliseconds since the Unix epoch. @defaultValue the clock's */
  readonly now?: number | undefined;
  /** For the graph, from whoever started the run and whoever drives it. */
  readonly given: InvokeOptions & { readonly callbacks?: Callbacks };
  /** Of the caller that started the turn. */
  readonly webhook?: string | undefined;
  /** Of who drives it. */
  readonly callbacks?: Callbacks | undefined;
}

/** What a checkpoint leads to. */
interface DueTasks {
  readonly tasks: readonly PendingTask[];
  readonly values: unknown;
  /** Whether one of the tasks has left nothing in the file: no output, no question, no error. */
  readonly hasUnstarted: boolean;
  /** Whether the tasks run again only to say which apps their children are of. @defaultValue false */
  readonly isAnew?: boolean;
  /** Whether the input of the turn is given. @defaultValue false */
  readonly isInput?: boolean;
  /** Whether its first checkpoint is to come. @defaultValue false */
  readonly isFirst?: boolean;
}

/** `null` to look again. */
type Look =
  | Exclude<Found, { readonly next: 'wait' }>
  | { readonly next: 'wait'; readonly outcome: SessionOutcome | null };

const NOTHING_KNOWN: DueTasks = { tasks: [], values: null, hasUnstarted: false };

const INPUT_DUE: DueTasks = { tasks: [], values: null, hasUnstarted: false, isInput: true };

/** A request came in while the run was being left; the next drive reads it. */
const STOPPED_BY_REQUEST = stopped('running', 'a request came in');

/** One claim of one run. */
export class ClaimedRun {
  readonly #held: ActiveLease;
  readonly #control: StopControl;
  readonly #requests: SignalWatch;
  readonly #engine: Engine;
  readonly #config: DrivenConfig;
  readonly #goal: RunGoal;
  readonly #children: OpenChildren;
  readonly #now: () => number;
  readonly #statusBefore: ThreadStatus;
  readonly #recoveries: number;
  readonly #webhook: string | undefined;
  /** A first turn is taken up where there is a checkpoint: runs of older files say no more. */
  readonly #isFirstTurn: boolean;
  #hasWorked = false;
  #hasGivenInput = false;
  /** The values of the graph as it stands. */
  #stands: Pick<Driven, 'values'> | null = null;

  constructor({ held, recoveries, statusBefore, ...claim }: DriveClaim, engine: Engine) {
    const { control, requests, goal, now, callbacks, given } = claim;
    const { threadId, epoch } = held.lease;
    this.#statusBefore = statusBefore;
    this.#recoveries = recoveries;
    this.#webhook = claim.webhook;
    this.#isFirstTurn = (engine.store.inputs.latest(threadId)?.turn ?? 1) === 1;
    this.#held = held;
    this.#control = control;
    this.#requests = requests;
    this.#engine = engine;
    this.#goal = new RunGoal(held.lease, goal, engine);
    this.#children = new OpenChildren(engine.store, {
      above: control,
      ...(callbacks && { callbacks }),
      ...(now !== undefined && { now }),
    });
    this.#now = () => (this.#hasWorked ? undefined : now) ?? engine.store.now();
    const own = { thread_id: threadId, lease_thread_id: threadId, lease_epoch: epoch, lease: held.lease };
    this.#config = { ...given, configurable: { ...given.configurable, ...own }, control };
  }

  async toEnd(): Promise<Driven> {
    if (this.#recoveries >= MAX_RECOVERIES) {
      return { outcome: (await this.#end('dead_letter', GIVEN_UP)) ?? STOPPED_BY_REQUEST };
    }
    for (;;) {
      const outcome = await this.#turn();
      if (outcome === null) continue;
      const { status } = outcome;
      const stands = status === 'waiting' || status === 'completed' ? this.#stands : null;
      return { outcome, ...stands, isAnswered: this.#isAnswered(outcome) };
    }
  }

  /** The commit that settles the run may be the one that tells of its questions. */
  #isAnswered({ status, gates }: SessionOutcome): boolean {
    if (status !== 'waiting' || gates.length === 0 || !this.#hasWorked) return false;
    const { wakeSeq, handledSeq } = this.#engine.store.threads.signals.wakesOf(this.#held.lease.threadId);
    return wakeSeq > handledSeq && !this.#control.drainRequested;
  }

  /** One look at the run and one act; `null` to look again. */
  async #turn(): Promise<SessionOutcome | null> {
    const { threadId } = this.#held.lease;
    const thread = this.#engine.store.threads.require(threadId);
    if (this.#requests.has('cancel')) return this.#cancel();

    const tuple = await this.#latest();
    if (tuple === undefined || this.#isInputDue()) {
      if (tuple !== undefined) await onLastTurn(this.#config, tuple, this.#engine);
      const { input } = await recordedInput(threadId, this.#engine);
      return this.#goOn(input, { ...INPUT_DUE, isFirst: tuple === undefined });
    }
    const open = openQuestions(tuple);
    this.#markResumed([breakpointKey(tuple), ...open.map(({ interruptId }) => interruptId)]);
    const found = this.#isAtQuestions(open, tuple) ? await this.#lookAt(thread, tuple, open) : null;
    if (found !== null && found.next !== 'tasks') return this.#follow(thread, found, NOTHING_KNOWN);
    return this.#standsAt(thread, tuple, open);
  }

  /** After work, its tasks are those that have asked. `null` where LangGraph has to say its values. */
  async #lookAt(
    thread: Thread,
    tuple: CheckpointTuple,
    open: readonly PendingQuestion[],
  ): Promise<Look | null> {
    if (!this.#hasWorked) return this.#look(thread, open, null);
    const { graph, saver, store } = this.#engine;
    const values = await valuesWhereAsked(graph, tuple, () => saver.seenValues?.(this.#config));
    if (values === null) return null;
    this.#stands = { values };
    return store.runs.together(() => this.#look(thread, open, null));
  }

  async #standsAt(
    thread: Thread,
    tuple: CheckpointTuple,
    open: readonly PendingQuestion[],
  ): Promise<SessionOutcome | null> {
    const { saver, graph } = this.#engine;
    const state = await readState(graph, this.#config, saver).catch((error: unknown) => ({ error }));
    if ('error' in state) return this.#leftWith(state.error);
    const { tasks, values } = state;
    this.#stands = { values };
    if (tasks.length === 0) return this.#atEnd(thread, tuple, values);
    const stop = await questionAtBreakpoint({ lease: this.#held.lease, tuple, tasks, values }, this.#engine);
    if (stop !== null && stop.decision === null) return this.#wait(thread, [stop]);
    if (stop !== null && isRejection(stop.decision))
      return this.#end('cancelled', rejectedReason(stop.question));
    const begun = new Set(tuple.pendingWrites?.filter(hasHappened).map(([taskId]) => taskId));
    const hasUnstarted = tasks.some(({ id }) => !begun.has(id));
    return this.#answerOrGoOn(thread, open, { tasks, values, hasUnstarted });
  }

  /** Only looked at. */
  #latest(): Promise<CheckpointTuple | undefined> {
    const { saver } = this.#engine;
    return saver.seen?.(this.#config) ?? saver.getTuple(this.#config);
  }

  /** Found out again from the checkpoint, so it goes with the next commit. */
  #markResumed(openInterruptIds: readonly string[]): void {
    const { store } = this.#engine;
    const { lease } = this.#held;
    const untaken = store.sessions.untakenOf(lease.threadId);
    if (untaken.every((id) => openInterruptIds.includes(id))) return;
    store.withNext(lease, () => {
      store.fenceOf(lease).assertInTx();
      store.sessions.markResumed(lease.threadId, openInterruptIds);
    });
  }

  #isInputDue(): boolean {
    const { store } = this.#engine;
    if (this.#isFirstTurn || this.#hasGivenInput) return false;
    store.commitLate(); // a checkpoint that holds it may wait
    return store.inputs.latest(this.#held.lease.threadId)?.isTaken === false;
  }

  /** Nothing is left to do but what is asked of a human before the run ends. */
  async #atEnd(thread: Thread, tuple: CheckpointTuple, values: unknown): Promise<SessionOutcome | null> {
    const { store, endOf } = this.#engine;
    const last = questionAtEnd(tuple, this.#held.lease, store);
    if (last?.status === 'awaiting_approval') return this.#wait(thread, [last]);
    const aborted = abortReason(last?.decision);
    if (aborted !== null) return this.#end('cancelled', aborted);
    const { status, reason } = endOf(values);
    return this.#end(status, reason, thread.wakeSeq);
  }

  async #answerOrGoOn(
    thread: Thread,
    open: readonly PendingQuestion[],
    due: DueTasks,
  ): Promise<SessionOutcome | null> {
    const { store } = this.#engine;
    if (open.length === 0) return this.#goOn(null, due);
    const look = (): Look => this.#look(thread, open, due);
    // The commit of the questions is that of the status.
    return this.#follow(thread, this.#hasWorked ? store.runs.together(look) : look(), due);
  }

  async #follow(thread: Thread, found: Look, due: DueTasks): Promise<SessionOutcome | null> {
    switch (found.next) {
      case 'again':
      case 'tasks':
        return null;
      case 'end':
        return this.#end('cancelled', found.reason);
      case 'go on':
        return this.#goOn(found.input, due);
      case 'children':
        return this.#withChildren(thread, found, due);
      case 'wait':
        return found.outcome;
    }
  }

  /** Once they are answered the run goes on, whichever tasks and values it has: neither a stop nor a goal asks for them. */
  #isAtQuestions(open: readonly PendingQuestion[], tuple: CheckpointTuple): boolean {
    const { breakpoints, store } = this.#engine;
    if (open.length === 0 || stopsSomewhere(breakpoints) || !this.#goal.isEnd) return false;
    return store.sessions.findByInterrupt(this.#held.lease.threadId, breakpointKey(tuple)) === null;
  }

  /** A run that only waits is settled. @param due - `null` where it was not read. */
  #look(thread: Thread, open: readonly PendingQuestion[], due: DueTasks | null): Look {
    const { lease } = this.#held;
    const hasUnstarted = this.#hasWorked ? false : (due?.hasUnstarted ?? null);
    const looking = { thread, lease, store: this.#engine.store, now: this.#now(), hasUnstarted };
    const found = lookAtQuestions(open, looking);
    return found.next === 'wait' ? { next: 'wait', outcome: this.#waitFor(thread, found) } : found;
  }

  async #withChildren(thread: Thread, awaiting: Awaiting, due: DueTasks): Promise<SessionOutcome | null> {
    const children = await this.#children.drive(awaiting.pending);
    if (children === 'anew') return this.#goOn(null, { ...due, isAnew: true });
    if (children === 'driven') return this.#control.drainRequested ? this.#stopped() : null;
    return this.#waitFor(thread, awaiting);
  }

  #waitFor(thread: Thread, { gates, pending, deadlines }: Awaiting): SessionOutcome | null {
    return this.#wait(thread, gates, [...pending, ...deadlines]);
  }

  #wait(thread: Thread, gates: readonly HitlSession[], waits: readonly Wait[] = []): SessionOutcome | null {
    const { store } = this.#engine;
    const besides = awaited(waits, store);
    const told = gates.map(({ id }) => gateOpened(id));
    const scope = { threadId: thread.threadId };
    const suspended: NewEvent = {
      name: 'RUN_SUSPENDED',
      payload: waitSuspension(gates.length, besides),
      scope,
    };
    const isSettled = this.#settle(
      {
        status: 'waiting',
        reason: waitReason(gates.length, besides),
        seenWakeSeq: thread.wakeSeq,
        facts: this.#isNews('waiting') ? [suspended] : [],
      },
      told,
    );
    return isSettled ? { status: 'waiting', reason: null, gates, ...besides } : null;
  }

  /** Another goal counts once the visits in hand are finished: their recorded steps belong to the one before. */
  async #goOn(input: unknown, due: DueTasks): Promise<SessionOutcome | null> {
    // Timers and sockets get their turn before the graph goes on, and not between a question and its status.
    while (this.#hasWorked && shouldYield()) await yieldToEventLoop();
    const { steps } = this.#engine.store;
    const { threadId } = this.#held.lease;
    const { tasks, values } = due;
    if (this.#goal.isNew && tasks.some(({ id }) => steps.hasVisit(threadId, id))) {
      return this.#invoke(input, '*', due);
    }
    this.#goal.takeUp();
    const reached = this.#goal.reached(values);
    return reached === null ? this.#invoke(input, [...this.#goal.nodes], due) : this.#stopAtGoal(reached);
  }

  #stopAtGoal(reason: string): SessionOutcome | null {
    const { wakeSeq } = this.#engine.store.threads.require(this.#held.lease.threadId);
    const forget = (): void => this.#goal.forget(reason);
    const isSettled = this.#settle(pausedStatus(reason, wakeSeq, forget));
    return isSettled ? stopped('paused', reason) : null;
  }

  async #invoke(
    input: unknown,
    goalAfter: '*' | string[],
    { isAnew = false, isInput = false, isFirst = false }: DueTasks,
  ): Promise<SessionOutcome | null> {
    const { graph, store, streams, breakpoints } = this.#engine;
    if (this.#control.drainRequested) return this.#stopped();
    this.#stands = null;
    const { lease } = this.#held;
    // On disk with the first Thought, before a node works.
    if (!this.#hasWorked) store.withNext(lease, () => store.threads.markWorked(lease));
    this.#hasWorked = true;
    const interruptAfter = goalAfter === '*' ? goalAfter : [...goalAfter, ...breakpoints.after];
    const before = isFirst ? null : standingOf(lease, this.#engine);
    const streamed = streamedCall(graph, this.#config, { lease: this.#held.lease, streams });
    try {
      await withOwnSignal(this.#control.aborted, (signal) =>
        graph.invoke(input, { ...streamed.config, signal, interruptAfter }),
      );
      this.#hasGivenInput ||= isInput;
      await streamed.recorded();
      store.threads.resetRecoveries(this.#held.lease);
      return isAnew ? null : await this.#endIfStuck(before);
    } catch (error) {
      await streamed.recorded().catch(() => undefined); // what ended the call is the cause
      return this.#leftWith(error);
    }
  }

  /** What a call of the graph means that has thrown. */
  async #leftWith(thrown: unknown): Promise<SessionOutcome | null> {
    const { lease } = this.#held;
    const left = this.#engine.faults.take(lease.threadId);
    if (left instanceof RefusedResult) return this.#fail(left.cause);
    if (left !== null) throw left;
    const error = asThrowable(thrown);
    if (isGraphDrained(error as Error)) return this.#stopped((error as GraphDrained).reason);
    if (this.#control.aborted.aborted) return this.#stopped();
    // What an edge, a reducer or the saver has thrown.
    const fault = faultInside(error, lease);
    if (fault !== null) throw fault;
    return this.#fail(error);
  }

  async #fail(error: unknown): Promise<SessionOutcome | null> {
    const reason = reasonOf(error);
    const isEnded = (await this.#end('failed', reason)) !== null;
    return isEnded ? { status: 'failed', reason, gates: [], error: runError(error) } : null;
  }

  /**
   * A graph that stands where it stood would be driven for ever; what was asked of the run meanwhile is looked at first.
   *
   * @param before - Where it stood; `null` before its first checkpoint.
   */
  async #endIfStuck(before: Standing | null): Promise<SessionOutcome | null> {
    const { lease } = this.#held;
    const { threadId } = lease;
    const tuple = await this.#latest();
    const isInEdge = tuple !== undefined && hasUnanswerable(tuple);
    const isMoved = before === null ? tuple !== undefined : hasMoved(before, lease, this.#engine);
    if (!isInEdge && isMoved) return null;
    if (this.#control.drainRequested) return this.#stopped();
    return this.#fail(isInEdge ? interruptInEdge(threadId) : noProgress(threadId));
  }

  async #end(
    status: EndedStatus,
    reason: string | null,
    seenWakeSeq?: number,
    beside = (): void => {},
  ): Promise<SessionOutcome | null> {
    const { store } = this.#engine;
    const { threadId } = this.#held.lease;
    const isNews = this.#isNews(status);
    const turn = store.inputs.latest(threadId)?.key;
    const isCancelled = isNews && status === 'cancelled';
    const answer = isCancelled ? await stageCancelledCalls(this.#held.lease, this.#engine) : undefined;
    const isSettled = this.#settle(
      {
        ...{ status, reason },
        seenWakeSeq: seenWakeSeq ?? store.threads.require(threadId).wakeSeq,
        facts: isNews ? [runFinished({ threadId, status, turn, webhook: this.#webhook })] : [],
        withdrawsQuestions: isCancelled,
        inSameTransaction: () => {
          answer?.();
          // A run that failed or was given up may be gone on with, and finds its children again.
          if (isOver(status) && status !== 'dead_letter') cancelBelow(threadId, this.#engine);
          beside();
        },
      },
      isNews ? [runEnded(status, reason, turn)] : [],
    );
    return isSettled ? ended(status, reason) : null;
  }

  #settle(settlement: StatusUpdate, told: readonly RunStreamEvent[] = []): boolean {
    return saveRunStatus(this.#held.lease, settlement, told, this.#engine);
  }

  /** Driving a run that has ended or still waits says nothing new. */
  #isNews(status: ThreadStatus): boolean {
    return this.#hasWorked || status !== this.#statusBefore;
  }

  /**
   * A graph that was asked to stop: a cancelled run ends, any other can be gone on with.
   *
   * @param byNode - Why a node has stopped it, where nobody else has asked: then no worker goes on with it.
   */
  async #stopped(byNode = ASKED_TO_STOP): Promise<SessionOutcome | null> {
    if (this.#requests.has('cancel')) return this.#cancel();
    this.#requests.consume('pause');
    const reason = this.#control.drainReason ?? byNode;
    const { wakeSeq } = this.#engine.store.threads.require(this.#held.lease.threadId);
    const isSettled = this.#settle(pausedStatus(reason, wakeSeq, () => this.#cutOff()));
    return isSettled ? stopped('paused', reason) : null;
  }

  #cancel(): Promise<SessionOutcome | null> {
    return this.#end('cancelled', CANCELLED_BY_REQUEST, undefined, () => {
      this.#requests.consume('cancel');
      this.#cutOff();
    });
  }

  /** Aborted calls may go on in this process. The transaction that leaves the run ends their writes. */
  #cutOff(): void {
    if (this.#control.aborted.aborted) this.#engine.store.runs.cutOff(this.#held.lease);
  }
}

const pausedStatus = (reason: string, seenWakeSeq: number, beside = (): void => {}): StatusUpdate => ({
  ...{ status: 'paused', reason, seenWakeSeq, inSameTransaction: beside },
  facts: [],
});
