import type { RunnableConfig } from '@langchain/core/runnables';
import { MemorySaver } from '@langchain/langgraph';
import {
  type BaseCheckpointSaver,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointMetadata,
  type CheckpointTuple,
  getCheckpointId,
  type PendingWrite,
} from '@langchain/langgraph-checkpoint';
import { CHECKPOINT_WINDOW } from '../../config/defaults.ts';
import { DelegatingSaver } from './DelegatingSaver.ts';
import { versionsOfValues } from './storedCheckpoint.ts';

/** Checkpoints of a run up to which all stay in memory. Source: 9_ROADMAP-RISK-401. */
export const CHECKPOINT_PRUNE_DEPTH = 15;

export interface WindowedSaverOptions {
  /** Checkpoints kept besides the first one. @defaultValue 5 */
  readonly size?: number;
  /** Checkpoints up to which nothing leaves memory. @defaultValue 15 */
  readonly pruneAbove?: number;
}

/** One checkpoint of the window. Its bytes come with the first read: nothing that is shared can be changed. */
interface CachedCheckpoint {
  readonly id: string;
  bytes: readonly [type: string, bytes: Uint8Array] | null;
}

/**
 * A read cache in front of a checkpointer: the first checkpoint a driver wrote to a thread and its newest ones, by
 * id, for looking back and rewinding [9_ROADMAP-RISK-401].
 *
 * Invariants:
 *   C1. A checkpoint is in the inner saver before it is in the window, and still known to be when it leaves.
 *   C2. The newest checkpoint is always read from the inner saver: another process may have written it.
 *   C3. In front of a `MemorySaver` nothing leaves: there is no other place where it would be.
 *
 * One instance belongs to one driver. Writes of others to a checkpoint that is already in memory are not seen here.
 */
export class WindowedSaver extends DelegatingSaver {
  readonly #size: number;
  readonly #pruneAbove: number;
  readonly #windows = new Map<string, CheckpointWindow<CachedCheckpoint>>();
  readonly #acknowledged = new Set<string>();

  /** @throws RangeError for a size below 1, or a `pruneAbove` below 0; neither may be a fraction. */
  constructor(inner: BaseCheckpointSaver, options: WindowedSaverOptions = {}) {
    super(inner);
    const { size = CHECKPOINT_WINDOW, pruneAbove = CHECKPOINT_PRUNE_DEPTH } = options;
    assertWindow(size, pruneAbove);
    this.#size = size;
    this.#pruneAbove = inner instanceof MemorySaver ? Number.POSITIVE_INFINITY : pruneAbove; // C3
  }

  /** Ids of a thread's checkpoints in memory, oldest first. */
  retained(threadId: string, checkpointNs = ''): readonly string[] {
    return this.#entries(threadId, checkpointNs).map(({ id }) => id);
  }

  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const entry = this.#entryOf(config);
    if (entry === undefined) return super.getTuple(config); // C2
    if (entry.bytes !== null) return (await this.serde.loadsTyped(...entry.bytes)) as CheckpointTuple;
    const tuple = await super.getTuple(config);
    if (tuple !== undefined) entry.bytes = await this.serde.dumpsTyped(tuple);
    return tuple;
  }

  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions = versionsOfValues(checkpoint),
  ): Promise<RunnableConfig> {
    const stored = await super.put(config, checkpoint, metadata, newVersions);
    this.#acknowledged.add(checkpoint.id);
    const isKnown = this.#entryOf(stored) !== undefined;
    if (!isKnown) this.#windowOf(stored).push({ id: checkpoint.id, bytes: null });
    return stored;
  }

  override async putWrites(
    config: RunnableConfig,
    writes: PendingWrite[],
    taskId: string,
    taskPath?: string,
  ): Promise<void> {
    const entry = this.#entryOf(config);
    try {
      await super.putWrites(config, writes, taskId, taskPath);
    } finally {
      if (entry !== undefined) entry.bytes = null;
    }
  }

  override async deleteThread(threadId: string): Promise<void> {
    await super.deleteThread(threadId);
    for (const key of this.#windows.keys()) if (isOfThread(key, threadId)) this.#forget(key);
  }

  #forget(key: string): void {
    for (const { id } of this.#windows.get(key)?.retained() ?? []) this.#acknowledged.delete(id);
    this.#windows.delete(key);
  }

  #entryOf(config: RunnableConfig): CachedCheckpoint | undefined {
    const id = getCheckpointId(config);
    const { thread_id: threadId = '', checkpoint_ns: checkpointNs = '' } = config.configurable ?? {};
    return id === '' ? undefined : this.#entries(threadId, checkpointNs).find((entry) => entry.id === id);
  }

  #entries(threadId: string, checkpointNs: string): readonly CachedCheckpoint[] {
    return this.#windows.get(windowKey(threadId, checkpointNs))?.retained() ?? [];
  }

  #windowOf({ configurable = {} }: RunnableConfig): CheckpointWindow<CachedCheckpoint> {
    const key = windowKey(String(configurable['thread_id']), String(configurable['checkpoint_ns'] ?? ''));
    const known = this.#windows.get(key);
    if (known !== undefined) return known;
    const window = new CheckpointWindow<CachedCheckpoint>(
      this.#size,
      (entry) => this.#release(entry),
      this.#pruneAbove,
    );
    this.#windows.set(key, window);
    return window;
  }

  /** C1: what the inner saver has not acknowledged does not leave. */
  #release({ id }: CachedCheckpoint): void {
    if (!this.#acknowledged.delete(id)) throw new Error(`Checkpoint ${id} is not in the checkpointer.`);
  }
}

const windowKey = (threadId: string, checkpointNs: string): string =>
  JSON.stringify([threadId, checkpointNs]);

function isOfThread(key: string, threadId: string): boolean {
  return key.startsWith(`[${JSON.stringify(threadId)},`);
}

/**
 * The checkpoints a run keeps in memory: the first, and the newest `size`.
 *
 * Invariants:
 *   W1. The first checkpoint is never evicted.
 *   W2. `persist` returns before its checkpoint leaves memory; if it throws, nothing leaves.
 *   W3. Evictions happen in push order, each checkpoint once.
 *
 * Up to `keepAll` checkpoints nothing is evicted at all: a short run stays in memory whole.
 */
export class CheckpointWindow<T> {
  readonly #size: number;
  readonly #persist: (checkpoint: T) => void;
  readonly #keepAll: number;
  readonly #recent: T[] = [];
  #first: { readonly checkpoint: T } | null = null;
  #count = 0;

  /**
   * @param size - Checkpoints kept besides the first; at least 1.
   * @param persist - Must have the checkpoint on disk when it returns.
   * @param keepAll - Checkpoints up to which nothing is evicted; `Infinity` for never.
   * @throws RangeError for any other number.
   */
  constructor(size: number, persist: (checkpoint: T) => void, keepAll = 0) {
    assertWindow(size, keepAll);
    this.#size = size;
    this.#persist = persist;
    this.#keepAll = keepAll;
  }

  /** Adds the newest checkpoint. A failed eviction is tried again with the next one. */
  push(checkpoint: T): void {
    if (this.#first === null) this.#first = { checkpoint };
    else this.#recent.push(checkpoint);
    this.#count += 1;
    if (this.#count <= this.#keepAll) return;
    while (this.#recent.length > this.#size) this.#evictOldest();
  }

  /** Oldest first. */
  retained(): readonly T[] {
    return this.#first === null ? [] : [this.#first.checkpoint, ...this.#recent];
  }

  #evictOldest(): void {
    this.#persist(this.#recent[0] as T); // W2: write, then drop
    this.#recent.shift();
  }
}

/** @throws RangeError naming the number that bounds no window. */
function assertWindow(size: number, keepAll: number): void {
  if (!Number.isInteger(size) || size < 1) {
    throw new RangeError(`Expected size to be a whole number of at least 1, got ${size}.`);
  }
  if (keepAll !== Number.POSITIVE_INFINITY && (!Number.isInteger(keepAll) || keepAll < 0)) {
    throw new RangeError(`keepAll must be a whole number of at least 0, got ${keepAll}.`);
  }
}
