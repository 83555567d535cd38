// The one place that resumes LangGraph: `Command`, `invoke(null)` and first inputs are given here and nowhere else.
//
//   claim → no checkpoint: give the input · no tasks: finished · at a breakpoint: go on if it was answered, or settle as
//   waiting · open questions: apply recorded answers, or settle as waiting · else go on
//
// Invariants:
//   D1. A question is open when a task has an interrupt and no output; it is read from the pending writes.
//   D2. An answer is applied under its interrupt id and carries the key of its question, so applying it twice is
//       harmless and another question refuses it.
//   D3. LangGraph goes on past a breakpoint whenever it is called again: it is called once that was answered.
//   D4. The run settles only against the wake sequence it has read: a signal that came later means "look again".

import { setImmediate } from 'node:timers/promises';
import type { Callbacks } from '@langchain/core/callbacks/manager';
import { isGraphDrained, RunControl } from '@langchain/langgraph';
import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint';
import { DevsError, isDevsError } from '../../errors/DevsError.ts';
import type { EventBus } from '../../events/EventBus.ts';
import type { HitlSession } from '../../state/HitlSessionStore.ts';
import type { Lease, Thread, ThreadStatus } from '../../state/ThreadStore.ts';
import { assertSameGraph } from '../compile/graphChange.ts';
import type { GraphShape } from '../compile/graphShape.ts';
import type { EngineStore } from '../EngineStore.ts';
import type { Goal, GoalReader } from '../Goal.ts';
import type { FaultBox } from '../node/FaultBox.ts';
import { RefusedResult } from '../node/refusedResult.ts';
import { readState } from '../readState.ts';
import { type Breakpoints, NO_BREAKPOINTS } from '../stops/Breakpoints.ts';
import { isNo, refusedAt } from '../stops/Stop.ts';
import type { DrivenConfigurable } from '../visit.ts';
import { askAtEnd } from './askAtEnd.ts';
import { askAtStop, stopAt } from './askAtStop.ts';
import { decideByPolicy } from './decideByPolicy.ts';
import { drainOnAbort } from './drainOnAbort.ts';
import type { GivenOptions } from './givenOptions.ts';
import { type HeldLease, holdLease, releasing } from './LeaseKeeper.ts';
import { hasUnanswerable, interruptInEdge, noProgress } from './noProgress.ts';
import { openQuestions, type PendingQuestion } from './openQuestions.ts';
import { type DriveOutcome, type EndOfRun, type EndStatus, isOver } from './outcome.ts';
import { outsideGraphs } from './outsideGraphs.ts';
import { RunGoal } from './RunGoal.ts';
import { abortReason, readAnswers } from './readAnswers.ts';
import { resumeWith } from './resumeWith.ts';
import { runError } from './runError.ts';
import { SignalWatch } from './SignalWatch.ts';
import { withOwnSignal } from './withOwnSignal.ts';

/** Recoveries without progress after which a run is given up (no crash loops). */
const MAX_RECOVERIES = 5;

interface DrivenConfig extends Omit<GivenOptions, 'configurable'> {
  readonly configurable: DrivenConfigurable;
  readonly callbacks?: Callbacks;
  readonly control?: RunControl;
  readonly signal?: AbortSignal;
  readonly interruptAfter?: '*' | string[];
}

interface ReadConfig {
  readonly configurable: Pick<DrivenConfigurable, 'thread_id'>;
}

/** A task of the next super-step, as LangGraph describes it. */
interface PendingTask {
  readonly id: string;
  readonly name: string;
}

/** The part of a compiled LangGraph graph the driver uses. */
export interface DrivableGraph {
  invoke(input: unknown, config: DrivenConfig): Promise<unknown>;
  getState(config: ReadConfig): Promise<{ readonly tasks: readonly PendingTask[]; readonly values: unknown }>;
}

export interface DriverDeps {
  readonly store: EngineStore;
  readonly saver: BaseCheckpointSaver;
  readonly graph: DrivableGraph;
  readonly shape: GraphShape;
  readonly faults: FaultBox;
  readonly events: EventBus;
  /** The input a run was started with. */
  readonly inputOf: (thread: Thread) => Promise<unknown>;
  /** What it was given besides, for every drive. @defaultValue nothing */
  readonly optionsOf?: () => Promise<GivenOptions>;
  /** How a run whose graph has nothing left to do has ended. Pure. */
  readonly endOf: (values: unknown) => EndOfRun;
  readonly goals: GoalReader;
  readonly leave?: LeaveRun | undefined;
  /** Where the graph was compiled to stop. @defaultValue nowhere */
  readonly breakpoints?: Breakpoints;
}

/** What a driver does last under its lease: it lets go of what it held beside the state file. */
export type LeaveRun = (lease: Lease, store: EngineStore) => Promise<void>;

export interface DriveOptions {
  /** Aborting it stops the run at the next safe point; it can be resumed. */
  readonly signal?: AbortSignal;
  /** Aborting it ends the calls in flight too: they are made again when the run is resumed. */
  readonly abort?: AbortSignal;
  /** LangChain's handlers, for this drive: they are told what they are told by LangGraph. */
  readonly callbacks?: Callbacks;
  /** How far to drive; recorded until it is reached. @defaultValue the recorded one, else as far as it goes */
  readonly goal?: Goal;
  /** Run under the lease before the run is looked at: finishes what another process left half done. */
  readonly prepare?: (lease: Lease) => Promise<void>;
}

/** The lease of one drive, and what may stop it. */
interface Claim {
  readonly held: HeldLease;
  readonly control: RunControl;
  readonly requests: SignalWatch;
  readonly abort: AbortSignal | undefined;
  readonly goal: Goal | undefined;
  /** For the graph, from whoever started the run and whoever drives it. */
  readonly given: GivenOptions & { readonly callbacks?: Callbacks };
}

/**
 * Drives a run until it ends, waits for a human or is asked to stop. Any process may call it, any number of times.
 *
 * @throws DevsError `THREAD_BUSY` while another process drives the run; `GRAPH_CHANGED` when the run was started on
 *   a different graph; engine faults (`STATE_…`, `LEASE_LOST`, …) as they are: the run stays resumable.
 */
export async function drive(
  threadId: string,
  deps: DriverDeps,
  options: DriveOptions = {},
): Promise<DriveOutcome> {
  return outsideGraphs(() => driveAlone(threadId, deps, options));
}

async function driveAlone(
  threadId: string,
  deps: DriverDeps,
  { signal, abort, goal, prepare, callbacks }: DriveOptions,
): Promise<DriveOutcome> {
  const thread = deps.store.threads.require(threadId);
  if (isOver(thread.status)) return { status: thread.status, reason: thread.reason };
  assertSameGraph(thread, deps.shape);
  const held = await holdLease(deps.store.threads, threadId);
  return releasing(held, () => driveHeld(held, deps, { signal, abort, goal, prepare, callbacks }));
}

async function driveHeld(
  held: HeldLease,
  deps: DriverDeps,
  {
    signal,
    abort,
    goal,
    prepare,
    callbacks,
  }: { readonly [Name in keyof DriveOptions]: DriveOptions[Name] | undefined },
): Promise<DriveOutcome> {
  const { threadId } = held.lease;
  const control = new RunControl();
  const requests = new SignalWatch(deps.store.threads, threadId, control);
  const forget = drainOnAbort(control, [signal, abort]);
  try {
    await prepare?.(held.lease);
    deps.faults.forget(threadId);
    deps.store.budgets.startClock(threadId);
    const given = { ...(await deps.optionsOf?.()), ...(callbacks && { callbacks }) };
    return await new Drive({ held, control, requests, abort, goal, given }, deps).toEnd();
  } catch (error) {
    if (isDevsError(error, 'LEASE_LOST')) {
      // On the bus alone: the log belongs to the new driver.
      deps.events.emit('LEASE_LOST', { epoch: held.lease.epoch }, { threadId });
    }
    throw error;
  } finally {
    forget();
    requests.stop();
    deps.store.budgets.stopClock(threadId);
    // Calls that were cut off may still be ending: what they work in is not anybody else's yet.
    if (abort?.aborted !== true) await leaveQuietly(held.lease, deps);
  }
}

/** What is not let go of costs the next driver time and nothing else: the drive has ended as it has. */
export async function leaveQuietly(
  lease: Lease,
  { leave, store }: Pick<DriverDeps, 'leave' | 'store'>,
): Promise<void> {
  await leave?.(lease, store).catch(() => undefined);
}

/** What a checkpoint leads to. */
interface Due {
  readonly tasks: readonly PendingTask[];
  readonly values: unknown;
  /** Whether one of the tasks has left nothing in the file: no output, no question, no error. */
  readonly hasUnstarted: boolean;
}

const NOTHING_DUE: Due = { tasks: [], values: null, hasUnstarted: false };

/** A request came in while the run was being left; the next drive reads it. */
const STOPPED_BY_REQUEST: DriveOutcome = { status: 'drained', reason: 'a request came in' };

/** One claim of one run. */
class Drive {
  readonly #held: HeldLease;
  readonly #control: RunControl;
  readonly #requests: SignalWatch;
  readonly #deps: DriverDeps;
  readonly #abort: AbortSignal | undefined;
  readonly #config: DrivenConfig;
  readonly #goal: RunGoal;
  readonly #statusBefore: ThreadStatus;
  #hasWorked = false;

  constructor({ held, control, requests, abort, goal, given }: Claim, deps: DriverDeps) {
    const { threadId, epoch } = held.lease;
    this.#statusBefore = deps.store.threads.require(threadId).status;
    this.#held = held;
    this.#control = control;
    this.#requests = requests;
    this.#deps = deps;
    this.#goal = new RunGoal({ ...deps, lease: held.lease, reader: deps.goals, wanted: goal });
    this.#abort = abort;
    const own = { thread_id: threadId, lease_thread_id: threadId, lease_epoch: epoch, lease: held.lease };
    this.#config = { ...given, configurable: { ...given.configurable, ...own }, control };
  }

  async toEnd(): Promise<DriveOutcome> {
    const { lease, recovered } = this.#held;
    const { threads, steps } = this.#deps.store;
    const { recoveries } = threads.begin(lease, { recovered });
    if (recovered) this.#emitRecovered();
    // Who drives a run that has ended as failed wants it tried anew; going on after a crash is nobody's wish.
    if (this.#statusBefore === 'failed') {
      steps.allowRefused(lease.threadId, this.#deps.store.fenceOf(lease));
    }
    if (recoveries > MAX_RECOVERIES) {
      return this.#end('dead_letter', `${MAX_RECOVERIES} recoveries without progress`) ?? STOPPED_BY_REQUEST;
    }
    for (;;) {
      const outcome = await this.#turn();
      if (outcome !== null) return outcome;
      await setImmediate(); // timers and sockets get their turn, whatever the graph does
    }
  }

  /** One look at the run and one act; `null` to look again. */
  async #turn(): Promise<DriveOutcome | null> {
    const { store, saver, graph, inputOf, endOf } = this.#deps;
    const { threadId } = this.#held.lease;
    const thread = store.threads.require(threadId);
    if (this.#requests.has('cancel')) return this.#cancel();

    const tuple = await saver.getTuple(this.#config);
    if (tuple === undefined) return this.#goOn(await inputOf(thread), NOTHING_DUE);
    const open = openQuestions(tuple);
    store.sessions.markResumed(threadId, [stopAt(tuple), ...open.map(({ interruptId }) => interruptId)]);
    const { tasks, values } = await readState(graph, this.#config, saver);
    if (tasks.length > 0) {
      const stop = await askAtStop({ threadId, tuple, tasks, values }, this.#deps);
      if (stop !== null && stop.decision === null) return this.#wait(thread, [stop]);
      if (stop !== null && isNo(stop.decision)) return this.#end('cancelled', refusedAt(stop.question));
      const begun = new Set(tuple.pendingWrites?.map(([taskId]) => taskId));
      const hasUnstarted = tasks.some(({ id }) => !begun.has(id));
      return this.#answerOrGoOn(thread, open, { tasks, values, hasUnstarted });
    }
    const last = askAtEnd(tuple, threadId, store);
    if (last?.status === 'awaiting_approval') return this.#wait(thread, [last]);
    const aborted = abortReason(last?.decision);
    if (aborted !== null) return this.#end('cancelled', aborted);
    const { status, reason } = endOf(values);
    return this.#end(status, reason, thread.wakeSeq);
  }

  async #answerOrGoOn(
    thread: Thread,
    open: readonly PendingQuestion[],
    due: Due,
  ): Promise<DriveOutcome | null> {
    const { store } = this.#deps;
    if (open.length === 0) return this.#goOn(null, due);

    const answers = readAnswers(open, thread.threadId, this.#deps);
    if (decideByPolicy(answers.unanswered, thread.policies, store)) return null;
    const ending = answers.given.find(({ endsRun }) => endsRun !== null);
    if (ending !== undefined) return this.#end('cancelled', ending.endsRun);
    if (answers.given.length > 0) return this.#goOn(resumeWith(answers.given), due);
    // The driver before died while a branch beside was on its way to its own question.
    if (!this.#hasWorked && due.hasUnstarted) return this.#goOn(null, due);
    return this.#wait(thread, answers.unanswered);
  }

  #wait(thread: Thread, gates: readonly HitlSession[]): DriveOutcome | null {
    const { store, events } = this.#deps;
    if (!this.#settle('waiting', `${gates.length} open gate(s)`, thread.wakeSeq)) return null;
    if (this.#isNews('waiting')) {
      const scope = { threadId: thread.threadId };
      store.transact(events, (emit) => emit('RUN_SUSPENDED', { gates: gates.length }, scope));
    }
    return { status: 'suspended', gates };
  }

  /** Another goal counts once the visits in hand are finished: their recorded steps belong to the one before. */
  async #goOn(input: unknown, { tasks, values }: Due): Promise<DriveOutcome | null> {
    const { steps } = this.#deps.store;
    const { threadId } = this.#held.lease;
    if (this.#goal.isNew && tasks.some(({ id }) => steps.hasVisit(threadId, id))) {
      return this.#invoke(input, '*');
    }
    this.#goal.takeUp();
    const reached = this.#goal.reached(values);
    return reached === null ? this.#invoke(input, [...this.#goal.nodes]) : this.#stopAtGoal(reached);
  }

  #stopAtGoal(reason: string): DriveOutcome | null {
    const { wakeSeq } = this.#deps.store.threads.require(this.#held.lease.threadId);
    const isSettled = this.#goal.stopAt(reason, () => this.#settle('paused', reason, wakeSeq));
    return isSettled ? { status: 'drained', reason } : null;
  }

  async #invoke(input: unknown, goalAfter: '*' | string[]): Promise<DriveOutcome | null> {
    const { threadId } = this.#held.lease;
    const { graph, faults, store, breakpoints = NO_BREAKPOINTS } = this.#deps;
    if (this.#control.drainRequested) return this.#stopped();
    if (!this.#hasWorked) store.threads.markWorked(this.#held.lease);
    this.#hasWorked = true;
    const interruptAfter = goalAfter === '*' ? goalAfter : [...goalAfter, ...breakpoints.after];
    const before = store.footprint.of(threadId);
    try {
      await withOwnSignal(this.#abort, (signal) =>
        graph.invoke(input, { ...this.#config, signal, interruptAfter }),
      );
      store.threads.resetRecoveries(this.#held.lease);
      return await this.#endIfStuck(before);
    } catch (error) {
      const left = faults.take(threadId);
      if (left instanceof RefusedResult) return this.#fail(left);
      if (left !== null) throw left;
      if (isGraphDrained(error as Error) || this.#abort?.aborted) return this.#stopped();
      if (error instanceof DevsError) throw error;
      return this.#fail(error);
    }
  }

  #fail(error: unknown): DriveOutcome | null {
    const failure = runError(error);
    const reason = failure.message;
    return this.#end('failed', reason) && { status: 'failed', reason, error: failure };
  }

  /** A graph that stands where it stood would be driven for ever; what was asked of the run meanwhile is looked at first. */
  async #endIfStuck(before: string): Promise<DriveOutcome | null> {
    const { saver, store } = this.#deps;
    const { threadId } = this.#held.lease;
    const tuple = await saver.getTuple(this.#config);
    const isInEdge = tuple !== undefined && hasUnanswerable(tuple);
    if (!isInEdge && store.footprint.of(threadId) !== before) return null;
    if (this.#control.drainRequested) return this.#stopped();
    const { code, message } = isInEdge ? interruptInEdge(threadId) : noProgress(threadId);
    return this.#end('failed', `${code}: ${message}`);
  }

  #end(status: EndStatus, reason: string | null, seenWakeSeq?: number): DriveOutcome | null {
    const { store, events } = this.#deps;
    const { threadId } = this.#held.lease;
    const seen = seenWakeSeq ?? store.threads.require(threadId).wakeSeq;
    if (!this.#settle(status, reason, seen)) return null;
    if (this.#isNews(status)) {
      store.transact(events, (emit) => {
        if (status === 'cancelled') store.sessions.supersedeOpen(threadId, 'cancelled');
        emit('RUN_FINISHED', { outcome: status }, { threadId });
      });
    }
    return { status, reason };
  }

  #settle(status: ThreadStatus, reason: string | null, seenWakeSeq: number): boolean {
    const settlement = { seenWakeSeq, ...(reason !== null && { reason }) };
    return this.#deps.store.threads.settle(this.#held.lease, status, settlement) === 'settled';
  }

  /** Driving a run that has ended or still waits says nothing new. */
  #isNews(status: ThreadStatus): boolean {
    return this.#hasWorked || status !== this.#statusBefore;
  }

  /** A graph that was asked to stop: a cancelled run ends, any other can be gone on with. */
  #stopped(): DriveOutcome | null {
    if (this.#requests.has('cancel')) return this.#cancel();
    this.#requests.consume('pause');
    const reason = this.#control.drainReason ?? 'asked to stop';
    const { wakeSeq } = this.#deps.store.threads.require(this.#held.lease.threadId);
    return this.#settle('paused', reason, wakeSeq) ? { status: 'drained', reason } : null;
  }

  #cancel(): DriveOutcome | null {
    const outcome = this.#end('cancelled', 'cancelled by request');
    if (outcome !== null) this.#requests.consume('cancel');
    return outcome;
  }

  #emitRecovered(): void {
    const { store, events } = this.#deps;
    const { threadId, owner, epoch } = this.#held.lease;
    store.transact(events, (emit) => emit('RUN_RECOVERED', { owner, epoch }, { threadId }));
  }
}
