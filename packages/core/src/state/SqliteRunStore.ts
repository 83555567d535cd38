import type { BusyWait } from '../db/busy.ts';
import { isStorageFault } from '../db/sqliteFault.ts';
import { DevsError, isDevsError } from '../errors/DevsError.ts';
import { type EventSink, emitEvent, type NewEvent } from '../events/events.ts';
import { maskSensitiveData } from '../masking/maskSensitiveData.ts';
import { type Fence, type FencedLease, heldLease, NO_FENCE } from './commits/immediateTransaction.ts';
import type { HitlSession } from './gates/hitlSession.ts';
import type {
  AskedQuestion,
  BegunStep,
  CallVerdict,
  DriverStart,
  LeasedCall,
  NodeTurn,
  RunStore,
  StatusUpdate,
  StepEnd,
  WriteScope,
} from './RunStore.ts';
import type { StateFile } from './StateFile.ts';
import type { NewStep, StepKey } from './steps/stepRecords.ts';
import type { MadeRoom, TranscribedStep, TranscriptPiece } from './steps/TranscriptStore.ts';
import type { NewSignal } from './threads/SignalStore.ts';
import type { ClaimOptions, ClaimResult, Lease, Thread } from './threads/threadRecords.ts';
import type { LangGraphCheckpoint } from './types.ts';

export interface SqliteRunStoreOptions {
  /** Called in the transaction of each turn and of each recorded result: records the time driven since. @defaultValue nobody counts */
  readonly markTime?: (threadId: string, taskId: string | null) => void;
}

type Emit = EventSink['emit'];

/** The port over one open state file. */
export class SqliteRunStore implements RunStore {
  readonly #file: StateFile;
  readonly #markTime: (threadId: string, taskId: string | null) => void;

  constructor(file: StateFile, { markTime = () => {} }: SqliteRunStoreOptions = {}) {
    this.#file = file;
    this.#markTime = markTime;
  }

  pending(): Promise<void> | null {
    return this.#file.outlet.pending();
  }

  keepsUp(): Promise<void> | null {
    return this.#file.outlet.keepsUp(() => this.#file.commitLate());
  }

  whenFree<T>(work: () => T, wait?: BusyWait): Promise<T> {
    return this.#file.threads.whenFree(work, wait);
  }

  assertDriven({ threadId, frame, epoch, lease }: LeasedCall): void {
    const { threads } = this.#file;
    if (epoch === null && lease === undefined) {
      if (threads.get(frame) !== null) throw notDriven({ threadId: frame, isWithout: 'a lease' });
      return;
    }
    const held = heldLease(lease);
    const isOfRun = held?.threadId === threadId && held.epoch === epoch;
    if (!isOfRun) throw notDriven({ threadId: frame });
    const other = frame === threadId ? null : this.#runAt(frame, threadId);
    if (other !== null) throw notTheRunOf(frame, { other, threadId });
  }

  /** The run of a thread that is not a frame of `own`; `null` for a thread of its own. */
  #runAt(thread: string, own: string): string | null {
    const { threads } = this.#file;
    for (let id = thread; id !== own; ) {
      if (threads.get(id) !== null) return id;
      const end = id.lastIndexOf('/');
      if (end < 0) break;
      id = id.slice(0, end);
    }
    return null;
  }

  humanDecided({
    threadId,
    checkpointId,
  }: {
    readonly threadId: string;
    readonly checkpointId: string | null;
  }): boolean {
    return checkpointId !== null && this.#file.sessions.hasHumanDecisionAt(threadId, checkpointId);
  }

  hasBegun(threadId: string, visitId: string): boolean {
    return this.#file.steps.hasVisit(threadId, visitId);
  }

  policyOf(threadId: string, name: string): unknown {
    return this.#file.threads.policyOf(threadId, name);
  }

  enter({ threadId, epoch }: WriteScope, turn: NodeTurn): void {
    const record = this.#recording({ threadId, epoch }, turn);
    if (epoch === null || !this.#file.writesLate({ threadId, epoch })) {
      this.#file.commit(record);
      return;
    }
    // A driver that has lost the run, or was refused a late write, must not begin a node.
    this.#file.fenceOf({ threadId, epoch }).assertInTx();
    this.#file.withNext({ threadId, epoch }, record);
  }

  leave({ threadId, epoch }: WriteScope, turn: NodeTurn): void {
    const record = this.#recording({ threadId, epoch }, turn);
    if (epoch === null) this.#file.commit(record);
    else this.#file.withNext({ threadId, epoch }, record);
  }

  note(at: WriteScope, facts: readonly NewEvent[]): void {
    this.#file.commitUnder(at, (emit) => this.#tell(facts, emit));
  }

  beginStep<Verdict extends CallVerdict>(
    at: WriteScope,
    step: NewStep,
    judge: () => Verdict,
  ): BegunStep<Verdict> {
    return this.#file.commitUnder(at, (emit) => {
      const verdict = judge();
      if (!verdict.mayBegin) return { attempt: null, verdict };
      const attempt = this.#file.steps.intent({ ...step, reserve: verdict.reserve }, this.#file.fenceOf(at));
      this.#tell(verdict.facts, emit);
      return { attempt, verdict };
    });
  }

  endStep(at: WriteScope, step: StepKey & Pick<NewStep, 'taskId'>, end: StepEnd): void {
    const { threadId, epoch } = at;
    this.#file.commitUnder(at, (emit) => {
      this.#writeEnd(step, end, this.#file.fenceOf(at));
      if (end.kind === 'done') {
        this.#markTime(threadId, step.taskId);
        // A recorded call is progress: only a driver that dies before one counts towards giving the run up.
        if (epoch !== null) this.#file.threads.resetRecoveries({ threadId, epoch });
      }
      this.#tell(end.facts, emit);
      end.inSameTransaction?.();
    });
  }

  endStepLate(
    { threadId, epoch }: WriteScope,
    step: StepKey & { readonly attempt: number },
    end: StepEnd,
  ): boolean {
    const { steps, threads } = this.#file;
    return this.#file.commit((emit) => {
      const wasCutOff = epoch !== null && threads.wasCutOff({ threadId, epoch });
      const begun = wasCutOff ? steps.find(step) : null;
      if (begun?.state !== 'intent' || begun.attempt !== step.attempt) return false;
      this.#writeEnd(step, end, NO_FENCE);
      this.#tell(end.facts, emit);
      return true;
    });
  }

  #writeEnd(step: StepKey, end: StepEnd, fence: Fence): void {
    const { steps } = this.#file;
    if (end.kind === 'failed') steps.fail(step, end.usage, fence);
    else if (end.kind === 'refused') steps.refuse(step, end.refusal, end.usage, fence);
    else steps.finish(step, end.result, end.usage, fence);
  }

  transcribe(
    at: WriteScope,
    step: TranscribedStep,
    piece: TranscriptPiece,
    dropped: MadeRoom | null,
  ): number {
    const fence = this.#file.fenceOf(at);
    return this.#file.transcripts.write(step, piece, { fence, ...(dropped !== null && { dropped }) });
  }

  ask(at: WriteScope, asked: readonly AskedQuestion[]): readonly HitlSession[] {
    return this.#file.commitUnder(at, (emit) => this.#open(asked, emit));
  }

  suspend({ threadId, epoch }: WriteScope, asked: readonly AskedQuestion[]): void {
    if (epoch === null) {
      this.ask({ threadId, epoch }, asked);
      return;
    }
    const lease = { threadId, epoch };
    const fence = this.#file.fenceOf(lease);
    fence.assertInTx(); // a driver that has lost the run stops here
    this.#file.withNext(lease, (emit) => {
      fence.assertInTx();
      this.#open(asked, emit);
    });
  }

  #open(asked: readonly AskedQuestion[], emit: Emit): readonly HitlSession[] {
    const { sessions, waits } = this.#file;
    return asked.map(({ question, facts, waits: deadlines }) => {
      const opened = sessions.openForInterrupt(question);
      this.#tell(facts(opened), emit);
      if (opened.opened) for (const wait of deadlines?.(opened.session) ?? []) waits.begin(wait);
      return opened.session;
    });
  }

  together<T>(work: () => T): T {
    return this.#file.commit(() => work());
  }

  claim(threadId: string, options?: ClaimOptions): ClaimResult {
    return this.#file.threads.claim(threadId, options);
  }

  renew(lease: Lease): void {
    this.#file.threads.renew(lease);
  }

  release(lease: Lease): void {
    this.#file.threads.release(lease);
  }

  cutOff(lease: Lease): void {
    this.#file.threads.cutOff(lease);
  }

  evict(threadId: string): boolean {
    return this.#file.threads.evict(threadId);
  }

  begin(lease: Lease, { recovered, allowsRefused }: DriverStart): Thread {
    const { threads, steps } = this.#file;
    const { threadId, owner, epoch } = lease;
    return this.#file.withinUnder(lease, (emit) => {
      const thread = threads.begin(lease, { recovered });
      if (recovered) emit('RUN_RECOVERED', { owner, epoch }, { threadId });
      if (allowsRefused) steps.allowRefused(threadId, this.#file.fenceOf(lease));
      return thread;
    });
  }

  settle(lease: Lease, settlement: StatusUpdate): 'settled' | 'again' {
    const {
      status,
      reason,
      seenWakeSeq,
      facts,
      withdrawsQuestions = false,
      inSameTransaction: beside,
    } = settlement;
    const { threads, sessions } = this.#file;
    return this.#file.withinUnder(lease, (emit) => {
      const settled = { seenWakeSeq, ...(reason !== null && { reason }) };
      if (threads.settle(lease, status, settled) === 'again') return 'again';
      if (withdrawsQuestions) sessions.supersedeOpen(lease.threadId, 'cancelled');
      this.#tell(facts, emit);
      beside?.();
      return 'settled';
    });
  }

  signal(threadId: string, signal: NewSignal, facts: readonly NewEvent[] = []): number {
    return this.#file.commit((emit) => {
      const seq = this.#file.threads.signal(threadId, signal);
      this.#tell(facts, emit);
      return seq;
    });
  }

  consume(lease: FencedLease, kind: NewSignal['kind']): void {
    const { signals } = this.#file.threads;
    const asked = signals.pending(lease.threadId, [kind]);
    if (asked.length === 0) return;
    this.#file.commitUnder(lease, () => {
      for (const { id } of asked) signals.consume(id);
    });
  }

  goal(lease: FencedLease, goal: unknown, facts: readonly NewEvent[]): void {
    const { threads } = this.#file;
    this.#file.commitUnder(lease, (emit) => {
      const { goal: _before, ...rest } = threads.require(lease.threadId).policies;
      threads.updatePolicies(lease.threadId, goal === null ? rest : { ...rest, goal });
      this.#tell(facts, emit);
    });
  }

  #tell(facts: readonly NewEvent[], emit: Emit): void {
    for (const fact of facts) {
      const isNews =
        fact.once === undefined || this.#file.guards.recordOnce(fact.scope.threadId ?? '', fact.once);
      if (isNews) emitEvent(fact, emit);
    }
  }

  /** Its state is serialized here: what becomes of it later is not written. */
  #recording(at: WriteScope, { entry, taskId, facts }: NodeTurn): (emit: Emit) => void {
    const save = this.#staged(entry);
    return (emit) => {
      this.#file.fenceOf(at).assertInTx();
      this.#markTime(at.threadId, taskId);
      this.#tell(facts, emit);
      this.#failOpen({ threadId: at.threadId, nodeName: entry.nodeName }, emit, save);
    };
  }

  /** What cannot be serialized is told where the row would be written. */
  #staged(entry: LangGraphCheckpoint): () => void {
    try {
      return this.#file.journal.stage(entry);
    } catch (error) {
      return () => {
        throw error;
      };
    }
  }

  /** Losing a line of the journal must not lose the turn; losing the disk or the lease must stop the run (law L6). */
  #failOpen(
    { threadId, nodeName }: { readonly threadId: string; readonly nodeName: string },
    emit: Emit,
    save: () => void,
  ): void {
    try {
      save();
    } catch (error) {
      if (isStorageFault(error) || isDevsError(error, 'LEASE_LOST')) throw error;
      const { threads } = this.#file;
      const message = maskSensitiveData(String(error));
      const scope = { threadId };
      emit('CHECKPOINT_SAVE_FAILED', { nodeName, message }, scope);
      if (threads.get(threadId)?.degraded === false) {
        threads.markDegraded(threadId);
        emit('RUN_DEGRADED', { reason: message }, scope);
      }
    }
  }
}

function notDriven(context: { readonly threadId: string; readonly isWithout?: string }): DevsError {
  return new DevsError(`Thread "${context.threadId}" is a run, and this call has no lease on it.`, {
    code: 'LEASE_LOST',
    remedy:
      'Answer its gates with decide() and resume it with run(). The compiled graph of an app is for reading only.',
    context: { ...context },
  });
}

/** A node has called a graph under the id of another run, which that run's own driver alone may write in. */
function notTheRunOf(
  frame: string,
  { other, threadId }: { readonly other: string; readonly threadId: string },
): DevsError {
  const what = frame === other ? 'is another run' : `belongs to run "${other}"`;
  return new DevsError(`A node of run "${threadId}" called a graph on thread "${frame}", which ${what}.`, {
    code: 'LEASE_LOST',
    remedy: 'Call the graph with a thread_id that is no run, or begin a run inside the node with child().',
    context: { threadId: frame, run: other, caller: threadId },
  });
}
