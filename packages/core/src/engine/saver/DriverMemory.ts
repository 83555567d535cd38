import type { CheckpointMetadata, CheckpointTuple } from '@langchain/langgraph-checkpoint';
import type { Database } from 'better-sqlite3';
import { commitsOfOthers } from '../../db/keptReads.ts';
import { equalBytes } from '../../state/blobs/BlobStore.ts';
import type { ChannelRecord, WriteRecord } from '../../state/checkpoints/checkpointRecords.ts';
import { type CheckpointSnapshot, inOrder } from './CheckpointReader.ts';
import type { StagedRows } from './SqliteSaver.ts';

/** Bytes of a checkpoint with its values; a larger one is read from the file. */
const KEPT_BYTES = 8 * 1024 * 1024;

interface Latest {
  /** `null` for a run without one. */
  readonly snapshot: CheckpointSnapshot | null;
  /** By then. */
  readonly others: number;
}

/**
 * The latest checkpoint of a run's own graph, as its driver knows it, committed or not: only the driver writes it under the lease.
 * Read from the file where somebody else has written that.
 */
export class DriverMemory {
  readonly #db: Database;
  /** By their names, as they were put or read last. */
  readonly #channels = new Map<string, ChannelRecord>();
  #latest: Latest | null = null;
  /** The checkpoint that was put last, unless tasks have run on it. */
  #putLast: { readonly id: string; readonly source: CheckpointMetadata['source'] } | null = null;
  #moves = 0;
  #uncommitted = 0;
  #shared: SharedTuple | null = null;

  constructor(db: Database) {
    this.#db = db;
  }

  /** `undefined` where it is to be read. */
  latest(): CheckpointSnapshot | null | undefined {
    const latest = this.#latest;
    return latest !== null && latest.others === commitsOfOthers(this.#db) ? latest.snapshot : undefined;
  }

  /** Begins with the latest checkpoint of the driver before. */
  takeOver({ snapshot, shared, others }: LeftCheckpoint): void {
    this.#noteChannels(snapshot);
    this.#latest = { snapshot, others };
    this.#shared = shared;
  }

  /** For the next driver; `null` while it is unknown, waits for a commit, or is larger. */
  left(mostBytes: number): LeftCheckpoint | null {
    const { snapshot, others = 0 } = this.#latest ?? {};
    if (snapshot == null || this.hasUncommitted || bytesOf(snapshot) > mostBytes) return null;
    return { snapshot, others, shared: this.#shared };
  }

  /** Grows with each checkpoint, and with each write of a task that was not there. */
  get moves(): number {
    return this.#moves;
  }

  /** Whether the file lacks a write of the driver that waits for the next commit. */
  get hasUncommitted(): boolean {
    return this.#uncommitted > 0;
  }

  /** One for all readers, which must not change it. */
  tupleOf(snapshot: CheckpointSnapshot, load: (snapshot: CheckpointSnapshot) => Tuple): Tuple {
    if (this.#shared?.of !== snapshot) this.#shared = { of: snapshot, tuple: load(snapshot) };
    return this.#shared.tuple;
  }

  /** Whether it holds the input of a turn, and its tasks have not run. */
  isInput(checkpointId: string): boolean {
    return this.#putLast?.source === 'input' && this.#putLast.id === checkpointId;
  }

  /** It was read from the file. */
  loaded(snapshot: CheckpointSnapshot | null): void {
    this.#noteChannels(snapshot);
    this.#keep(snapshot);
  }

  #noteChannels(snapshot: CheckpointSnapshot | null): void {
    this.#channels.clear();
    if (snapshot !== null && typeof snapshot.channels !== 'function')
      for (const channel of snapshot.channels) this.#channels.set(channel.channel, channel);
  }

  /** It is about to be put. */
  putting(id: string, { source }: CheckpointMetadata): void {
    this.#latest = null;
    this.#putLast = { id, source };
  }

  /** It was put, and is committed later. */
  put({ stored, apart, channels: fresh }: StagedRows): void {
    this.#uncommitted += 1;
    for (const channel of fresh) this.#channels.set(channel.channel, channel);
    const channels = apart.flatMap(({ channel, version }) => {
      const known = this.#channels.get(channel);
      return known?.version === version ? [known] : [];
    });
    this.#moves += 1;
    const isLatest = this.#putLast?.id === stored.checkpointId;
    if (isLatest && channels.length === apart.length)
      this.#keep({ stored, writes: [], parentWrites: [], channels });
  }

  /** Tasks begin to write on top of the latest one. */
  writing(): void {
    this.#putLast = null;
  }

  /** They have, and it is committed later. */
  wrote(checkpointId: string, records: readonly WriteRecord[]): void {
    this.#uncommitted += 1;
    const latest = this.#latest;
    const snapshot = latest?.snapshot;
    if (latest == null || snapshot?.stored.checkpointId !== checkpointId) {
      this.#latest = null;
      return;
    }
    const writes = new Map(snapshot.writes.map((write) => [placeOf(write), write]));
    for (const record of records) {
      const known = writes.get(placeOf(record));
      if (known !== undefined && (record.idx >= 0 || isSameWrite(known, record))) continue;
      writes.set(placeOf(record), record);
      this.#moves += 1;
    }
    const known = { ...snapshot, writes: inOrder([...writes.values()]) };
    this.#latest = bytesOf(known) <= KEPT_BYTES ? { snapshot: known, others: latest.others } : null;
  }

  /** What was put or written is in the file: once for each. */
  committed(): void {
    this.#uncommitted -= 1;
  }

  /** Something is written that is not known here. */
  forget(): void {
    this.#latest = null;
    this.#putLast = null;
  }

  #keep(snapshot: CheckpointSnapshot | null): void {
    const isKept = snapshot === null || bytesOf(snapshot) <= KEPT_BYTES;
    this.#latest = isKept ? { snapshot, others: commitsOfOthers(this.#db) } : null;
    if (!isKept) this.#channels.clear();
  }
}

/** The latest checkpoint as a driver leaves its run. */
export interface LeftCheckpoint {
  readonly snapshot: CheckpointSnapshot;
  readonly shared: SharedTuple | null;
  /** Commits of others by then. */
  readonly others: number;
}

type Tuple = Promise<CheckpointTuple | undefined>;

interface SharedTuple {
  readonly of: CheckpointSnapshot;
  readonly tuple: Tuple;
}

/** A task has one write at each index. */
const placeOf = ({ taskId, idx }: WriteRecord): string => `${idx} ${taskId}`;

const isSameWrite = (one: WriteRecord, other: WriteRecord): boolean =>
  one.channel === other.channel &&
  one.taskPath === other.taskPath &&
  one.value.type === other.value.type &&
  equalBytes(one.value.bytes, other.value.bytes);

function bytesOf({ stored, channels, writes }: CheckpointSnapshot): number {
  if (typeof channels === 'function') return Number.POSITIVE_INFINITY;
  const values = [
    ...channels.map(({ value }) => value),
    ...writes.map(({ value }) => value),
    stored.checkpoint,
  ];
  return values.reduce((sum, value) => sum + (value?.bytes.byteLength ?? 0), 0);
}
