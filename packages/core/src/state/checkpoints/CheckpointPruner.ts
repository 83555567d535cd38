import { createHash } from 'node:crypto';
import type { Database, Statement } from 'better-sqlite3';
import { prepare } from '../../db/prepare.ts';
import { DevsError } from '../../errors/DevsError.ts';
import type { Swept } from '../blobs/BlobSweeper.ts';
import { type Fence, immediateTransaction } from '../commits/immediateTransaction.ts';
import { TranscriptStore } from '../steps/TranscriptStore.ts';
import type { ChannelKey, CheckpointKey, NamespaceKey, OrderedCheckpoint } from './checkpointRecords.ts';
import type { GraphCheckpointStore } from './GraphCheckpointStore.ts';

/** A checkpoint to keep, and the channel versions it is made of. */
export interface KeptCheckpoint extends CheckpointKey {
  readonly channels: readonly ChannelKey[];
}

export interface PrunePlan {
  readonly threadId: string;
  /** What {@link CheckpointPruner.stateOf} said when the plan was made. */
  readonly state: string;
  readonly keep: readonly KeptCheckpoint[];
}

export interface PrunedRows {
  /** Checkpoints that are still there, in all namespaces. */
  readonly kept: number;
  readonly removed: number;
  /** Pieces of transcripts of earlier attempts at a step. */
  readonly transcripts: number;
}

/** And what became of the values that only they needed. */
export interface PruneResult extends PrunedRows {
  readonly swept: Swept;
}

interface CheckpointRef {
  readonly checkpointNs: string;
  readonly checkpointId: string;
}

const SELECT_STATE = 'SELECT seq, sha256 FROM checkpoints WHERE thread_id = ? ORDER BY seq';

const SELECT_CHECKPOINTS = `
  SELECT checkpoint_ns AS checkpointNs, checkpoint_id AS checkpointId FROM checkpoints WHERE thread_id = ?`;

const SELECT_CHANNELS = `
  SELECT checkpoint_ns AS checkpointNs, channel, version FROM checkpoint_blobs WHERE thread_id = ?`;

// LangGraph's own channels say what happened to a task; any other is its output, and then its question was answered.
const SELECT_OPEN = `
  SELECT DISTINCT checkpoint_ns AS checkpointNs, checkpoint_id AS checkpointId FROM checkpoint_writes AS asked
  WHERE thread_id = @threadId AND channel = '__interrupt__' AND NOT EXISTS (
    SELECT 1 FROM checkpoint_writes AS written
    WHERE written.thread_id = asked.thread_id AND written.checkpoint_ns = asked.checkpoint_ns
      AND written.checkpoint_id = asked.checkpoint_id AND written.task_id = asked.task_id
      AND written.channel NOT IN ('__error__', '__error_source_node__', '__interrupt__', '__resume__'))
  UNION
  SELECT '', checkpoint_id FROM hitl_sessions WHERE thread_id = @threadId AND checkpoint_id IS NOT NULL
  UNION
  SELECT '', end_checkpoint_id FROM child_runs WHERE child_id = @threadId AND end_checkpoint_id IS NOT NULL
  UNION
  SELECT '', end_checkpoint_id FROM (
    SELECT end_checkpoint_id FROM thread_inputs WHERE thread_id = @threadId ORDER BY turn DESC LIMIT 1)
  WHERE end_checkpoint_id IS NOT NULL`;

const OF_CHECKPOINT = `
  WHERE thread_id = @threadId AND checkpoint_ns = @checkpointNs AND checkpoint_id = @checkpointId`;
const DELETE_CHECKPOINT = `DELETE FROM checkpoints ${OF_CHECKPOINT}`;
const DELETE_WRITES = `DELETE FROM checkpoint_writes ${OF_CHECKPOINT}`;
const DELETE_CHANNEL = `
  DELETE FROM checkpoint_blobs
  WHERE thread_id = @threadId AND checkpoint_ns = @checkpointNs AND channel = @channel AND version = @version`;

/**
 * Deletes checkpoints of a thread with their writes and channel versions, and transcripts of earlier attempts at its
 * steps, in one transaction, and proves it: every
 * checkpoint that stays is read before and after, and where a byte differs nothing is deleted. The values that only they
 * needed are left to a sweep, which takes nothing that a row refers to.
 */
export class CheckpointPruner {
  readonly #db: Database;
  readonly #store: GraphCheckpointStore;
  readonly #transcripts: TranscriptStore;
  readonly #selectState: Statement<[string], { readonly seq: number; readonly sha256: Uint8Array }>;
  readonly #selectOpen: Statement<[{ readonly threadId: string }], CheckpointRef>;
  readonly #selectCheckpoints: Statement<[string], CheckpointRef>;
  readonly #selectChannels: Statement<[string], ChannelKey & { readonly checkpointNs: string }>;
  readonly #deleteCheckpoint: Statement<[CheckpointKey]>;
  readonly #deleteWrites: Statement<[CheckpointKey]>;
  readonly #deleteChannel: Statement<[NamespaceKey & ChannelKey]>;

  /** @param db - An open, migrated state file. */
  constructor(db: Database, store: GraphCheckpointStore) {
    this.#db = db;
    this.#store = store;
    this.#transcripts = new TranscriptStore(db);
    this.#selectState = prepare(db, SELECT_STATE);
    this.#selectOpen = prepare(db, SELECT_OPEN);
    this.#selectCheckpoints = prepare(db, SELECT_CHECKPOINTS);
    this.#selectChannels = prepare(db, SELECT_CHANNELS);
    this.#deleteCheckpoint = prepare(db, DELETE_CHECKPOINT);
    this.#deleteWrites = prepare(db, DELETE_WRITES);
    this.#deleteChannel = prepare(db, DELETE_CHANNEL);
  }

  /** Names which checkpoints a thread has now; another text as soon as one is added or changed. */
  stateOf(threadId: string): string {
    const hash = createHash('sha256');
    for (const { seq, sha256 } of this.#selectState.all(threadId)) hash.update(`${seq}`).update(sha256);
    return hash.digest('hex');
  }

  /**
   * Checkpoints at which a question waits for its answer, those that sessions name as their state, and those that say with
   * what values a child, or the last turn, has ended: a parent is given them in every execution.
   */
  waiting(threadId: string): readonly CheckpointRef[] {
    return this.#selectOpen.all({ threadId });
  }

  /**
   * @returns `null` if the thread has changed since the plan was made; then nothing was deleted.
   * @throws DevsError `STATE_CORRUPT` if a checkpoint to keep is damaged, or would be, or what the fence throws; then
   *   nothing was deleted.
   */
  prune(plan: PrunePlan, fence: Fence): PrunedRows | null {
    return immediateTransaction(this.#db, () => {
      fence.assertInTx();
      return this.#pruneInTx(plan);
    });
  }

  #pruneInTx(plan: PrunePlan): PrunedRows | null {
    const { threadId, keep } = plan;
    if (this.stateOf(threadId) !== plan.state) return null;
    const before = this.#digest(keep);
    const removed = this.#deleteCheckpoints(plan);
    this.#deleteChannels(plan);
    const transcripts = this.#transcripts.dropOlderAttempts(threadId);
    if (this.#digest(keep) !== before) throw wouldDamage(threadId);
    return { kept: keep.length, removed, transcripts };
  }

  #deleteCheckpoints({ threadId, keep }: PrunePlan): number {
    const kept = new Set(keep.map(checkpointKey));
    const removed = this.#selectCheckpoints.all(threadId).filter((ref) => !kept.has(checkpointKey(ref)));
    for (const { checkpointNs, checkpointId } of removed) {
      this.#deleteWrites.run({ threadId, checkpointNs, checkpointId });
      this.#deleteCheckpoint.run({ threadId, checkpointNs, checkpointId });
    }
    return removed.length;
  }

  #deleteChannels({ threadId, keep }: PrunePlan): void {
    const needed = new Set(
      keep.flatMap(({ checkpointNs, channels }) => channels.map((it) => channelKey(checkpointNs, it))),
    );
    for (const { checkpointNs, channel, version } of this.#selectChannels.all(threadId)) {
      if (needed.has(channelKey(checkpointNs, { channel, version }))) continue;
      this.#deleteChannel.run({ threadId, checkpointNs, channel, version });
    }
  }

  /** Everything that belongs to the checkpoints, as read from the file. */
  #digest(checkpoints: readonly KeptCheckpoint[]): string {
    const hash = createHash('sha256');
    const done = new Set<string>();
    for (const checkpoint of checkpoints) {
      const stored = this.#store.load(checkpoint);
      hash.update(checkpointFingerprint(stored));
      for (const { value, ...write } of this.#store.loadWrites(checkpoint)) {
        hash.update(JSON.stringify(write)).update(value.type).update(value.bytes);
      }
      for (const channel of checkpoint.channels) {
        const key = channelKey(checkpoint.checkpointNs, channel);
        if (done.has(key)) continue;
        done.add(key);
        const value = this.#store.loadChannel(checkpoint, channel);
        hash
          .update(key)
          .update(value?.type ?? String(value))
          .update(value?.bytes ?? '');
      }
    }
    return hash.digest('hex');
  }
}

function checkpointFingerprint(stored: OrderedCheckpoint | null): string {
  if (stored === null) return 'missing';
  const { checkpoint, metadata, ...row } = stored;
  const bytes = [checkpoint, metadata].map(({ type, bytes }) => [
    type,
    Buffer.from(bytes).toString('base64'),
  ]);
  return JSON.stringify([row, bytes]);
}

function checkpointKey({ checkpointNs, checkpointId }: CheckpointRef): string {
  return JSON.stringify([checkpointNs, checkpointId]);
}

function channelKey(checkpointNs: string, { channel, version }: ChannelKey): string {
  return JSON.stringify([checkpointNs, channel, version]);
}

function wouldDamage(threadId: string): DevsError {
  return new DevsError(
    `Pruning thread "${threadId}" would change a checkpoint to keep. Nothing was deleted.`,
    {
      code: 'STATE_CORRUPT',
      remedy: 'Report this with a copy of the state file. The file was not changed.',
      context: { threadId },
    },
  );
}
