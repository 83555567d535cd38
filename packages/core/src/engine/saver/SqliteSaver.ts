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
import { createDatabase, prepareConnection } from '../../db/createDatabase.ts';
import type { PruneResult } from '../../state/checkpoints/CheckpointPruner.ts';
import {
  type ChannelKey,
  type ChannelRecord,
  type CheckpointKey,
  type CheckpointRecord,
  channelsApart,
  type TypedBytes,
  type WriteRecord,
} from '../../state/checkpoints/checkpointRecords.ts';
import { GraphCheckpointStore } from '../../state/checkpoints/GraphCheckpointStore.ts';
import {
  commitLate,
  type FencedLease,
  immediateTransaction,
  leaseFence,
  NO_FENCE,
} from '../../state/commits/immediateTransaction.ts';
import { type StateStats, stateStats } from '../../state/doctor/fileSizes.ts';
import { CheckpointReader, type CheckpointSnapshot } from './CheckpointReader.ts';
import {
  configOf,
  leaseOf,
  listQuery,
  matchesMetadata,
  namespaceOf,
  optionalId,
  requiredId,
  requiredNamespace,
  VERSIONED_FORMAT,
  validLimit,
} from './checkpointConfig.ts';
import { StrictSerde } from './StrictSerde.ts';
import { RefusedWrites, storedWrite, versionsOfValues, withSettledTriggers } from './storedCheckpoint.ts';
import { type PrunePolicy, ThreadPruner } from './ThreadPruner.ts';
import { type Dumping, ofChannel, ValueCodec } from './ValueCodec.ts';

/** How large what a checkpointer stores may be. */
export type SaverLimits = Pick<Limits, 'valueBytes' | 'channelBytes' | 'checkpointBytes' | 'depth'>;

/** Options of a {@link SqliteSaver}. */
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

/** The rows of a checkpoint that is about to be stored. */
export interface StagedRows {
  readonly write: WriteTogether;
  readonly stored: CheckpointRecord;
  /** All channels with values outside of it. */
  readonly apart: readonly ChannelKey[];
  /** Those of {@link apart} that are new, with their values. */
  readonly channels: readonly ChannelRecord[];
}

/** The writes of a task on top of a checkpoint, about to be stored. */
export interface StagedWrites {
  readonly write: WriteTogether;
  readonly records: readonly WriteRecord[];
}

/** Writes what is ready, and something beside it, in the caller's transaction: one that is rolled back where this throws. */
export type WriteTogether = (beside?: () => void) => void;

const CHECKPOINT_DUMPING: Dumping = { what: 'the checkpoint', root: 'checkpoint', limits: ['channelBytes'] };
const METADATA_DUMPING: Dumping = { what: 'the metadata', root: 'metadata', limits: ['valueBytes'] };

/** Fractions of a version number; decimal, because they are written as text. See {@link SqliteSaver.getNextVersion}. */
const VERSION_FRACTIONS = 1e9;

/**
 * LangGraph's checkpointer over the state file. Source: 2_TAS-REQ-016, TAS-009.
 *
 * - S1 One `put` or `putWrites` is one transaction; nothing is awaited inside it.
 * - S2 The newest checkpoint is the one inserted last. Ids come from the clock, and clocks step back.
 * - S3 A channel's value is stored once per version; a version keeps its value.
 * - S4 A value is returned equal, or its write is rejected before anything is stored.
 * - S5 A task's writes are stored exactly; an error is masked.
 * - S6 A trigger that had its effect is stored as seen: resuming a checkpoint does not run a node twice.
 * - S7 With `configurable.lease_epoch`, a write is rejected in its own transaction after another process claimed the
 * run.
 * - S8 A checkpoint of tasks with a rejected write is rejected too, because it contains that write.
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
   * @param db - An open database; missing tables are created.
   * @throws DevsError as `runMigrations`.
   * @throws RangeError if a limit is not a whole number from 1 to its maximum.
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
   * Opens or creates a state file with the saver's own connection, which `close` ends.
   *
   * @param path - Path of the file; `:memory:` for one that ends with the saver.
   * @throws DevsError as `createDatabase`.
   */
  static fromConnString(path: string): SqliteSaver {
    return new SqliteSaver(createDatabase({ dbPath: path }));
  }

  /** Returns the checkpoint of the config, or the newest of its thread and namespace. */
  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const snapshot = this.snapshotOf(config);
    return snapshot === null ? undefined : await this.tupleOf(snapshot);
  }

  /** The rows of {@link getTuple}. */
  protected snapshotOf(config: RunnableConfig): CheckpointSnapshot | null {
    const threadId = optionalId(config, 'thread_id');
    if (threadId === null) return null;
    commitLate(this.#db);
    const key = { threadId, checkpointNs: namespaceOf(config) ?? '' };
    const checkpointId = getCheckpointId(config);
    return this.#reader.snapshot(() =>
      checkpointId === '' ? this.#store.loadLatest(key) : this.#store.load({ ...key, checkpointId }),
    );
  }

  protected tupleOf(snapshot: CheckpointSnapshot): Promise<CheckpointTuple | undefined> {
    return this.#reader.tupleOf(snapshot);
  }

  /** The values of its channels, the caller's own. */
  protected channelValuesOf(
    snapshot: CheckpointSnapshot,
  ): Promise<Readonly<Record<string, unknown>> | undefined> {
    return this.#reader.valuesOf(snapshot);
  }

  /**
   * Yields checkpoints, newest first: of one thread, or of all threads if the config has no `thread_id` and
   * `allThreads` is set. Rows inserted meanwhile are not included. A `filter` compares whole metadata values by
   * content, in any order of keys; a filter value of `undefined` matches nothing.
   *
   * @throws RangeError if `limit` is not a whole number of at least 0.
   * @throws TypeError if an id in the config is not a string, or a required thread is missing.
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
      if (!matchesMetadata(await this.#reader.metadataOf(stored), filter)) continue;
      const tuple = await this.#reader.read(() => stored);
      if (tuple === undefined) continue;
      remaining -= 1;
      yield tuple;
    }
  }

  /**
   * Stores a checkpoint in the config's thread, as child of the config's checkpoint.
   *
   * @param newVersions - Channels whose values to store; the file has the others. Without it all values are stored, and
   *   no trigger counts as seen (S6). @defaultValue all channels with a value
   * @throws DevsError `VALUE_NOT_STORABLE`, `VALUE_TOO_LARGE` or `LEASE_LOST`; then nothing was stored.
   * @throws DevsError a fault of the file. After a failed commit the result is unknown: read before you repeat anything
   *   except this call, which is safe to repeat.
   */
  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions = versionsOfValues(checkpoint),
  ): Promise<RunnableConfig> {
    const { write } = await this.stageCheckpoint(config, checkpoint, metadata, newVersions);
    await whenFree(this.#db, () => immediateTransaction(this.#db, write));
    return configOf({ ...requiredNamespace(config), checkpointId: checkpoint.id });
  }

  /**
   * Stores a task's writes on top of the config's checkpoint. Ignores a repeated write of a task; replaces one of
   * LangGraph's own channels.
   *
   * @throws DevsError as {@link put}.
   */
  override async putWrites(
    config: RunnableConfig,
    writes: PendingWrite[],
    taskId: string,
    taskPath = '',
  ): Promise<void> {
    const { write } = await this.stageWrites(config, writes, taskId, taskPath);
    await whenFree(this.#db, () => immediateTransaction(this.#db, write));
  }

  /**
   * Prepares a checkpoint with its writes and returns a function that stores them in the caller's transaction.
   *
   * @throws DevsError as {@link put}, here or from the returned function.
   */
  async stage(
    config: RunnableConfig,
    { checkpoint, metadata, newVersions, writes }: StagedCheckpoint,
  ): Promise<() => void> {
    const on = { configurable: { ...config.configurable, checkpoint_id: checkpoint.id } };
    const staged = await Promise.all([
      this.stageCheckpoint(config, checkpoint, metadata, newVersions).then(({ write }) => write),
      ...writes.map(({ taskId, taskPath, values }) =>
        this.stageWrites(on, values, taskId, taskPath).then(({ write }) => write),
      ),
    ]);
    return () => {
      for (const write of staged) write();
    };
  }

  /**
   * Serializes a value that will be recorded before the graph writes it: an input or an update.
   *
   * @param what - `the input of run "a"`
   * @param root - Name of the value in the path of a place inside it.
   * @throws DevsError `VALUE_NOT_STORABLE`, `VALUE_TOO_LARGE` if a checkpoint would reject it.
   */
  async dumpInput(value: unknown, what: string, root: string): Promise<TypedBytes> {
    return this.#codec.dump(value, { what, root, limits: ['valueBytes', 'channelBytes', 'checkpointBytes'] });
  }

  /** Deletes every checkpoint and write of a thread, in all namespaces, and values that only it used. */
  override async deleteThread(threadId: string): Promise<void> {
    if (typeof threadId !== 'string') throw new TypeError(`threadId: ${String(threadId)} is not a string`);
    immediateTransaction(this.#db, () => this.#store.deleteThread(threadId));
  }

  /**
   * Deletes old checkpoints of a thread and unused values. Keeps the first checkpoint, the last ones, pinned ones,
   * those of a waiting gate or a session, those where branches part, and their ancestors. Reads each of them again
   * before the commit. The file does not shrink; free pages are used again.
   *
   * With a `lease`, the deletion is fenced like a write. Without one, make sure that no process runs the thread: it
   * could resume from a deleted checkpoint.
   *
   * ```ts
   * await saver.prune('run-1', { keepLast: 10, lease: { threadId: 'run-1', epoch: 3 } });
   * ```
   *
   * @throws DevsError `CHECKPOINT_NOT_FOUND` for an unknown pinned id, `THREAD_BUSY` if a process keeps adding
   *   checkpoints, `LEASE_LOST`, `STATE_CORRUPT`, or a storage fault; then nothing was deleted.
   * @throws RangeError if `keepLast` is not a whole number of at least 1.
   */
  async prune(threadId: string, policy: PrunePolicy): Promise<PruneResult> {
    commitLate(this.#db);
    const pruner = new ThreadPruner(this.#db, this.#store, this.#reader, this.#codec);
    return await pruner.prune(threadId, policy);
  }

  /** Returns rows and bytes by table, and how values are stored. Reads the whole file. */
  stats(): StateStats {
    return stateStats(this.#db);
  }

  /**
   * Whole numbers count up; a random fraction makes a version unique. Without it, two branches of one checkpoint would
   * give two values the same version, and both would read the later one (S3).
   */
  override getNextVersion(current: number | undefined): number {
    return Math.floor(current ?? 0) + 1 + randomInt(VERSION_FRACTIONS) / VERSION_FRACTIONS;
  }

  /** Closes the connection. Safe to call twice. */
  close(): void {
    if (this.#db.open) this.#db.close();
  }

  /** The rows of {@link put}. */
  protected async stageCheckpoint(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<StagedRows> {
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
      this.#codec.dump({ ...settled, channel_values: inline }, CHECKPOINT_DUMPING),
      this.#codec.dump(metadata, METADATA_DUMPING),
      this.#dumpChannels(values, channelsApart(whole ? versions : newVersions, {})),
    ]);
    this.#codec.assertCheckpointSize(this.#sizesOf(key, versions, channels));
    this.#store.expectChannels(key, channels);
    const parentId = getCheckpointId(config) || null;
    const unrefused = parentId === null ? null : this.#refused.none({ ...key, checkpointId: parentId });
    if (unrefused !== null) await unrefused;
    const save = (lease: FencedLease | null): void => {
      this.#store.saveChannels(key, channels);
      this.#store.saveCheckpoint({ ...key, parentId, checkpoint: row, metadata: meta }, apart);
      if (lease !== null) this.#onCheckpoint(lease, { ...key, parentId, source: metadata.source });
    };
    const stored = { ...key, parentId, checkpoint: row, metadata: meta };
    return { write: this.#fenced(config, save), stored, apart, channels };
  }

  /** The rows of {@link putWrites}. */
  async stageWrites(
    config: RunnableConfig,
    writes: readonly PendingWrite[],
    taskId: string,
    taskPath: string,
  ): Promise<StagedWrites> {
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
    return { write: this.#fenced(config, () => this.#store.saveWrites(key, records)), records };
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

  #fenced(config: RunnableConfig, work: (lease: FencedLease | null) => void): WriteTogether {
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
