import type { Database } from 'better-sqlite3';
import type { EventSink } from '../events/events.ts';
import { CheckpointPersister } from './CheckpointPersister.ts';
import { GraphCheckpointStore } from './checkpoints/GraphCheckpointStore.ts';
import { type CommitBarrier, HERE } from './commits/CommitBarrier.ts';
import {
  commitFailed,
  commitLate,
  endLateWrites,
  type Fence,
  type FencedLease,
  immediateTransaction,
  leaseFence,
  NO_FENCE,
  withNextCommit,
} from './commits/immediateTransaction.ts';
import { EventOutbox } from './events/EventOutbox.ts';
import { EventStore, type EventStoreOptions, GateEventStore } from './events/EventStore.ts';
import { WebhookStore } from './events/WebhookStore.ts';
import { DecisionLog } from './gates/DecisionLog.ts';
import { HitlSessionStore } from './gates/HitlSessionStore.ts';
import { HitlVoteStore } from './gates/HitlVoteStore.ts';
import { DrivenTimeStore } from './guards/DrivenTimeStore.ts';
import { FailureGateStore } from './guards/FailureGateStore.ts';
import { GuardStore } from './guards/GuardStore.ts';
import { RunLabelStore } from './labels/RunLabelStore.ts';
import type { WriteScope } from './RunStore.ts';
import { RewindStore } from './runs/RewindStore.ts';
import { RunDirectory } from './runs/RunDirectory.ts';
import { RunFootprint } from './runs/RunFootprint.ts';
import { RunRemover } from './runs/RunRemover.ts';
import { ScheduleStore } from './schedules/ScheduleStore.ts';
import { StepStore, type StepStoreOptions } from './steps/StepStore.ts';
import { TranscriptStore } from './steps/TranscriptStore.ts';
import { ChildStore } from './threads/ChildStore.ts';
import type { HostIdentity } from './threads/hostIdentity.ts';
import { InnerThreadStore } from './threads/InnerThreadStore.ts';
import { QueuedTurnStore } from './threads/QueuedTurnStore.ts';
import { ThreadInputStore } from './threads/ThreadInputStore.ts';
import { ThreadStore } from './threads/ThreadStore.ts';
import { WaitStore } from './threads/WaitStore.ts';

export interface StateFileOptions extends StepStoreOptions, EventStoreOptions {
  /** Is told what was committed. */
  readonly events: EventSink;
  /** @defaultValue what is committed has arrived */
  readonly outlet?: CommitBarrier;
  /** Whose leases are told alive or gone from here. @defaultValue this machine */
  readonly host?: HostIdentity;
}

/** One open state file: every table once, one way to commit, one outbox. */
export class StateFile {
  readonly db: Database;
  readonly threads: ThreadStore;
  readonly inputs: ThreadInputStore;
  readonly queue: QueuedTurnStore;
  readonly steps: StepStore;
  readonly transcripts: TranscriptStore;
  readonly checkpoints: GraphCheckpointStore;
  readonly sessions: HitlSessionStore;
  readonly votes: HitlVoteStore;
  readonly failureGates: FailureGateStore;
  readonly decisions: DecisionLog;
  readonly guards: GuardStore;
  readonly times: DrivenTimeStore;
  readonly journal: CheckpointPersister;
  readonly log: EventStore;
  readonly gateEvents: GateEventStore;
  readonly webhooks: WebhookStore;
  readonly schedules: ScheduleStore;
  readonly rewinds: RewindStore;
  readonly directory: RunDirectory;
  readonly labels: RunLabelStore;
  readonly waits: WaitStore;
  readonly children: ChildStore;
  readonly innerThreads: InnerThreadStore;
  readonly footprint: RunFootprint;
  readonly remover: RunRemover;
  readonly outbox: EventOutbox;
  /** Awaited before anything leaves that rests on what was committed. */
  readonly outlet: CommitBarrier;
  /** Runs with drivers that write late, by their ids. */
  readonly #late = new Map<string, { readonly epoch: number; readonly afterProgress: boolean }>();

  /** @param db - An open, migrated state file. */
  constructor(db: Database, { events, outlet = HERE, ...seams }: StateFileOptions) {
    this.db = db;
    this.threads = new ThreadStore(db, seams);
    this.inputs = new ThreadInputStore(db, seams);
    this.queue = new QueuedTurnStore(db, seams);
    this.steps = new StepStore(db, seams);
    this.transcripts = new TranscriptStore(db, seams);
    this.checkpoints = new GraphCheckpointStore(db);
    this.sessions = new HitlSessionStore(db, seams);
    this.votes = new HitlVoteStore(db);
    this.failureGates = new FailureGateStore(db);
    this.decisions = new DecisionLog(db, this.sessions);
    this.guards = new GuardStore(db);
    this.times = new DrivenTimeStore(db);
    this.journal = new CheckpointPersister(db);
    this.log = new EventStore(db, seams);
    this.gateEvents = new GateEventStore(db);
    this.webhooks = new WebhookStore(db, seams);
    this.schedules = new ScheduleStore(db, seams);
    this.rewinds = new RewindStore(db, seams);
    this.directory = new RunDirectory(db);
    this.labels = new RunLabelStore(db);
    this.waits = new WaitStore(db, seams);
    this.children = new ChildStore(db, seams);
    this.innerThreads = new InnerThreadStore(db);
    this.footprint = new RunFootprint(db);
    this.remover = new RunRemover(db, this);
    this.outbox = new EventOutbox(db, events, { store: this.log, outlet });
    this.outlet = outlet;
  }

  /** The fence of the lease that something is done under; none without an epoch, in plain LangGraph use. */
  fenceOf({ threadId, epoch }: WriteScope): Fence {
    return epoch === null ? NO_FENCE : leaseFence(this.db, { threadId, epoch });
  }

  /**
   * Runs `work` in one write transaction, or as a part of the one around it. Events it raises are rows of that
   * transaction, published after commit; a rolled back transaction leaves no event.
   *
   * @throws DevsError `STATE_REPLACED` if the file was deleted, replaced or truncated; `STATE_IO`, `STATE_DISK_FULL`,
   *   `STATE_CORRUPT` if it cannot be written.
   */
  commit<T>(work: (emit: EventSink['emit']) => T): T {
    const result = immediateTransaction(this.db, () => work(this.#emit));
    this.outbox.flush();
    return result;
  }

  /**
   * {@link commit} under a lease, or in plain LangGraph use, which has none: refused once a newer driver has the run (law L3).
   *
   * @throws DevsError `LEASE_LOST`; as {@link commit}.
   */
  commitUnder<T>(at: WriteScope, work: (emit: EventSink['emit']) => T): T {
    return this.commit((emit) => {
      this.fenceOf(at).assertInTx();
      return work(emit);
    });
  }

  /** {@link commitUnder}, undone with the transaction around it alone: its errors must not be caught there. */
  withinUnder<T>(at: WriteScope, work: (emit: EventSink['emit']) => T): T {
    if (!this.db.inTransaction) return this.commitUnder(at, work);
    this.fenceOf(at).assertInTx();
    return work(this.#emit);
  }

  /**
   * Has `work` done in the transaction of the next {@link commit}, or when the event loop has turned: for what can be found
   * out again from what is committed. Refused, it stops its run, which writes nothing more under this lease.
   */
  withNext(lease: FencedLease, work: (emit: EventSink['emit']) => void): void {
    commitFailed(this.db);
    const write = (): void => work(this.#emit);
    withNextCommit(this.db, { lease, write, committed: () => this.outbox.flush() });
  }

  /**
   * The driver of a run goes on before its progress is committed, until {@link endWrites}. What is on its way from here to another
   * place has a measure of its own besides, {@link CommitBarrier.keepsUp}.
   *
   * @param afterProgress - Only once it has made progress under this lease.
   */
  mayWriteLate(
    { threadId, epoch }: FencedLease,
    { afterProgress }: { readonly afterProgress: boolean },
  ): void {
    this.#late.set(threadId, { epoch, afterProgress });
  }

  /** Whether the progress of this driver may be written with the next {@link commit}. */
  writesLate({ threadId, epoch }: WriteScope): boolean {
    const late = this.#late.get(threadId);
    if (late === undefined || late.epoch !== epoch) return false;
    return !late.afterProgress || this.threads.hasProgressed({ threadId, epoch });
  }

  /** Commits the late writes. @throws DevsError as {@link commit}. */
  commitLate(): void {
    commitLate(this.db);
  }

  /** Whoever held this lease writes nothing more under it. */
  endWrites(lease: FencedLease): void {
    endLateWrites(this.db, lease);
    if (this.#late.get(lease.threadId)?.epoch === lease.epoch) this.#late.delete(lease.threadId);
  }

  readonly #emit: EventSink['emit'] = (name, payload, scope = {}) => this.outbox.record(name, payload, scope);
}
