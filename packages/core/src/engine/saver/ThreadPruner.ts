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
import { type FencedLease, leaseFence, NO_FENCE } from '../../state/commits/immediateTransaction.ts';
import type { CheckpointReader } from './CheckpointReader.ts';
import { VERSIONED_FORMAT } from './checkpointConfig.ts';
import type { ValueCodec } from './ValueCodec.ts';

/** Which checkpoints of a thread a prune keeps, beside those that others need, and on whose behalf it deletes. */
export interface PrunePolicy extends Retention {
  /**
   * The lease of the driver that prunes: refused with `LEASE_LOST` in its own transaction once a newer driver exists.
   * Without one nothing is fenced, and nobody may drive the thread meanwhile: a driver that goes on from an old
   * checkpoint would find it gone.
   */
  readonly lease?: FencedLease;
}

/** The checkpoints to keep. */
export interface Retention {
  /** The newest ones of the thread, at least 1. */
  readonly keepLast: number;
  /** Ids of checkpoints that stay whatever their age, such as the ends of tasks a rewind may go back to. */
  readonly pinned?: readonly string[];
}

/** A checkpoint with what retention and the plan need to know of it. */
interface Candidate extends CheckpointSummary {
  readonly kept: KeptCheckpoint;
}

/** Each attempt meets the checkpoints a running driver has added meanwhile. */
const PRUNE_ATTEMPTS = 5;

/** LangGraph's marks in the metadata of checkpoints with delta channels. */
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
    for (let attempt = 0; attempt < PRUNE_ATTEMPTS; attempt += 1) {
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

/** A checkpoint as retention sees it. */
export interface CheckpointSummary {
  /** Position in the order of insertion. */
  readonly seq: number;
  readonly checkpointNs: string;
  readonly checkpointId: string;
  readonly parentId: string | null;
  /** The root's checkpoint at which this one of a subgraph was made; `null` for the root's own. */
  readonly rootId: string | null;
  /** A question waits at it, or a session names it. */
  readonly waiting: boolean;
  /** Made of what its ancestors wrote. */
  readonly delta: boolean;
  /** Reads the sends of its step from its parent. */
  readonly readsParent: boolean;
}

/**
 * The checkpoints to keep: the first, the last ones, the pinned ones, those at which something waits, those from which
 * branches part, and what these are made of. A subgraph's checkpoints stay with the root's checkpoint they were made at.
 * Where it cannot be told what is needed, all stay: with delta channels, and in subgraphs that keep a state of their own.
 */
export function retainedCheckpoints(
  all: readonly CheckpointSummary[],
  { keepLast, pinned = [] }: Retention,
): ReadonlySet<CheckpointSummary> {
  const root = all.filter(({ checkpointNs }) => checkpointNs === '');
  const keep = new Set(retainedOfRoot(root, keepLast, new Set(pinned)));
  const keptIds = new Set([...keep].map(({ checkpointId }) => checkpointId));
  const withDelta = new Set(all.filter(({ delta }) => delta).map(({ checkpointNs }) => checkpointNs));
  for (const it of all) {
    const { checkpointNs, checkpointId, rootId, waiting } = it;
    const undecidable = isStateful(checkpointNs) || withDelta.has(checkpointNs);
    const belongs = checkpointNs !== '' && (rootId === null || keptIds.has(rootId));
    if (undecidable || belongs || waiting || pinned.includes(checkpointId)) keep.add(it);
  }
  return keep;
}

function retainedOfRoot(
  checkpoints: readonly CheckpointSummary[],
  keepLast: number,
  pinned: ReadonlySet<string>,
): readonly CheckpointSummary[] {
  const ordered = checkpoints.toSorted((a, b) => a.seq - b.seq);
  const branches = parentsOfSeveral(ordered);
  const kept = ordered.filter(
    ({ checkpointId, waiting }, index) =>
      index === 0 ||
      index >= ordered.length - keepLast ||
      waiting ||
      pinned.has(checkpointId) ||
      branches.has(checkpointId),
  );
  const parents = new Set(kept.flatMap(({ readsParent, parentId }) => (readsParent ? [parentId] : [])));
  return [...kept, ...ordered.filter(({ checkpointId }) => parents.has(checkpointId))];
}

function parentsOfSeveral(checkpoints: readonly CheckpointSummary[]): ReadonlySet<string | null> {
  const seen = new Set<string | null>();
  return new Set(
    checkpoints.flatMap(({ parentId }) => {
      if (seen.has(parentId)) return [parentId];
      seen.add(parentId);
      return [];
    }),
  );
}

/** A namespace without the id of a task is used again by every run of the subgraph. */
function isStateful(checkpointNs: string): boolean {
  const last = checkpointNs.slice(checkpointNs.lastIndexOf('|') + 1);
  return checkpointNs !== '' && !last.includes(':');
}
