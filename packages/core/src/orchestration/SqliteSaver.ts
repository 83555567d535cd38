import { randomInt } from 'node:crypto';
import type { RunnableConfig } from '@langchain/core/runnables';
import {
  BaseCheckpointSaver,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointPendingWrite,
  type CheckpointTuple,
  compareWritesSortKeys,
  getCheckpointId,
  maxChannelVersion,
  type PendingWrite,
  type SerializerProtocol,
  TASKS,
  WRITES_IDX_MAP,
  writesSortKey,
} from '@langchain/langgraph-checkpoint';
import type { Database, Transaction } from 'better-sqlite3';
import { prepareConnection } from '../db/prepareConnection.ts';
import { withStateFaults } from '../db/sqliteFault.ts';
import { type Fence, type FencedLease, leaseFence, NO_FENCE } from '../state/Fence.ts';
import {
  type ChannelRecord,
  type CheckpointQuery,
  GraphCheckpointStore,
  type NamespaceKey,
  type StoredCheckpoint,
  type TypedBytes,
  type WriteRecord,
} from '../state/GraphCheckpointStore.ts';
import {
  configOf,
  leaseOf,
  namespaceOf,
  optionalId,
  requiredId,
  requiredNamespace,
} from './checkpointConfig.ts';

/** What a {@link SqliteSaver} takes besides the open state file. */
export interface SqliteSaverOptions {
  /** How values become bytes. Defaults to LangGraph's own serializer. */
  readonly serde?: SerializerProtocol;
  /** Called in the transaction of every checkpoint of a driven run. */
  readonly onCheckpoint?: (lease: FencedLease) => void;
}

/** What belongs to one checkpoint, read at one moment. */
interface Snapshot {
  readonly stored: StoredCheckpoint;
  readonly writes: readonly WriteRecord[];
  /** Of checkpoints older than format 4, which keep the sends of a step as writes of the step before. */
  readonly parentWrites: readonly WriteRecord[];
}

/** Format from which values are kept by channel version and sends are a channel. */
const VERSIONED_FORMAT = 4;

/** Checkpoints that `list` reads at a time; no statement is open while the caller works. */
const PAGE_SIZE = 32;

/** Fractions of a version number; see {@link SqliteSaver.getNextVersion}. */
const VERSION_FRACTIONS = 2 ** 32;

/**
 * LangGraph's checkpointer over the state file. Source: 2_TAS-REQ-016, TAS-009.
 *
 * - S1 One `put` or `putWrites` is one transaction; nothing is awaited inside it.
 * - S2 The newest checkpoint is the one inserted last. Ids come from the clock, and clocks step back.
 * - S3 A channel's value is stored once per version; a version never changes its value.
 * - S4 With `configurable.lease_epoch`, a write is refused in its own transaction once a newer driver exists.
 *
 * ```ts
 * const graph = builder.compile({ checkpointer: new SqliteSaver(createDatabase({ dbPath: 'state.sqlite' })) });
 * ```
 */
export class SqliteSaver extends BaseCheckpointSaver {
  readonly #db: Database;
  readonly #store: GraphCheckpointStore;
  readonly #onCheckpoint: (lease: FencedLease) => void;
  readonly #write: Transaction<(fence: Fence, work: () => void) => void>;
  readonly #read: Transaction<(load: () => StoredCheckpoint | null) => Snapshot | null>;

  /**
   * @param db - An open database; its tables are created where they are missing.
   * @throws DevsError as `runMigrations`.
   */
  constructor(db: Database, { serde, onCheckpoint = () => {} }: SqliteSaverOptions = {}) {
    super(serde);
    prepareConnection(db);
    this.#db = db;
    this.#store = new GraphCheckpointStore(db);
    this.#onCheckpoint = onCheckpoint;
    this.#write = db.transaction((fence, work) => {
      fence.assertInTx();
      work();
    });
    this.#read = db.transaction((load) => this.#snapshot(load()));
  }

  /** The checkpoint that the config names, or the newest of its thread and namespace. */
  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const threadId = optionalId(config, 'thread_id');
    if (threadId === null) return undefined;
    const key = { threadId, checkpointNs: namespaceOf(config) ?? '' };
    const checkpointId = getCheckpointId(config);
    const snapshot = withStateFaults(() =>
      this.#read.deferred(() =>
        checkpointId === '' ? this.#store.loadLatest(key) : this.#store.load({ ...key, checkpointId }),
      ),
    );
    return snapshot === null ? undefined : await this.#tupleOf(snapshot);
  }

  /**
   * Checkpoints, newest first: of one thread, or of all threads when the config names none, as LangGraph's interface
   * has it. Streams; rows inserted meanwhile are not seen.
   *
   * @throws RangeError if `limit` is not a whole number of at least 0.
   * @throws TypeError if an id in the config is not a text.
   */
  override async *list(
    config: RunnableConfig,
    { limit, before, filter }: CheckpointListOptions = {},
  ): AsyncGenerator<CheckpointTuple> {
    let remaining = validLimit(limit);
    for (const stored of this.#checkpoints(this.#queryOf(config, before))) {
      if (remaining <= 0) return;
      if (!matches(await this.#load<CheckpointMetadata>(stored.metadata), filter)) continue;
      const snapshot = withStateFaults(() => this.#read.deferred(() => stored));
      if (snapshot === null) continue;
      remaining -= 1;
      yield await this.#tupleOf(snapshot);
    }
  }

  /**
   * Stores a checkpoint under the config's thread, as child of the checkpoint the config names.
   *
   * @throws DevsError `LEASE_LOST`, `VALUE_NOT_STORABLE`, or a storage fault; then nothing was stored.
   */
  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const key = { ...requiredNamespace(config), checkpointId: checkpoint.id };
    const { channel_values: values, channel_versions: versions } = checkpoint;
    const whole = checkpoint.v < VERSIONED_FORMAT;
    const inline = Object.entries(values).filter(([name]) => whole || !Object.hasOwn(versions, name));
    // Every dump begins before the first await: what the caller changes later is not stored.
    const [row, meta, channels] = await Promise.all([
      this.#dump({ ...checkpoint, channel_values: Object.fromEntries(inline) }),
      this.#dump(metadata),
      this.#dumpChannels(values, whole ? versions : newVersions),
    ]);
    const parentId = getCheckpointId(config) || null;
    this.#commit(config, (lease) => {
      this.#store.saveCheckpoint({ ...key, parentId, checkpoint: row, metadata: meta });
      for (const channel of channels) this.#store.saveChannel(key, channel);
      if (lease !== null) this.#onCheckpoint(lease);
    });
    return configOf(key);
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
    const checkpointId = requiredId(config, 'checkpoint_id');
    const key = { ...requiredNamespace(config), checkpointId };
    const records = await Promise.all(
      writes.map(async ([channel, value], position): Promise<WriteRecord> => {
        const idx = WRITES_IDX_MAP[channel] ?? position;
        return { taskId, idx, taskPath, channel, value: await this.#dump(value) };
      }),
    );
    this.#commit(config, () => this.#store.saveWrites(key, records));
  }

  /** Deletes every checkpoint and write of a thread, in all namespaces. */
  override async deleteThread(threadId: string): Promise<void> {
    if (typeof threadId !== 'string') throw new TypeError(`threadId: ${String(threadId)} is not a text`);
    withStateFaults(() => this.#write.immediate(NO_FENCE, () => this.#store.deleteThread(threadId)));
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

  #commit(config: RunnableConfig, work: (lease: FencedLease | null) => void): void {
    const lease = leaseOf(config);
    const fence = lease === null ? NO_FENCE : leaseFence(this.#db, lease);
    withStateFaults(() => this.#write.immediate(fence, () => work(lease)));
  }

  #queryOf(config: RunnableConfig, before: RunnableConfig | undefined): CheckpointQuery {
    const threadId = optionalId(config, 'thread_id');
    const beforeId = before === undefined ? null : optionalId(before, 'checkpoint_id');
    const beforeThread = before === undefined ? null : optionalId(before, 'thread_id');
    const beforeSeq = beforeId === null ? null : this.#store.seqOf(beforeId, beforeThread ?? threadId);
    return {
      threadId,
      checkpointNs: namespaceOf(config),
      checkpointId: optionalId(config, 'checkpoint_id'),
      beforeSeq,
      beforeId: beforeSeq === null ? beforeId : null,
    };
  }

  *#checkpoints(query: CheckpointQuery): Generator<StoredCheckpoint> {
    let beforeSeq = query.beforeSeq;
    for (;;) {
      const page = withStateFaults(() => this.#store.loadPage({ ...query, beforeSeq }, PAGE_SIZE));
      yield* page;
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE_SIZE) return;
      beforeSeq = last.seq;
    }
  }

  #snapshot(stored: StoredCheckpoint | null): Snapshot | null {
    if (stored === null) return null;
    const { parentId } = stored;
    return {
      stored,
      writes: inOrder(this.#store.loadWrites(stored)),
      parentWrites:
        parentId === null ? [] : inOrder(this.#store.loadWrites({ ...stored, checkpointId: parentId })),
    };
  }

  async #tupleOf({ stored, writes, parentWrites }: Snapshot): Promise<CheckpointTuple> {
    const loaded = await this.#load<Checkpoint>(stored.checkpoint);
    const checkpoint = { ...loaded, channel_values: await this.#channelValues(stored, loaded) };
    if (loaded.v < VERSIONED_FORMAT && stored.parentId !== null) {
      await this.#addPendingSends(checkpoint, parentWrites);
    }
    const { parentId } = stored;
    return {
      config: configOf(stored),
      checkpoint,
      metadata: await this.#load<CheckpointMetadata>(stored.metadata),
      pendingWrites: await Promise.all(writes.map((write) => this.#pendingWrite(write))),
      ...(parentId !== null && { parentConfig: configOf({ ...stored, checkpointId: parentId }) }),
    };
  }

  async #channelValues(key: NamespaceKey, checkpoint: Checkpoint): Promise<Record<string, unknown>> {
    const inline = checkpoint.channel_values;
    const stored = Object.entries(checkpoint.channel_versions)
      .filter(([channel]) => !Object.hasOwn(inline, channel))
      .map(([channel, version]) => ({
        channel,
        value: withStateFaults(() => this.#store.loadChannel(key, { channel, version: String(version) })),
      }));
    const entries = await Promise.all(
      stored.flatMap(({ channel, value }) =>
        value ? [this.#load<unknown>(value).then((loaded): [string, unknown] => [channel, loaded])] : [],
      ),
    );
    return { ...inline, ...Object.fromEntries(entries) };
  }

  async #addPendingSends(checkpoint: Checkpoint, parentWrites: readonly WriteRecord[]): Promise<void> {
    const sends = parentWrites.filter(({ channel }) => channel === TASKS);
    const versions = Object.values(checkpoint.channel_versions);
    checkpoint.channel_values[TASKS] = await Promise.all(
      sends.map(({ value }) => this.#load<unknown>(value)),
    );
    checkpoint.channel_versions[TASKS] =
      versions.length > 0 ? maxChannelVersion(...versions) : this.getNextVersion(undefined);
  }

  async #pendingWrite({ taskId, channel, value }: WriteRecord): Promise<CheckpointPendingWrite> {
    return [taskId, channel, await this.#load<unknown>(value)];
  }

  async #dumpChannels(
    values: Readonly<Record<string, unknown>>,
    versions: ChannelVersions,
  ): Promise<readonly ChannelRecord[]> {
    return await Promise.all(
      Object.entries(versions).map(async ([channel, version]) => ({
        channel,
        version: String(version),
        value: Object.hasOwn(values, channel) ? await this.#dump(values[channel]) : null,
      })),
    );
  }

  async #dump(value: unknown): Promise<TypedBytes> {
    const [type, bytes] = await this.serde.dumpsTyped(value);
    return { type, bytes };
  }

  async #load<T>({ type, bytes }: TypedBytes): Promise<T> {
    return (await this.serde.loadsTyped(type, bytes)) as T;
  }
}

function inOrder(writes: readonly WriteRecord[]): readonly WriteRecord[] {
  const keyed = writes.map((write) => ({
    write,
    key: writesSortKey(write.taskPath, write.taskId, write.idx),
  }));
  return keyed.sort((a, b) => compareWritesSortKeys(a.key, b.key)).map(({ write }) => write);
}

/** Metadata is matched by its own properties only: a filter must not reach a prototype. */
function matches(metadata: object, filter: Record<string, unknown> = {}): boolean {
  const own = new Map<string, unknown>(Object.entries(metadata));
  return Object.entries(filter).every(([name, value]) => own.has(name) && own.get(name) === value);
}

function validLimit(limit: number | undefined): number {
  if (limit === undefined) return Number.POSITIVE_INFINITY;
  if (!Number.isSafeInteger(limit) || limit < 0) {
    throw new RangeError(`limit: ${String(limit)} is not a whole number of at least 0`);
  }
  return limit;
}
