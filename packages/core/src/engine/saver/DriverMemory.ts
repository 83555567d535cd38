import type { CheckpointMetadata } from '@langchain/langgraph-checkpoint';
import type { Database } from 'better-sqlite3';
import { commitsOfOthers } from '../../db/keptReads.ts';
import type { ChannelRecord } from '../../state/checkpoints/checkpointRecords.ts';
import type { CheckpointSnapshot } from './CheckpointReader.ts';
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

  constructor(db: Database) {
    this.#db = db;
  }

  /** `undefined` where it is to be read. */
  latest(): CheckpointSnapshot | null | undefined {
    const latest = this.#latest;
    return latest !== null && latest.others === commitsOfOthers(this.#db) ? latest.snapshot : undefined;
  }

  /** Whether it holds the input of a turn, and its tasks have not run. */
  isInput(checkpointId: string): boolean {
    return this.#putLast?.source === 'input' && this.#putLast.id === checkpointId;
  }

  /** It was read from the file. */
  loaded(snapshot: CheckpointSnapshot | null): void {
    this.#channels.clear();
    if (snapshot !== null && typeof snapshot.channels !== 'function')
      for (const channel of snapshot.channels) this.#channels.set(channel.channel, channel);
    this.#keep(snapshot);
  }

  /** It is about to be put. */
  putting(id: string, { source }: CheckpointMetadata): void {
    this.#latest = null;
    this.#putLast = { id, source };
  }

  /** It was put, and may be committed later. */
  put({ stored, apart, channels: fresh }: StagedRows): void {
    for (const channel of fresh) this.#channels.set(channel.channel, channel);
    const channels = apart.flatMap(({ channel, version }) => {
      const known = this.#channels.get(channel);
      return known?.version === version ? [known] : [];
    });
    const isLatest = this.#putLast?.id === stored.checkpointId;
    if (isLatest && channels.length === apart.length)
      this.#keep({ stored, writes: [], parentWrites: [], channels });
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

function bytesOf({ stored, channels, writes }: CheckpointSnapshot): number {
  if (typeof channels === 'function') return Number.POSITIVE_INFINITY;
  const values = [
    ...channels.map(({ value }) => value),
    ...writes.map(({ value }) => value),
    stored.checkpoint,
  ];
  return values.reduce((sum, value) => sum + (value?.bytes.byteLength ?? 0), 0);
}
