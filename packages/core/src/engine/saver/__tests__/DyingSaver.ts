import type { RunnableConfig } from '@langchain/core/runnables';
import type {
  ChannelVersions,
  Checkpoint,
  CheckpointMetadata,
  CheckpointTuple,
  PendingWrite,
} from '@langchain/langgraph-checkpoint';
import type { Database } from 'better-sqlite3';
import { SqliteSaver } from '../SqliteSaver.ts';

/** Which operation of the saver is the last thing its process does, counted from 1, and on which side of it. */
export interface Death {
  readonly operation: number;
  readonly side: 'before' | 'after';
}

/**
 * A saver whose process dies: the connection is closed, so nothing that comes later in the same process reaches the
 * state file, as after `kill -9`.
 */
export class DyingSaver extends SqliteSaver {
  readonly #db: Database;
  readonly #death: Death | null;
  #operations = 0;

  constructor(db: Database, death: Death | null = null) {
    super(db);
    this.#db = db;
    this.#death = death;
  }

  get operations(): number {
    return this.#operations;
  }

  override getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    return this.#during(() => super.getTuple(config));
  }

  override put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    return this.#during(() => super.put(config, checkpoint, metadata, newVersions));
  }

  override putWrites(
    config: RunnableConfig,
    writes: PendingWrite[],
    taskId: string,
    taskPath?: string,
  ): Promise<void> {
    return this.#during(() => super.putWrites(config, writes, taskId, taskPath));
  }

  async #during<T>(work: () => Promise<T>): Promise<T> {
    this.#operations += 1;
    const isLast = this.#operations === this.#death?.operation;
    if (isLast && this.#death?.side === 'before') this.#die();
    const result = await work();
    if (isLast) this.#die();
    return result;
  }

  #die(): never {
    this.#db.close();
    throw new Error('The process is gone.');
  }
}
