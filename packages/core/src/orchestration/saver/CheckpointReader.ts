import {
  type Checkpoint,
  type CheckpointMetadata,
  type CheckpointPendingWrite,
  type CheckpointTuple,
  compareWritesSortKeys,
  maxChannelVersion,
  TASKS,
  writesSortKey,
} from '@langchain/langgraph-checkpoint';
import type { Database, Transaction } from 'better-sqlite3';
import { withStateFaults } from '../../db/sqliteFault.ts';
import type {
  ChannelKey,
  CheckpointQuery,
  GraphCheckpointStore,
  StoredCheckpoint,
  TypedBytes,
  WriteRecord,
} from '../../state/GraphCheckpointStore.ts';
import { configOf } from '../checkpointConfig.ts';
import type { ValueCodec } from './ValueCodec.ts';

/** Format from which values are kept by channel version and sends are a channel. */
export const VERSIONED_FORMAT = 4;

/** What belongs to one checkpoint, read at one moment. */
interface Snapshot {
  readonly stored: StoredCheckpoint;
  readonly writes: readonly WriteRecord[];
  /** Of checkpoints older than format 4, which keep the sends of a step as writes of the step before. */
  readonly parentWrites: readonly WriteRecord[];
}

/** A channel and its value; `null` where it is empty. */
type LoadedChannel = readonly [channel: string, value: TypedBytes | null | undefined];

/** Checkpoints read at a time; no statement is open while the caller works. */
const PAGE_SIZE = 32;

/** Puts checkpoints together from their rows, as LangGraph's tuples. */
export class CheckpointReader {
  readonly #store: GraphCheckpointStore;
  readonly #codec: ValueCodec;
  readonly #firstVersion: () => number;
  readonly #readRow: Transaction<(load: () => StoredCheckpoint | null) => Snapshot | null>;
  readonly #readChannels: Transaction<
    (stored: StoredCheckpoint, keys: readonly ChannelKey[]) => readonly LoadedChannel[] | null
  >;

  /** @param firstVersion - The version of a channel that has none yet. */
  constructor(db: Database, store: GraphCheckpointStore, codec: ValueCodec, firstVersion: () => number) {
    this.#store = store;
    this.#codec = codec;
    this.#firstVersion = firstVersion;
    this.#readRow = db.transaction((load) => this.#snapshot(load()));
    this.#readChannels = db.transaction((stored, keys) => this.#channelsOf(stored, keys));
  }

  /** `undefined` if there is none, or it was deleted while it was read. */
  async read(load: () => StoredCheckpoint | null): Promise<CheckpointTuple | undefined> {
    const snapshot = withStateFaults(() => this.#readRow.deferred(load));
    return snapshot === null ? undefined : await this.#tupleOf(snapshot);
  }

  /** Rows, newest first. Those inserted meanwhile are not seen. */
  *rows(query: CheckpointQuery): Generator<StoredCheckpoint> {
    let beforeSeq = query.beforeSeq;
    for (;;) {
      const page = withStateFaults(() => this.#store.loadPage({ ...query, beforeSeq }, PAGE_SIZE));
      yield* page;
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE_SIZE) return;
      beforeSeq = last.seq;
    }
  }

  async metadataOf({ metadata }: StoredCheckpoint): Promise<CheckpointMetadata> {
    return await this.#codec.load(metadata);
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

  async #tupleOf({ stored, writes, parentWrites }: Snapshot): Promise<CheckpointTuple | undefined> {
    const loaded = await this.#codec.load<Checkpoint>(stored.checkpoint);
    const values = await this.#channelValues(stored, loaded);
    if (values === null) return undefined;
    const checkpoint = { ...loaded, channel_values: values };
    if (loaded.v < VERSIONED_FORMAT && stored.parentId !== null) {
      await this.#addPendingSends(checkpoint, parentWrites);
    }
    const { parentId } = stored;
    return {
      config: configOf(stored),
      checkpoint,
      metadata: await this.metadataOf(stored),
      pendingWrites: await Promise.all(writes.map((write) => this.#pendingWrite(write))),
      ...(parentId !== null && { parentConfig: configOf({ ...stored, checkpointId: parentId }) }),
    };
  }

  async #channelValues(
    stored: StoredCheckpoint,
    { channel_values: inline, channel_versions: versions }: Checkpoint,
  ): Promise<Record<string, unknown> | null> {
    const keys = Object.entries(versions)
      .filter(([channel]) => !Object.hasOwn(inline, channel))
      .map(([channel, version]) => ({ channel, version: String(version) }));
    const channels = withStateFaults(() => this.#readChannels.deferred(stored, keys));
    if (channels === null) return null;
    const entries = await Promise.all(
      channels.flatMap(([channel, value]) =>
        value ? [this.#codec.load(value).then((loaded) => [channel, loaded] as const)] : [],
      ),
    );
    return { ...inline, ...Object.fromEntries(entries) };
  }

  /** At one moment, at which the checkpoint is still there: a prune takes its values together with its row. */
  #channelsOf(stored: StoredCheckpoint, keys: readonly ChannelKey[]): readonly LoadedChannel[] | null {
    if (!this.#store.has(stored)) return null;
    return keys.map((key) => [key.channel, this.#store.loadChannel(stored, key)]);
  }

  async #addPendingSends(checkpoint: Checkpoint, parentWrites: readonly WriteRecord[]): Promise<void> {
    const sends = parentWrites.filter(({ channel }) => channel === TASKS);
    const versions = Object.values(checkpoint.channel_versions);
    checkpoint.channel_values[TASKS] = await Promise.all(sends.map(({ value }) => this.#codec.load(value)));
    checkpoint.channel_versions[TASKS] =
      versions.length > 0 ? maxChannelVersion(...versions) : this.#firstVersion();
  }

  async #pendingWrite({ taskId, channel, value }: WriteRecord): Promise<CheckpointPendingWrite> {
    return [taskId, channel, await this.#codec.load(value)];
  }
}

function inOrder(writes: readonly WriteRecord[]): readonly WriteRecord[] {
  const keyed = writes.map((write) => ({
    write,
    key: writesSortKey(write.taskPath, write.taskId, write.idx),
  }));
  return keyed.sort((a, b) => compareWritesSortKeys(a.key, b.key)).map(({ write }) => write);
}
