import type { Database } from 'better-sqlite3';
import { DEFAULT_PRICES, type PriceTable } from '../config/prices.ts';
import { DevsError } from '../errors/DevsError.ts';
import type { EventBus, EventSink } from '../events/EventBus.ts';
import { CheckpointPersister } from '../state/CheckpointPersister.ts';
import { ChildStore } from '../state/ChildStore.ts';
import { DecisionLog } from '../state/DecisionLog.ts';
import { DrivenTimeStore } from '../state/DrivenTimeStore.ts';
import { EventOutbox } from '../state/EventOutbox.ts';
import { EventStore } from '../state/EventStore.ts';
import { type Fence, leaseFence, NO_FENCE } from '../state/Fence.ts';
import { GraphCheckpointStore } from '../state/GraphCheckpointStore.ts';
import { GuardStore } from '../state/GuardStore.ts';
import { HitlSessionStore } from '../state/HitlSessionStore.ts';
import { heldLease } from '../state/heldLeases.ts';
import { immediately } from '../state/immediately.ts';
import { RewindStore } from '../state/RewindStore.ts';
import { RunDirectory } from '../state/RunDirectory.ts';
import { RunFootprint } from '../state/RunFootprint.ts';
import { RunRemover } from '../state/RunRemover.ts';
import type { ResultCodec } from '../state/StepResult.ts';
import { StepStore } from '../state/StepStore.ts';
import type { StoreOptions } from '../state/StoreOptions.ts';
import { ThreadInputStore } from '../state/ThreadInputStore.ts';
import { ThreadStore } from '../state/ThreadStore.ts';
import { TranscriptStore } from '../state/TranscriptStore.ts';
import { WaitStore } from '../state/WaitStore.ts';
import { ENGINE_GATES } from './gates/engineGates.ts';
import type { GateRules } from './gates/GateRule.ts';
import { HumanInTheLoopManager } from './gates/HumanInTheLoopManager.ts';
import { assertUnitInterval } from './guards/assertUnitInterval.ts';
import { RunBudgets } from './guards/RunBudgets.ts';
import { TaskFailureGate } from './guards/TaskFailureGate.ts';
import type { Visit } from './visit.ts';

export interface EngineStoreOptions {
  readonly events: EventBus;
  /** Milliseconds since the Unix epoch. */
  readonly now?: () => number;
  readonly newId?: () => string;
  /** Entropy score in [0, 1] from which a task is handed to a human. */
  readonly entropyThreshold?: number;
  /** What tokens cost. @defaultValue {@link DEFAULT_PRICES} */
  readonly prices?: PriceTable;
  /** The kinds of gates the graph asks. @defaultValue those of any graph */
  readonly rules?: GateRules;
  /** For results of steps that are more than JSON. @defaultValue none: they are refused */
  readonly codec?: ResultCodec;
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

/**
 * Everything the engine keeps in one open state file.
 *
 * @throws DevsError `STATE_CORRUPT` if recorded decisions were edited, removed or reordered (law L2).
 * @throws RangeError if the entropy threshold is not in [0, 1].
 */
export class EngineStore {
  readonly db: Database;
  readonly threads: ThreadStore;
  readonly inputs: ThreadInputStore;
  readonly steps: StepStore;
  readonly transcripts: TranscriptStore;
  readonly checkpoints: GraphCheckpointStore;
  readonly sessions: HitlSessionStore;
  readonly guards: GuardStore;
  readonly budgets: RunBudgets;
  readonly prices: PriceTable;
  readonly rules: GateRules;
  readonly journal: CheckpointPersister;
  readonly log: EventStore;
  readonly manager: HumanInTheLoopManager;
  readonly failureGate: TaskFailureGate;
  readonly rewinds: RewindStore;
  readonly directory: RunDirectory;
  readonly waits: WaitStore;
  readonly children: ChildStore;
  readonly footprint: RunFootprint;
  readonly remover: RunRemover;
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number;

  readonly #seams: StoreOptions;
  /** One per bus: an outbox prepares statements, and a super-step has several transactions. */
  readonly #outboxes = new WeakMap<EventBus, EventOutbox>();

  constructor(
    db: Database,
    {
      events,
      now,
      newId,
      entropyThreshold,
      prices = DEFAULT_PRICES,
      rules = ENGINE_GATES,
      codec,
    }: EngineStoreOptions,
  ) {
    const seams = { ...(now && { now }), ...(newId && { newId }) };
    if (entropyThreshold !== undefined) assertUnitInterval('entropyThreshold', entropyThreshold);
    assertDecisions(db);
    this.db = db;
    this.#seams = seams;
    this.now = now ?? Date.now;
    this.threads = new ThreadStore(db, seams);
    this.inputs = new ThreadInputStore(db, seams);
    this.steps = new StepStore(db, { ...seams, ...(codec && { codec }) });
    this.transcripts = new TranscriptStore(db, seams);
    this.checkpoints = new GraphCheckpointStore(db);
    this.sessions = new HitlSessionStore(db, seams);
    this.guards = new GuardStore(db);
    this.prices = prices;
    this.rules = rules;
    this.children = new ChildStore(db, seams);
    const times = new DrivenTimeStore(db);
    this.budgets = new RunBudgets({ ...this, times });
    this.journal = new CheckpointPersister(db);
    this.log = new EventStore(db, seams);
    this.rewinds = new RewindStore(db, seams);
    this.directory = new RunDirectory(db);
    this.waits = new WaitStore(db, seams);
    this.footprint = new RunFootprint(db);
    this.remover = new RunRemover(db);
    this.manager = new HumanInTheLoopManager(db, { events, rules, ...seams });
    this.failureGate = new TaskFailureGate({
      db,
      manager: this.manager,
      events,
      ...seams,
      ...(entropyThreshold !== undefined && { defaultThreshold: entropyThreshold }),
    });
  }

  /** The fence of the lease a visit runs under; none in plain LangGraph use. */
  fenceOf({ threadId, epoch }: Pick<Visit, 'threadId' | 'epoch'>): Fence {
    return epoch === null ? NO_FENCE : leaseFence(this.db, { threadId, epoch });
  }

  /**
   * A run is gone on with by its driver alone: any other call would pass its gates and run its nodes a second time. The
   * driver has the lease that was claimed for this run, and not just its number, which everybody can read.
   *
   * @throws DevsError `LEASE_LOST` without that lease on a thread that is a run.
   */
  assertDriven({ threadId, frame, epoch, lease }: LeasedCall): void {
    if (epoch === null && lease === undefined) {
      if (this.threads.get(frame) !== null) throw notDriven(frame);
      return;
    }
    const held = heldLease(lease);
    const isOfRun = held?.threadId === threadId && held.epoch === epoch;
    const isOfFrame =
      frame === threadId || (frame.startsWith(`${threadId}/`) && this.threads.get(frame) === null);
    if (!isOfRun || !isOfFrame) throw notDriven(frame);
  }

  /**
   * Runs `work` in one write transaction. Events it raises are rows of that transaction, published after commit;
   * a rolled back transaction leaves no event.
   *
   * @throws DevsError `STATE_REPLACED` if the file was deleted, replaced or truncated.
   */
  transact<T>(bus: EventBus, work: (emit: EventSink['emit']) => T): T {
    const outbox = this.#outboxOf(bus);
    const emit: EventSink['emit'] = (name, payload, scope = {}) => outbox.record(name, payload, scope);
    const result = immediately(this.db, () => work(emit));
    outbox.flush();
    return result;
  }

  #outboxOf(bus: EventBus): EventOutbox {
    const known = this.#outboxes.get(bus);
    if (known !== undefined) return known;
    const outbox = new EventOutbox(this.db, bus, this.#seams);
    this.#outboxes.set(bus, outbox);
    return outbox;
  }
}

function notDriven(threadId: string): DevsError {
  return new DevsError(`Thread "${threadId}" is a run, and this call has no lease on it.`, {
    code: 'LEASE_LOST',
    remedy:
      'Answer its gates with decide() and go on with run(); the compiled graph of an app is for reading.',
    context: { threadId },
  });
}

function assertDecisions(db: Database): void {
  const verdict = new DecisionLog(db).verify();
  if (verdict.ok) return;
  throw new DevsError(`The decision log does not fit its sessions: ${verdict.reason}.`, {
    code: 'STATE_CORRUPT',
    remedy: 'Somebody changed recorded decisions. Restore the state file from a backup, or find out who did.',
    context: { line: verdict.seq ?? 0 },
  });
}
