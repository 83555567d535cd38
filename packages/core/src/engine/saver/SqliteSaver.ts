import { randomInt } from 'node:crypto';
import type { RunnableConfig } from '@langchain/core/runnables';
import {
  BaseCheckpointSaver,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointTuple,
  getCheckpointId,
  type PendingWrite,
  type SerializerProtocol,
  WRITES_IDX_MAP,
} from '@langchain/langgraph-checkpoint';
import type { Database } from 'better-sqlite3';
import { type Limits, validLimits } from '../../config/limits.ts';
import { whenFree } from '../../db/busy.ts';
import { createDatabase } from '../../db/createDatabase.ts';
import { prepareConnection } from '../../db/prepareConnection.ts';
import type { PruneResult } from '../../state/CheckpointPruner.ts';
import {
  type ChannelKey,
  type ChannelRecord,
  type CheckpointKey,
  channelsApart,
  type TypedBytes,
} from '../../state/checkpointRecords.ts';
import { type FencedLease, leaseFence, NO_FENCE } from '../../state/Fence.ts';
import { GraphCheckpointStore } from '../../state/GraphCheckpointStore.ts';
import { commitLate, immediately } from '../../state/immediately.ts';
import { type StateStats, stateStats } from '../../state/StateStats.ts';
import { CheckpointReader } from './CheckpointReader.ts';
import {
  configOf,
  leaseOf,
  namespaceOf,
  optionalId,
  requiredId,
  requiredNamespace,
  VERSIONED_FORMAT,
} from './checkpointConfig.ts';
import { listQuery, matchesFilter, validLimit } from './listQuery.ts';
import { RefusedWrites } from './RefusedWrites.ts';
import type { PrunePolicy } from './retainedCheckpoints.ts';
import { StrictSerde } from './StrictSerde.ts';
import { withSettledTriggers } from './settledTriggers.ts';
import { storedWrite } from './storedWrite.ts';
import { ThreadPruner } from './ThreadPruner.ts';
import { type Dumping, ofChannel, ValueCodec } from './ValueCodec.ts';
import { versionsOfValues } from './versionsOfValues.ts';

/** How large what a checkpointer stores may be. */
export type SaverLimits = Pick<Limits, 'valueBytes' | 'channelBytes' | 'checkpointBytes' | 'depth'>;

/** What a {@link SqliteSaver} takes besides the open state file. */
export interface SqliteSaverOptions {
  /** How values become bytes. Defaults to {@link StrictSerde}: a value comes back equal, or is refused. */
  readonly serde?: SerializerProtocol;
  /** How large values may be. */
  readonly limits?: Partial<SaverLimits>;
  /**
   * Whether `list` without a thread gives the checkpoints of every thread. LangGraph's interface has it so; pass `false`
   * where a caller that lost its thread id must not read the runs of others. @defaultValue true
   */
  readonly allThreads?: boolean;
  /** Called in the transaction of every checkpoint of a driven run. */
  readonly onCheckpoint?: (lease: FencedLease, stored: StoredCheckpoint) => void;
}

/** A checkpoint, as far as it says where it belongs. */
export interface StoredCheckpoint extends CheckpointKey {
  /** What LangGraph wrote it for: an `input`, a super-step of its `loop`, … */
  readonly source: CheckpointMetadata['source'];
  readonly parentId: string | null;
}

/** A checkpoint, and what tasks have already written on top of it. */
export interface StagedCheckpoint {
  readonly checkpoint: Checkpoint;
  readonly metadata: CheckpointMetadata;
  readonly newVersions: ChannelVersions;
  readonly writes: readonly {
    readonly taskId: string;
    readonly taskPath: string;
    readonly values: readonly PendingWrite[];
  }[];
}

/** Writes what is ready, and something beside it, in the caller's transaction: one that is rolled back where this throws. */
export type Write = (beside?: () => void) => void;

const CHECKPOINT: Dumping = { what: 'the checkpoint', root: 'checkpoint', limits: ['channelBytes'] };
const METADATA: Dumping = { what: 'the metadata', root: 'metadata', limits: ['valueBytes'] };

/** Fractions of a version number; decimal, because they are written as text. See {@link SqliteSaver.getNextVersion}. */
const VERSION_FRACTIONS = 1e9;

/**
 * LangGraph's checkpointer over the state file. Source: 2_TAS-REQ-016, TAS-009.
 *
 * - S1 One `put` or `putWrites` is one transaction; nothing is awaited inside it.
 * - S2 The newest checkpoint is the one inserted last. Ids come from the clock, and clocks step back.
 * - S3 A channel's value is stored once per version; a version never changes its value.
 * - S4 A value comes back equal, or its write is refused before anything is stored.
 * - S5 What a task writes is stored exactly; an error is masked.
 * - S6 A trigger that had its effect is stored as seen: going on from a checkpoint runs no node a second time.
 * - S7 With `configurable.lease_epoch`, a write is refused in its own transaction once a newer driver exists.
 * - S8 A checkpoint whose tasks had a write refused is refused, too: it holds what they wrote.
 *
 * ```ts
 * const graph = builder.compile({ checkpointer: new SqliteSaver(createDatabase({ dbPath: 'state.sqlite' })) });
 * ```
 */
export class SqliteSaver extends BaseCheckpointSaver {
  readonly #db: Database;
  readonly #store: GraphCheckpointStore;
  readonly #codec: ValueCodec;
  readonly #reader: CheckpointReader;
  readonly #refused = new RefusedWrites();
  readonly #allThreads: boolean;
  readonly #onCheckpoint: (lease: FencedLease, stored: StoredCheckpoint) => void;

  /**
   * @param db - An open database; its tables are created where they are missing.
   * @throws DevsError as `runMigrations`.
   * @throws RangeError if a limit is not a whole number of at least 1, or more than a value can have.
   */
  constructor(db: Database, options: SqliteSaverOptions = {}) {
    const limits = validLimits(options.limits);
    super(options.serde ?? new StrictSerde({ maxDepth: limits.depth }));
    prepareConnection(db);
    this.#db = db;
    this.#store = new GraphCheckpointStore(db);
    this.#codec = new ValueCodec(this.serde, limits);
    this.#reader = new CheckpointReader(db, this.#store, this.#codec, () => this.getNextVersion(undefined));
    this.#allThreads = options.allThreads ?? true;
    this.#onCheckpoint = options.onCheckpoint ?? (() => {});
  }

  /**
   * Opens a state file, or makes it, with a connection of the saver's own: `close` ends that.
   *
   * @param path - Of the file; `:memory:` for one that ends with the saver.
   * @throws DevsError as `createDatabase`.
   */
  static fromConnString(path: string): SqliteSaver {
    return new SqliteSaver(createDatabase({ dbPath: path }));
  }

  /** The checkpoint that the config names, or the newest of its thread and namespace. */
  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const threadId = optionalId(config, 'thread_id');
    if (threadId === null) return undefined;
    commitLate(this.#db);
    const key = { threadId, checkpointNs: namespaceOf(config) ?? '' };
    const checkpointId = getCheckpointId(config);
    return await this.#reader.read(() =>
      checkpointId === '' ? this.#store.loadLatest(key) : this.#store.load({ ...key, checkpointId }),
    );
  }

  /**
   * Checkpoints, newest first: of one thread, or of all threads when the config has no `thread_id` and `allThreads`
   * permits it. Streams; rows inserted meanwhile are not seen. A `filter` names values of the metadata, compared by content
   * as JSON is: all of a value, in any order of its keys. One that is `undefined` is no wish for anything: it matches nothing.
   *
   * @throws RangeError if `limit` is not a whole number of at least 0.
   * @throws TypeError if an id in the config is not a text, or the thread is missing where it may not be.
   */
  override async *list(
    config: RunnableConfig,
    { limit, before, filter }: CheckpointListOptions = {},
  ): AsyncGenerator<CheckpointTuple> {
    let remaining = validLimit(limit);
    commitLate(this.#db);
    const findSeq = (id: string, threadId: string | null): number | null => this.#store.findSeq(id, threadId);
    const query = listQuery(config, before, { allThreads: this.#allThreads, findSeq });
    for (const stored of this.#reader.rows(query)) {
      if (remaining <= 0) return;
      if (!matchesFilter(await this.#reader.metadataOf(stored), filter)) continue;
      const tuple = await this.#reader.read(() => stored);
      if (tuple === undefined) continue;
      remaining -= 1;
      yield tuple;
    }
  }

  /**
   * Stores a checkpoint under the config's thread, as child of the checkpoint the config names.
   *
   * @param newVersions - The channels whose value is stored; those of the others are in the file. Without it all values are
   *   stored, and no trigger is known to have had its effect (S6). @defaultValue all that have a value
   * @throws DevsError `VALUE_NOT_STORABLE`, `VALUE_TOO_LARGE` or `LEASE_LOST`; then nothing was stored.
   * @throws DevsError a fault of the file. What a failed commit left is unknown: read before repeating anything else than
   *   this call, which may be repeated.
   */
  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions = versionsOfValues(checkpoint),
  ): Promise<RunnableConfig> {
    const write = await this.stageCheckpoint(config, checkpoint, metadata, newVersions);
    await whenFree(this.#db, () => immediately(this.#db, write));
    return configOf({ ...requiredNamespace(config), checkpointId: checkpoint.id });
  }

  /**
   * Stores what a task wrote on top of the checkpoint the config names. A repeated write of a task is ignored, one of
   * LangGraph's own channels replaced.
   *
   * @throws DevsError as {@link put}.
   */
  override async putWrites(
    config: RunnableConfig,
    writes: PendingWrite[],
    taskId: string,
    taskPath = '',
  ): Promise<void> {
    const write = await this.stageWrites(config, writes, taskId, taskPath);
    await whenFree(this.#db, () => immediately(this.#db, write));
  }

  /**
   * Makes a checkpoint and the writes on top of it ready; what is returned stores them, in the caller's transaction.
   *
   * @throws DevsError as {@link put}, here or from what is returned.
   */
  async stage(
    config: RunnableConfig,
    { checkpoint, metadata, newVersions, writes }: StagedCheckpoint,
  ): Promise<() => void> {
    const on = { configurable: { ...config.configurable, checkpoint_id: checkpoint.id } };
    const staged = await Promise.all([
      this.stageCheckpoint(config, checkpoint, metadata, newVersions),
      ...writes.map(({ taskId, taskPath, values }) => this.stageWrites(on, values, taskId, taskPath)),
    ]);
    return () => {
      for (const write of staged) write();
    };
  }

  /**
   * A value as it is stored, for who records it before the graph writes it: an input, an update.
   *
   * @param what - `the input of run "a"`
   * @param root - What it is called in the path of a place inside it.
   * @throws DevsError `VALUE_NOT_STORABLE`, `VALUE_TOO_LARGE` for what no checkpoint would take.
   */
  async dumpInput(value: unknown, what: string, root: string): Promise<TypedBytes> {
    return this.#codec.dump(value, { what, root, limits: ['valueBytes', 'channelBytes', 'checkpointBytes'] });
  }

  /** Deletes every checkpoint and write of a thread, in all namespaces, and the values that nothing else uses. */
  override async deleteThread(threadId: string): Promise<void> {
    if (typeof threadId !== 'string') throw new TypeError(`threadId: ${String(threadId)} is not a string`);
    immediately(this.#db, () => this.#store.deleteThread(threadId));
  }

  /**
   * Thins out a thread's history and deletes the values that nothing uses any more. Kept are the first checkpoint, the
   * last ones, pinned ones, those at which a question waits or a session points, those from which branches part, and
   * everything these are made of. Each of them is read again before anything is committed. The file does not shrink: its
   * free pages are used again.
   *
   * Under a `lease` it is fenced as any write; without one nobody may drive the thread meanwhile, since a driver that goes
   * on from an old checkpoint would find it gone.
   *
   * ```ts
   * await saver.prune('run-1', { keepLast: 10, lease: { threadId: 'run-1', epoch: 3 } });
   * ```
   *
   * @throws DevsError `CHECKPOINT_NOT_FOUND` for a pinned id that is not there, `THREAD_BUSY` if a driver keeps adding
   *   checkpoints, `LEASE_LOST`, `STATE_CORRUPT`, or a storage fault; then nothing was deleted.
   * @throws RangeError if `keepLast` is not a whole number of at least 1.
   */
  async prune(threadId: string, policy: PrunePolicy): Promise<PruneResult> {
    commitLate(this.#db);
    const pruner = new ThreadPruner(this.#db, this.#store, this.#reader, this.#codec);
    return await pruner.prune(threadId, policy);
  }

  /** Rows and bytes by table, and how the values are stored. Reads the whole file. */
  stats(): StateStats {
    return stateStats(this.#db);
  }

  /**
   * Whole numbers count up; a random fraction makes a version unique. Without it two branches from one checkpoint would
   * give two values the same version, and the later one would be read for both (S3).
   */
  override getNextVersion(current: number | undefined): number {
    return Math.floor(current ?? 0) + 1 + randomInt(VERSION_FRACTIONS) / VERSION_FRACTIONS;
  }

  /** Closes the connection. May be called twice, and on a connection that is closed already. */
  close(): void {
    if (this.#db.open) this.#db.close();
  }

  /** What {@link put} stores; what is returned writes it. */
  protected async stageCheckpoint(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<Write> {
    const key = { ...requiredNamespace(config), checkpointId: checkpoint.id };
    const { channel_values: values, channel_versions: versions } = checkpoint;
    const settled = withSettledTriggers(checkpoint, metadata, newVersions); // S6
    const whole = checkpoint.v < VERSIONED_FORMAT;
    const inline = Object.fromEntries(
      Object.entries(values).filter(([name]) => whole || !Object.hasOwn(versions, name)),
    );
    const apart = channelsApart(versions, inline);
    // Every dump begins before the first await: what the caller changes later is not stored.
    const [row, meta, channels] = await Promise.all([
      this.#codec.dump({ ...settled, channel_values: inline }, CHECKPOINT),
      this.#codec.dump(metadata, METADATA),
      this.#dumpChannels(values, channelsApart(whole ? versions : newVersions, {})),
    ]);
    this.#codec.assertCheckpointSize(this.#sizesOf(key, versions, channels));
    const parentId = getCheckpointId(config) || null;
    const unrefused = parentId === null ? null : this.#refused.none({ ...key, checkpointId: parentId });
    if (unrefused !== null) await unrefused;
    const save = (lease: FencedLease | null): void => {
      for (const channel of channels) this.#store.saveChannel(key, channel);
      this.#store.saveCheckpoint({ ...key, parentId, checkpoint: row, metadata: meta }, apart);
      if (lease !== null) this.#onCheckpoint(lease, { ...key, parentId, source: metadata.source });
    };
    return this.#fenced(config, save);
  }

  /** What {@link putWrites} stores; what is returned writes it. */
  protected async stageWrites(
    config: RunnableConfig,
    writes: readonly PendingWrite[],
    taskId: string,
    taskPath: string,
  ): Promise<Write> {
    const checkpointId = requiredId(config, 'checkpoint_id');
    const key = { ...requiredNamespace(config), checkpointId };
    const places = writes.map(([channel], position) => {
      return { taskId, idx: WRITES_IDX_MAP[channel] ?? position, taskPath, channel };
    });
    const dumped = allOf(
      writes.map(([channel, value]) =>
        this.#codec.dump(storedWrite(channel, value), ofChannel(channel, 'valueBytes')),
      ),
    );
    const values = await this.#refused.watch(key, taskId, dumped);
    const records = values.map((value, at) => ({ ...(places[at] as (typeof places)[number]), value }));
    return this.#fenced(config, () => this.#store.saveWrites(key, records));
  }

  /** Bytes of a checkpoint's values by channel, those that are about to be stored among them. */
  #sizesOf(
    key: CheckpointKey,
    versions: ChannelVersions,
    channels: readonly ChannelRecord[],
  ): readonly (readonly [channel: string, bytes: number])[] {
    const fresh = channels.filter(({ channel, version }) => String(versions[channel]) === version);
    const stored = { ...versions };
    for (const { channel } of fresh) delete stored[channel];
    return [
      ...fresh.map(({ channel, value }) => [channel, value?.bytes.byteLength ?? 0] as const),
      ...this.#store.sizesOfChannels(key, stored),
    ];
  }

  #fenced(config: RunnableConfig, work: (lease: FencedLease | null) => void): Write {
    const lease = leaseOf(config);
    const fence = lease === null ? NO_FENCE : leaseFence(this.#db, lease);
    return (beside) => {
      fence.assertInTx();
      work(lease);
      beside?.();
    };
  }

  async #dumpChannels(
    values: Readonly<Record<string, unknown>>,
    channels: readonly ChannelKey[],
  ): Promise<readonly ChannelRecord[]> {
    const dumped = await allOf(
      channels.map(({ channel }) =>
        Object.hasOwn(values, channel)
          ? this.#codec.dump(values[channel], ofChannel(channel, 'channelBytes'))
          : null,
      ),
    );
    return channels.map((channel, at) => ({ ...channel, value: dumped[at] ?? null }));
  }
}

/** `Promise.all` that keeps nobody waiting when nothing has to be waited for. */
function allOf<T>(values: readonly (T | Promise<T>)[]): readonly T[] | Promise<readonly T[]> {
  return values.some((value) => value instanceof Promise) ? Promise.all(values) : (values as readonly T[]);
}
