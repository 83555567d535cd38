import type { RunnableConfig } from '@langchain/core/runnables';
import type {
  ChannelVersions,
  Checkpoint,
  CheckpointMetadata,
  PendingWrite,
} from '@langchain/langgraph-checkpoint';
import type { Database } from 'better-sqlite3';
import type { FencedLease } from '../../state/Fence.ts';
import { leaseOf, requiredId } from './checkpointConfig.ts';
import { SqliteSaver, type SqliteSaverOptions } from './SqliteSaver.ts';

/** Knows who drives a run. */
export interface DriverRegister {
  /** @throws DevsError `LEASE_LOST` without a lease on a thread that is a run. */
  assertDriven(caller: {
    readonly threadId: string;
    readonly frame: string;
    readonly epoch: FencedLease['epoch'] | null;
    readonly lease: unknown;
  }): void;
}

/**
 * The checkpointer of an app: a run is written by its driver alone. A raw `updateState`, `Command` or second input
 * would pass the run's gates.
 */
export class DrivenSaver extends SqliteSaver {
  readonly #store: DriverRegister;

  constructor(db: Database, store: DriverRegister, options: SqliteSaverOptions = {}) {
    super(db, options);
    this.#store = store;
  }

  /** @throws DevsError `LEASE_LOST` for a run that the call has no lease on; else as {@link SqliteSaver.put}. */
  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    this.#assertDriven(config);
    return await super.put(config, checkpoint, metadata, newVersions);
  }

  /** @throws DevsError as {@link put}. */
  override async putWrites(
    config: RunnableConfig,
    writes: PendingWrite[],
    taskId: string,
    taskPath?: string,
  ): Promise<void> {
    this.#assertDriven(config);
    await super.putWrites(config, writes, taskId, taskPath);
  }

  #assertDriven(config: RunnableConfig): void {
    const frame = requiredId(config, 'thread_id');
    const { threadId, epoch } = leaseOf(config) ?? { threadId: frame, epoch: null };
    this.#store.assertDriven({ threadId, frame, epoch, lease: config.configurable?.['lease'] });
  }
}
