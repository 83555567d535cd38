import { setImmediate as loopTurn } from 'node:timers/promises';
import type { Checkpoint } from '@langchain/langgraph-checkpoint';
import type { Database } from 'better-sqlite3';
import { DevsError } from '../../errors/DevsError.ts';
import { addSwept, BlobSweeper, NOTHING_SWEPT, type Swept } from '../../state/blobs/BlobSweeper.ts';
import {
  CheckpointPruner,
  type KeptCheckpoint,
  type PrunePlan,
  type PruneResult,
} from '../../state/checkpoints/CheckpointPruner.ts';
import type { OrderedCheckpoint } from '../../state/checkpoints/checkpointRecords.ts';
import type { GraphCheckpointStore } from '../../state/checkpoints/GraphCheckpointStore.ts';
import { leaseFence, NO_FENCE } from '../../state/commits/Fence.ts';
import type { CheckpointReader } from './CheckpointReader.ts';
import { VERSIONED_FORMAT } from './checkpointConfig.ts';
import { type CheckpointSummary, type PrunePolicy, retainedCheckpoints } from './retainedCheckpoints.ts';
import type { ValueCodec } from './ValueCodec.ts';

/** A checkpoint with what retention and the plan need to know of it. */
interface Candidate extends CheckpointSummary {
  readonly kept: KeptCheckpoint;
}

/** Each attempt meets the checkpoints a running driver has added meanwhile. */
const ATTEMPTS = 5;

/** What LangGraph leaves in the metadata of checkpoints with delta channels. */
const DELTA_MARKS = ['delta_writes_versioned', 'counters_since_delta_snapshot'] as const;

/** Thins out the history of one thread. */
export class ThreadPruner {
  readonly #db: Database;
  readonly #pruner: CheckpointPruner;
  readonly #sweeper: BlobSweeper;
  readonly #reader: CheckpointReader;
  readonly #codec: ValueCodec;

  constructor(db: Database, store: GraphCheckpointStore, reader: CheckpointReader, codec: ValueCodec) {
    this.#db = db;
    this.#pruner = new CheckpointPruner(db, store);
    this.#sweeper = new BlobSweeper(db);
    this.#reader = reader;
    this.#codec = codec;
  }

  async prune(threadId: string, policy: PrunePolicy): Promise<PruneResult> {
    assertPolicy(policy);
    const fence = policy.lease === undefined ? NO_FENCE : leaseFence(this.#db, policy.lease);
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const plan = await this.#planFor(threadId, policy);
      const result = this.#pruner.prune(plan, fence);
      if (result !== null) return { ...result, swept: await this.#sweep() };
    }
    throw busy(threadId);
  }

  /** Others write between two rounds, and this process keeps its leases. */
  async #sweep(): Promise<Swept> {
    let swept = NOTHING_SWEPT;
    for (const round of this.#sweeper.rounds()) {
      swept = addSwept(swept, round);
      await loopTurn();
    }
    return swept;
  }

  async #planFor(threadId: string, policy: PrunePolicy): Promise<PrunePlan> {
    const state = this.#pruner.stateOf(threadId);
    const waiting = new Set(
      this.#pruner
        .waiting(threadId)
        .map(({ checkpointNs, checkpointId }) => `${checkpointNs}\n${checkpointId}`),
    );
    const all: Candidate[] = [];
    const everything = { threadId, checkpointNs: null, checkpointId: null, beforeSeq: null, beforeId: null };
    for (const stored of this.#reader.rows(everything)) {
      all.push(
        await this.#candidateOf(stored, waiting.has(`${stored.checkpointNs}\n${stored.checkpointId}`)),
      );
    }
    assertPinned(policy, all);
    const retained = retainedCheckpoints(all, policy);
    return { threadId, state, keep: all.filter((it) => retained.has(it)).map(({ kept }) => kept) };
  }

  async #candidateOf(stored: OrderedCheckpoint, waiting: boolean): Promise<Candidate> {
    const { seq, threadId, checkpointNs, checkpointId, parentId } = stored;
    const { v, channel_versions: versions } = await this.#codec.load<Checkpoint>(stored.checkpoint);
    const metadata = await this.#reader.metadataOf(stored);
    const channels = Object.entries(versions).map(([channel, version]) => ({
      channel,
      version: String(version),
    }));
    return {
      ...{ seq, checkpointNs, checkpointId, parentId, waiting },
      rootId: metadata.parents?.[''] ?? null,
      delta: DELTA_MARKS.some((mark) => mark in metadata),
      readsParent: v < VERSIONED_FORMAT,
      kept: { threadId, checkpointNs, checkpointId, channels },
    };
  }
}

function assertPolicy({ keepLast }: PrunePolicy): void {
  if (!Number.isSafeInteger(keepLast) || keepLast < 1) {
    throw new RangeError(`keepLast: ${String(keepLast)} is not a whole number of at least 1`);
  }
}

/** To go on without a pinned checkpoint would delete what the caller relies on under another name. */
function assertPinned({ pinned = [] }: PrunePolicy, all: readonly CheckpointSummary[]): void {
  const missing = pinned.find((id) => all.every(({ checkpointId }) => checkpointId !== id));
  if (missing === undefined) return;
  throw new DevsError(`The pinned checkpoint ${missing} is not in the thread. Nothing was deleted.`, {
    code: 'CHECKPOINT_NOT_FOUND',
    remedy: 'Pin checkpoints from the history of the thread.',
    context: { checkpointId: missing },
  });
}

function busy(threadId: string): DevsError {
  return new DevsError(`Thread "${threadId}" kept changing. Nothing was deleted.`, {
    code: 'THREAD_BUSY',
    remedy: 'Prune it while no process executes it.',
    context: { threadId },
  });
}
