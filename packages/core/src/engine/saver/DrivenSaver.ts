import type { RunnableConfig } from '@langchain/core/runnables';
import {
  type ChannelVersions,
  type Checkpoint,
  type CheckpointMetadata,
  type CheckpointTuple,
  ERROR,
  INTERRUPT,
  type PendingWrite,
  RESUME,
} from '@langchain/langgraph-checkpoint';
import type { Database } from 'better-sqlite3';
import { whenFree } from '../../db/busy.ts';
import { keepRead, readKept, TableKnowledge } from '../../db/keptReads.ts';
import {
  commitFailed,
  commitLate,
  type FencedLease,
  immediateTransaction,
  withNextCommit,
} from '../../state/commits/immediateTransaction.ts';
import type { NodeStore } from '../../state/RunStore.ts';
import { RecentMap } from '../../values/RecentMap.ts';
import type { InnerBreakpoints } from '../breakpoints/Breakpoint.ts';
import { type BreakpointRecords, checkpointAt, withoutUnseenVersions } from '../breakpoints/checkpointAt.ts';
import { shouldYield, yieldToEventLoop } from '../execution/yieldToEventLoop.ts';
import type { CheckpointSnapshot } from './CheckpointReader.ts';
import {
  configOf,
  leaseOf,
  namespaceOf,
  optionalId,
  requiredId,
  requiredNamespace,
} from './checkpointConfig.ts';
import { DriverMemory, type LeftCheckpoint } from './DriverMemory.ts';
import { SqliteSaver, type SqliteSaverOptions, type StagedRows, type StagedWrites } from './SqliteSaver.ts';
import { versionsOfValues } from './storedCheckpoint.ts';

/** Knows the driver of a run, and the answers. */
interface DriverRegister extends BreakpointRecords {
  readonly runs: Pick<NodeStore, 'assertDriven' | 'keepsUp'>;
  /** Whether the progress of this driver may be committed later. */
  writesLate(lease: FencedLease): boolean;
}

interface DrivenSaverOptions extends SqliteSaverOptions {
  /** Where the graphs inside nodes were compiled to stop. @defaultValue nowhere that is known */
  readonly breakpoints?: InnerBreakpoints;
  /** Is told with what config a checkpoint is looked for: LangGraph does so as a graph begins. @defaultValue nobody */
  readonly onLook?: (config: RunnableConfig) => void;
  /** The stream of the graph that is driven under a lease. @defaultValue it is not streamed */
  readonly streamOf?: (lease: unknown) => StreamedGraph | undefined;
}

/**
 * The checkpointer of an app: a run is written by its driver alone. A raw `updateState`, `Command` or second input
 * would pass the run's gates. A graph inside a node that is resumed stops again where nobody has answered its stop.
 *
 * The checkpoint after a super-step of the run's own graph is committed with what is written next: until then, who goes on
 * from the one before finds what the tasks wrote, and applies it again.
 */
export class DrivenSaver extends SqliteSaver {
  readonly #db: Database;
  readonly #store: DriverRegister;
  readonly #breakpoints: InnerBreakpoints;
  readonly #writing = new Map<string, Promise<unknown>>();
  readonly #onLook: (config: RunnableConfig) => void;
  readonly #streamOf: (lease: unknown) => StreamedGraph | undefined;
  readonly #memories = new WeakMap<object, DriverMemory>();
  /** By run. */
  readonly #left = new RecentMap<string, TableKnowledge<LeftCheckpoint>>(LEFT_RUNS);

  constructor(db: Database, store: DriverRegister, options: DrivenSaverOptions = {}) {
    super(db, options);
    this.#db = db;
    this.#store = store;
    this.#breakpoints = options.breakpoints ?? new Map();
    this.#onLook = options.onLook ?? (() => {});
    this.#streamOf = options.streamOf ?? (() => undefined);
  }

  /** Resolves once a checkpoint that is being written is in the file; `null` for any other. */
  writing(checkpointId: string): Promise<unknown> | null {
    return this.#writing.get(checkpointId) ?? null;
  }

  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    this.#onLook(config);
    this.#stream(config)?.begins(namespaceOf(config) ?? '');
    const snapshot = this.#latestOf(config);
    const tuple = snapshot === null ? undefined : await this.tupleOf(snapshot);
    if (tuple === undefined || !isResumedInside(config)) return tuple;
    const thread = requiredId(config, 'thread_id');
    const at = {
      runId: leaseOf(config)?.threadId ?? thread,
      thread,
      checkpointNs: namespaceOf(config) ?? '',
    };
    const load = (parent: RunnableConfig): Promise<CheckpointTuple | undefined> => super.getTuple(parent);
    return await checkpointAt(tuple, at, { store: this.#store, breakpoints: this.#breakpoints, load });
  }

  /** @throws DevsError `LEASE_LOST` for a run that the call has no lease on; else as {@link SqliteSaver.put}. */
  override async put(...given: PutCheckpoint): Promise<RunnableConfig> {
    const [, { id }] = given;
    const written = this.#put(...given);
    this.#writing.set(id, written);
    try {
      return await written;
    } finally {
      this.#writing.delete(id);
    }
  }

  async #put(...[config, checkpoint, metadata, given]: PutCheckpoint): Promise<RunnableConfig> {
    const newVersions = given ?? versionsOfValues(checkpoint);
    this.#assertDriven(config);
    const seen = { ...checkpoint, channel_versions: withoutUnseenVersions(checkpoint.channel_versions) };
    const versions = withoutUnseenVersions(newVersions);
    const streamed = this.#stream(config)?.checkpoint(streamScope(config), seen, metadata, versions);
    const staged = this.stageCheckpoint(config, seen, metadata, versions).then(inTurn);
    const lease = LATE_SOURCES.has(metadata.source) ? leaseOfOwnGraph(config) : null;
    const memory = this.#memoryOf(config);
    if (lease === null) {
      memory?.forget();
      await this.#commit(streamed, staged);
    } else {
      memory?.putting(checkpoint.id, metadata);
      const queued = (rows: StagedRows): null => {
        memory?.put(rows);
        return null;
      };
      await this.#withNext(lease, streamed, staged, { memory, queued });
      if (this.#store.writesLate(lease)) await this.#shown(config);
    }
    return configOf({ ...requiredNamespace(config), checkpointId: checkpoint.id });
  }

  /** @throws DevsError as {@link put}. */
  override async putWrites(
    config: RunnableConfig,
    given: PendingWrite[],
    taskId: string,
    taskPath = '',
  ): Promise<void> {
    this.#assertDriven(config);
    const writes = given.filter(([channel]) => isKept(channel, taskId, taskPath));
    if (writes.length === 0) return;
    const checkpointId = requiredId(config, 'checkpoint_id');
    const streamed = this.#stream(config)?.writes({ ...streamScope(config), checkpointId }, taskId, writes);
    const staged = this.stageWrites(config, writes, taskId, taskPath);
    const memory = this.#memoryOf(config);
    const isOfInput = memory?.isInput(checkpointId) === true;
    memory?.writing();
    const lease = isOfInput || this.#isLate(config, writes) ? leaseOfOwnGraph(config) : null;
    if (lease === null) {
      memory?.forget();
      await this.#commit(streamed, staged);
      memory?.forget(); // a read meanwhile may not have it
    } else {
      const queued = ({ records }: StagedWrites): Promise<void> | null => {
        memory?.wrote(checkpointId, records);
        return this.#store.writesLate(lease) ? this.#store.runs.keepsUp() : null;
      };
      await this.#withNext(lease, streamed, staged, { memory, queued });
    }
    // Only now: a turn of the event loop commits what is late, and an Action without its writes is a node that runs again.
    while (shouldYield()) await yieldToEventLoop();
  }

  /** Questions and answers, and outputs of a driver that writes late. Its failures are not. */
  #isLate(config: RunnableConfig, writes: readonly PendingWrite[]): boolean {
    const lease = leaseOfOwnGraph(config);
    if (lease === null) return false;
    if (writes.every(([channel]) => FOUND_AGAIN.has(channel))) return true;
    return this.#store.writesLate(lease) && writes.every(([channel]) => !PROMPT_CHANNELS.has(channel));
  }

  /**
   * The latest checkpoint of a run's own graph, for its driver, which looks at it and must not change it: LangGraph is given one of its
   * own by {@link getTuple}.
   */
  async seen(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const snapshot = this.#latestOf(config);
    if (snapshot === null) return undefined;
    const load = (rows: CheckpointSnapshot): Promise<CheckpointTuple | undefined> => this.tupleOf(rows);
    return await (this.#memoryOf(config)?.tupleOf(snapshot, load) ?? load(snapshot));
  }

  /** The values of the channels that {@link seen} has, to be given away. */
  async seenValues(config: RunnableConfig): Promise<Readonly<Record<string, unknown>> | undefined> {
    const snapshot = this.#latestOf(config);
    return snapshot === null ? undefined : await this.channelValuesOf(snapshot);
  }

  /** Another number once the driver of a run has written something new on top of its own graph's checkpoints. */
  moves(lease: FencedLease): number {
    return this.#memories.get(lease)?.moves ?? 0;
  }

  /** Whether some of that waits for the next commit. */
  hasUncommitted(lease: FencedLease): boolean {
    return this.#memories.get(lease)?.hasUncommitted === true;
  }

  /**
   * A driver has settled its run: the latest checkpoint that it knows is kept as rows that were read. The next driver in this
   * process takes over a small one.
   */
  left(lease: FencedLease): void {
    const memory = this.#memories.get(lease);
    const snapshot = memory?.latest();
    if (snapshot == null) return;
    const latest = latestRead(lease.threadId);
    keepRead(this.#db, latest, snapshot);
    const left = memory?.left(LEFT_BYTES) ?? null;
    if (left === null) return;
    const known = new TableKnowledge<LeftCheckpoint>(this.#db, latest.tables);
    known.set(left);
    this.#left.set(lease.threadId, known);
  }

  /** The latest one of the run's own graph is known to its driver. */
  #latestOf(config: RunnableConfig): CheckpointSnapshot | null {
    const isLatest = optionalId(config, 'checkpoint_id') === null;
    const memory = isLatest ? this.#memoryOf(config) : null;
    const known = memory?.latest();
    if (known !== undefined) return known;
    const threadId = optionalId(config, 'thread_id');
    if (memory === null && isLatest && threadId !== null && (namespaceOf(config) ?? '') === '') {
      commitLate(this.#db);
      return readKept(this.#db, { ...latestRead(threadId), read: () => this.snapshotOf(config) });
    }
    const snapshot = this.snapshotOf(config);
    memory?.loaded(snapshot);
    return snapshot;
  }

  #memoryOf(config: RunnableConfig): DriverMemory | null {
    const lease: unknown = config.configurable?.['lease'];
    const own = leaseOfOwnGraph(config);
    if (own === null || !isLeaseObject(lease)) return null;
    const memory = this.#memories.get(lease) ?? this.#newMemory(own.threadId);
    this.#memories.set(lease, memory);
    return memory;
  }

  /** Takes over at the beginning alone: later, the left checkpoint may lack a write that waits for a commit. */
  #newMemory(threadId: string): DriverMemory {
    const memory = new DriverMemory(this.#db);
    const left = this.#left.get(threadId)?.get();
    if (left !== undefined) memory.takeOver(left);
    return memory;
  }

  /** What the tasks of a super-step wrote is committed: who finds that without the checkpoint it leads to applies it again. */
  async #withNext<Staged extends Writable>(
    lease: FencedLease,
    streamed: Alongside | undefined,
    staged: Promise<Staged>,
    { memory, queued }: Queueing<Staged>,
  ): Promise<void> {
    let isBehind: Promise<void> | null = null;
    try {
      const ready = await staged;
      await streamed?.ready();
      await whenFree(this.#db, () => commitFailed(this.#db));
      const beside = streamed?.taken();
      const committed = (): void => {
        streamed?.committed();
        memory?.committed();
      };
      withNextCommit(this.#db, { lease, write: () => ready.write(beside), committed });
      isBehind = queued(ready);
    } finally {
      streamed?.over();
    }
    if (isBehind !== null) await isBehind;
  }

  /** A reader here has the super-step before the next one, and may leave. Its tasks have ended: the event loop may turn. */
  async #shown(config: RunnableConfig): Promise<void> {
    if (this.#stream(config)?.isRead !== true) return;
    await whenFree(this.#db, () => commitLate(this.#db));
    await yieldToEventLoop();
  }

  async #commit(streamed: Alongside | undefined, staged: Promise<Writable>): Promise<void> {
    await this.#committed(streamed, staged);
    const isBehind = this.#store.runs.keepsUp();
    if (isBehind !== null) await isBehind;
  }

  async #committed(streamed: Alongside | undefined, staged: Promise<Writable>): Promise<void> {
    if (streamed === undefined) {
      const { write } = await staged;
      await whenFree(this.#db, () => immediateTransaction(this.#db, write));
      return;
    }
    try {
      const { write } = await staged;
      await streamed.ready();
      await whenFree(this.#db, () => immediateTransaction(this.#db, () => write(streamed.inTx)));
      streamed.committed();
    } finally {
      streamed.over();
    }
  }

  #stream(config: RunnableConfig): StreamedGraph | undefined {
    return this.#streamOf(config.configurable?.['lease']);
  }

  #assertDriven(config: RunnableConfig): void {
    const frame = requiredId(config, 'thread_id');
    const { threadId, epoch } = leaseOf(config) ?? { threadId: frame, epoch: null };
    this.#store.runs.assertDriven({ threadId, frame, epoch, lease: config.configurable?.['lease'] });
  }
}

/** Runs whose latest checkpoints are known after their drives, and bytes of each at most. */
const LEFT_RUNS = 16;
const LEFT_BYTES = 256 * 1024;

/** The latest checkpoint of a run's own graph, as rows. */
const latestRead = (threadId: string) => ({
  ...{ threadId, name: 'latest checkpoint' },
  tables: ['checkpoints', 'checkpoint_writes', 'checkpoint_blobs', 'state_blobs'],
});

/** The path of a task that another one has called. Its question is its caller's. */
const CALLED_TASK = /^~__pregel_push, .*, 0{9}1$/s;

/** LangGraph writes an answer under the id of its interrupt as well, without a reader. The decision holds it. */
const INTERRUPT_ID = /^[0-9a-f]{32}$/;

function isKept(channel: string, taskId: string, taskPath: string): boolean {
  if (channel === RESUME) return !INTERRUPT_ID.test(taskId);
  return channel !== INTERRUPT || !CALLED_TASK.test(taskPath);
}

/** They can be found out again: an input from its record, a super-step from the writes of its tasks. */
const LATE_SOURCES: ReadonlySet<CheckpointMetadata['source'] | undefined> = new Set(['loop', 'input']);

/**
 * Of tasks without an output. An answer is recorded as a decision, and a question goes with its session in one
 * commit.
 */
const FOUND_AGAIN: ReadonlySet<string> = new Set([INTERRUPT, RESUME]);

/** Writes that are on disk before anybody sees them. */
const PROMPT_CHANNELS: ReadonlySet<string> = new Set([ERROR, INTERRUPT, RESUME]);

/** A checkpoint, after the turn of the event loop: after what is late is committed, it waits for the next commit. */
async function inTurn(rows: StagedRows): Promise<StagedRows> {
  while (shouldYield()) await yieldToEventLoop();
  return rows;
}

type Writable = Pick<StagedRows, 'write'>;

interface Queueing<Staged> {
  readonly memory: DriverMemory | null;
  /** Returns what the run has to wait for before it goes on. */
  readonly queued: (staged: Staged) => Promise<void> | null;
}

const isLeaseObject = (lease: unknown): lease is object => typeof lease === 'object' && lease !== null;

type PutCheckpoint = readonly [
  config: RunnableConfig,
  checkpoint: Checkpoint,
  metadata: CheckpointMetadata,
  newVersions?: ChannelVersions,
];

/** The lease of the run whose own graph it is, and no graph inside it. */
function leaseOfOwnGraph(config: RunnableConfig): FencedLease | null {
  const lease = leaseOf(config);
  const isOwn = lease?.threadId === config.configurable?.['thread_id'] && (namespaceOf(config) ?? '') === '';
  return isOwn ? lease : null;
}

function streamScope(config: RunnableConfig): Pick<StreamedWrite, 'threadId' | 'ns'> {
  const { threadId, checkpointNs } = requiredNamespace(config);
  return { threadId, ns: checkpointNs };
}

/** A graph inside a node that goes on from its latest checkpoint. */
function isResumedInside(config: RunnableConfig): boolean {
  const isInside = (namespaceOf(config) ?? '') !== '' && optionalId(config, 'checkpoint_id') === null;
  return isInside && config.configurable?.['__pregel_resuming'] === true && leaseOf(config) !== null;
}

/** Something that is written in the transaction of a checkpoint, or of a task's writes. */
export interface Alongside {
  /** Resolves once it can be written without waiting. */
  ready(): Promise<void>;
  inTx(): void;
  /** Instead of {@link inTx}, for a transaction that comes later: what is written then is settled now. */
  taken(): () => void;
  committed(): void;
  /** Committed or not. */
  over(): void;
}

/** Where something is written. */
export interface StreamedWrite {
  readonly threadId: string;
  readonly ns: string;
  /** The checkpoint that a task's writes are on top of. */
  readonly checkpointId: string;
}

/** Is told what a driven graph writes, before that is in the file, and adds what it streams of it. */
export interface StreamedGraph {
  /** Whether a reader in this process waits for its events. */
  readonly isRead: boolean;
  /** A graph of this namespace looks for its checkpoint. */
  begins(ns: string): void;
  /** Must be called before anything is awaited: LangGraph streams the update right after it asked for the write. */
  writes(at: StreamedWrite, taskId: string, writes: readonly PendingWrite[]): Alongside;
  checkpoint(
    at: Pick<StreamedWrite, 'threadId' | 'ns'>,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Alongside;
}
