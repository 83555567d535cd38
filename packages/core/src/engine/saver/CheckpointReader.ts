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
import type { Database } from 'better-sqlite3';
import { transaction } from '../../db/prepare.ts';
import {
  type ChannelKey,
  type CheckpointQuery,
  type CheckpointRecord,
  channelsApart,
  type OrderedCheckpoint,
  type TypedBytes,
  type WriteRecord,
} from '../../state/checkpoints/checkpointRecords.ts';
import type { GraphCheckpointStore } from '../../state/checkpoints/GraphCheckpointStore.ts';
import { configOf, VERSIONED_FORMAT } from './checkpointConfig.ts';
import type { ValueCodec } from './ValueCodec.ts';

/** The rows of one checkpoint, read at one moment. */
export interface CheckpointSnapshot {
  readonly stored: CheckpointRecord;
  readonly writes: readonly WriteRecord[];
  /** Of checkpoints older than format 4, which keep the sends of a step as writes of the step before. */
  readonly parentWrites: readonly WriteRecord[];
  /** Known at once where the checkpoint needs no serde; else to be read, `null` if it was deleted meanwhile. */
  readonly channels: readonly LoadedChannel[] | ((checkpoint: Checkpoint) => readonly LoadedChannel[] | null);
}

/** A channel and its value; `null` where it is empty. */
export interface LoadedChannel extends ChannelKey {
  readonly value: TypedBytes | null;
}

/** Checkpoints read at a time; no statement is open while the caller works. */
const PAGE_SIZE = 32;

/** Puts checkpoints together from their rows, as LangGraph's tuples. */
export class CheckpointReader {
  readonly #db: Database;
  readonly #store: GraphCheckpointStore;
  readonly #codec: ValueCodec;
  readonly #firstVersion: () => number;

  /** @param firstVersion - The version of a channel that has none yet. */
  constructor(db: Database, store: GraphCheckpointStore, codec: ValueCodec, firstVersion: () => number) {
    this.#db = db;
    this.#store = store;
    this.#codec = codec;
    this.#firstVersion = firstVersion;
  }

  /** `undefined` if there is none, or it was deleted while it was read. */
  async read(load: () => OrderedCheckpoint | null): Promise<CheckpointTuple | undefined> {
    const snapshot = this.snapshot(load);
    return snapshot === null ? undefined : await this.tupleOf(snapshot);
  }

  /** `null` if there is none. */
  snapshot(load: () => OrderedCheckpoint | null): CheckpointSnapshot | null {
    return transaction(this.#db, 'deferred', () => this.#snapshot(load()));
  }

  /** Rows, newest first. Those inserted meanwhile are not seen. */
  *rows(query: CheckpointQuery): Generator<OrderedCheckpoint> {
    let beforeSeq = query.beforeSeq;
    for (;;) {
      const page = this.#store.loadPage({ ...query, beforeSeq }, PAGE_SIZE);
      yield* page;
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE_SIZE) return;
      beforeSeq = last.seq;
    }
  }

  async metadataOf({ metadata }: Pick<CheckpointRecord, 'metadata'>): Promise<CheckpointMetadata> {
    return await this.#codec.load(metadata);
  }

  #snapshot(stored: OrderedCheckpoint | null): CheckpointSnapshot | null {
    if (stored === null) return null;
    const { parentId } = stored;
    const checkpoint = this.#codec.loadPlain<Checkpoint>(stored.checkpoint)?.value;
    const hasSends = checkpoint === undefined || checkpoint.v < VERSIONED_FORMAT;
    const parent = hasSends && parentId !== null ? { ...stored, checkpointId: parentId } : null;
    return {
      stored,
      writes: inOrder(this.#store.loadWrites(stored)),
      parentWrites: parent === null ? [] : inOrder(this.#store.loadWrites(parent)),
      channels:
        checkpoint === undefined
          ? (loaded) => this.#channelsLater(stored, loaded)
          : this.#channelsOf(stored, checkpoint),
    };
  }

  /** Anew at each call: the caller may change it. `undefined` if it was deleted while it was read. */
  async tupleOf(snapshot: CheckpointSnapshot): Promise<CheckpointTuple | undefined> {
    const { stored, writes, parentWrites } = snapshot;
    const checkpoint = await this.#checkpointOf(snapshot);
    if (checkpoint === undefined) return undefined;
    if (checkpoint.v < VERSIONED_FORMAT && stored.parentId !== null) {
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

  /** The values of its channels, as {@link tupleOf} has them. */
  async valuesOf(snapshot: CheckpointSnapshot): Promise<Readonly<Record<string, unknown>> | undefined> {
    return (await this.#checkpointOf(snapshot))?.channel_values;
  }

  async #checkpointOf({ stored, ...snapshot }: CheckpointSnapshot): Promise<Checkpoint | undefined> {
    const loaded =
      this.#codec.loadPlain<Checkpoint>(stored.checkpoint)?.value ??
      (await this.#codec.load<Checkpoint>(stored.checkpoint));
    const channels = typeof snapshot.channels === 'function' ? snapshot.channels(loaded) : snapshot.channels;
    if (channels === null) return undefined;
    return { ...loaded, channel_values: await this.#channelValues(loaded, channels) };
  }

  #channelsOf(
    stored: OrderedCheckpoint,
    { channel_values: inline, channel_versions: versions }: Checkpoint,
  ): readonly LoadedChannel[] {
    const apart = channelsApart(versions, inline);
    const values = this.#store.loadChannels(stored, apart);
    return apart.map((channel, at) => ({ ...channel, value: values[at] ?? null }));
  }

  /** At a later moment: a prune takes a checkpoint's values together with its row, so the row is looked for again. */
  #channelsLater(stored: OrderedCheckpoint, checkpoint: Checkpoint): readonly LoadedChannel[] | null {
    return transaction(this.#db, 'deferred', () =>
      this.#store.has(stored) ? this.#channelsOf(stored, checkpoint) : null,
    );
  }

  async #channelValues(
    { channel_values: inline }: Checkpoint,
    channels: readonly LoadedChannel[],
  ): Promise<Record<string, unknown>> {
    const values: Record<string, unknown> = { ...inline };
    for (const { channel, value } of channels) {
      if (value)
        values[channel] = (this.#codec.loadPlain(value) ?? { value: await this.#codec.load(value) }).value;
    }
    return values;
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

/** As LangGraph reads them. */
export function inOrder(writes: readonly WriteRecord[]): readonly WriteRecord[] {
  const keyed = writes.map((write) => ({
    write,
    key: writesSortKey(write.taskPath, write.taskId, write.idx),
  }));
  return keyed.sort((a, b) => compareWritesSortKeys(a.key, b.key)).map(({ write }) => write);
}
