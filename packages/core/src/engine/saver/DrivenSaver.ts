import type { RunnableConfig } from '@langchain/core/runnables';
import type {
  ChannelVersions,
  Checkpoint,
  CheckpointMetadata,
  CheckpointTuple,
  PendingWrite,
} from '@langchain/langgraph-checkpoint';
import type { Database } from 'better-sqlite3';
import type { NamespaceKey } from '../../state/checkpointRecords.ts';
import type { FencedLease } from '../../state/Fence.ts';
import type { UnfinishedInside } from '../../state/StepStore.ts';
import { dueStop } from '../stops/dueStop.ts';
import { type InnerBreakpoints, pathOf } from '../stops/innerBreakpoints.ts';
import { stopId } from '../stops/Stop.ts';
import { withoutUnseen, withUnseen } from '../stops/unseen.ts';
import { leaseOf, namespaceOf, optionalId, requiredId } from './checkpointConfig.ts';
import { SqliteSaver, type SqliteSaverOptions } from './SqliteSaver.ts';

/** Knows who drives a run, and what was answered. */
export interface DriverRegister {
  /** @throws DevsError `LEASE_LOST` without a lease on a thread that is a run. */
  assertDriven(caller: { readonly threadId: string; readonly epoch: FencedLease['epoch'] | null }): void;
  readonly sessions: {
    findByInterrupt(threadId: string, interruptId: string): { readonly decision: unknown } | null;
  };
  readonly checkpoints: {
    namespacesWithin(key: NamespaceKey): readonly { readonly checkpointNs: string; readonly seq: number }[];
    findSeq(checkpointId: string, threadId: string): number | null;
  };
  readonly steps: { hasUnfinishedInside(where: UnfinishedInside): boolean };
}

export interface DrivenSaverOptions extends SqliteSaverOptions {
  /** Where the graphs inside nodes were compiled to stop. @defaultValue nowhere that is known */
  readonly breakpoints?: InnerBreakpoints;
}

/**
 * The checkpointer of an app: a run is written by its driver alone. A raw `updateState`, `Command` or second input
 * would pass the run's gates. A graph inside a node that is resumed stops again where nobody has answered its stop.
 */
export class DrivenSaver extends SqliteSaver {
  readonly #store: DriverRegister;
  readonly #breakpoints: InnerBreakpoints;

  constructor(db: Database, store: DriverRegister, options: DrivenSaverOptions = {}) {
    super(db, options);
    this.#store = store;
    this.#breakpoints = options.breakpoints ?? new Map();
  }

  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const tuple = await super.getTuple(config);
    return tuple === undefined || !isResumedInside(config) ? tuple : await this.#atStop(tuple, config);
  }

  /** @throws DevsError `LEASE_LOST` for a run that the call has no lease on; else as {@link SqliteSaver.put}. */
  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    this.#assertDriven(config);
    const channel_versions = withoutUnseen(checkpoint.channel_versions);
    return await super.put(config, { ...checkpoint, channel_versions }, metadata, withoutUnseen(newVersions));
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

  async #atStop(tuple: CheckpointTuple, config: RunnableConfig): Promise<CheckpointTuple> {
    const { checkpoint, metadata, pendingWrites = [], parentConfig } = tuple;
    const thread = requiredId(config, 'thread_id');
    const checkpointNs = namespaceOf(config) ?? '';
    const runId = leaseOf(config)?.threadId ?? thread;
    const session = this.#store.sessions.findByInterrupt(
      runId,
      stopId({ thread, checkpointNs, step: metadata?.step ?? 0 }),
    );
    if (pendingWrites.length > 0 || (session !== null && session.decision !== null)) return tuple;
    const parent = parentConfig && (await super.getTuple(parentConfig));
    if (parent === undefined || metadata?.source !== 'loop') return withUnseen(tuple);
    if (session !== null) return parent;
    const known = this.#breakpoints.get(pathOf(checkpointNs).join('|'));
    const mayStand =
      known === undefined
        ? !isHandled(parent) && !this.#hasUnfinished(runId, { threadId: thread, checkpointNs })
        : dueStop(known, { tuple, parent })?.when === 'after';
    const hasBegun = this.#hasBegun({ threadId: thread, checkpointNs }, checkpoint.id);
    return mayStand && !hasBegun ? parent : withUnseen(tuple);
  }

  /** Steps in flight. Ending the super-step before them anew would give their tasks other ids. */
  #hasUnfinished(threadId: string, { threadId: frame, checkpointNs }: NamespaceKey): boolean {
    const visitId = /^[^|:]*:([^|]*)/.exec(checkpointNs)?.[1];
    return (
      visitId === undefined ||
      this.#store.steps.hasUnfinishedInside({ threadId, visitId, frame, checkpointNs })
    );
  }

  /** Whether a graph inside a task that starts from this checkpoint has. */
  #hasBegun(key: NamespaceKey, checkpointId: string): boolean {
    const seq = this.#store.checkpoints.findSeq(checkpointId, key.threadId) ?? 0;
    return this.#store.checkpoints.namespacesWithin(key).some((inside) => inside.seq > seq);
  }

  #assertDriven(config: RunnableConfig): void {
    const epoch = leaseOf(config)?.epoch ?? null;
    this.#store.assertDriven({ threadId: requiredId(config, 'thread_id'), epoch });
  }
}

/** Whether an error was handled in the super-step after a checkpoint: its handler would run a second time. */
const isHandled = ({ pendingWrites = [] }: CheckpointTuple): boolean =>
  pendingWrites.some(([, channel]) => channel === '__error__');

/** A graph inside a node that goes on from its latest checkpoint. */
function isResumedInside(config: RunnableConfig): boolean {
  const isInside = (namespaceOf(config) ?? '') !== '' && optionalId(config, 'checkpoint_id') === null;
  return isInside && config.configurable?.['__pregel_resuming'] === true && leaseOf(config) !== null;
}
