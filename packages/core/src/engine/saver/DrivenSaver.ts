import type { RunnableConfig } from '@langchain/core/runnables';
import type {
  ChannelVersions,
  Checkpoint,
  CheckpointMetadata,
  CheckpointTuple,
  PendingWrite,
} from '@langchain/langgraph-checkpoint';
import type { Database } from 'better-sqlite3';
import type { FencedLease } from '../../state/Fence.ts';
import { isLoopDue, loopTurn } from '../loopTurn.ts';
import type { InnerBreakpoints } from '../stops/innerBreakpoints.ts';
import { withoutUnseen } from '../stops/unseen.ts';
import { type StopRecords, whereItStands } from '../stops/whereItStands.ts';
import {
  configOf,
  leaseOf,
  namespaceOf,
  optionalId,
  requiredId,
  requiredNamespace,
} from './checkpointConfig.ts';
import { type Commit, SqliteSaver, type SqliteSaverOptions } from './SqliteSaver.ts';
import type { Alongside, StreamedGraph, StreamedWrite } from './StreamedWrites.ts';

/** Knows who drives a run, and what was answered. */
export interface DriverRegister extends StopRecords {
  /** @throws DevsError `LEASE_LOST` without a lease on a thread that is a run. */
  assertDriven(caller: {
    readonly threadId: string;
    readonly frame: string;
    readonly epoch: FencedLease['epoch'] | null;
    readonly lease: unknown;
  }): void;
}

export interface DrivenSaverOptions extends SqliteSaverOptions {
  /** Where the graphs inside nodes were compiled to stop. @defaultValue nowhere that is known */
  readonly breakpoints?: InnerBreakpoints;
  /** Is told with what config a checkpoint is looked for: LangGraph does so as a graph begins. @defaultValue nobody */
  readonly onLook?: (config: RunnableConfig) => void;
  /** What streams the graph that is driven under a lease. @defaultValue nothing */
  readonly streamOf?: (lease: unknown) => StreamedGraph | undefined;
}

/**
 * The checkpointer of an app: a run is written by its driver alone. A raw `updateState`, `Command` or second input
 * would pass the run's gates. A graph inside a node that is resumed stops again where nobody has answered its stop.
 */
export class DrivenSaver extends SqliteSaver {
  readonly #store: DriverRegister;
  readonly #breakpoints: InnerBreakpoints;
  readonly #onLook: (config: RunnableConfig) => void;
  readonly #streamOf: (lease: unknown) => StreamedGraph | undefined;

  constructor(db: Database, store: DriverRegister, options: DrivenSaverOptions = {}) {
    super(db, options);
    this.#store = store;
    this.#breakpoints = options.breakpoints ?? new Map();
    this.#onLook = options.onLook ?? (() => {});
    this.#streamOf = options.streamOf ?? (() => undefined);
  }

  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    this.#onLook(config);
    this.#stream(config)?.begins(namespaceOf(config) ?? '');
    const tuple = await super.getTuple(config);
    if (tuple === undefined || !isResumedInside(config)) return tuple;
    const thread = requiredId(config, 'thread_id');
    const at = {
      runId: leaseOf(config)?.threadId ?? thread,
      thread,
      checkpointNs: namespaceOf(config) ?? '',
    };
    const load = (parent: RunnableConfig): Promise<CheckpointTuple | undefined> => super.getTuple(parent);
    return await whereItStands(tuple, at, { store: this.#store, breakpoints: this.#breakpoints, load });
  }

  /** @throws DevsError `LEASE_LOST` for a run that the call has no lease on; else as {@link SqliteSaver.put}. */
  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    this.#assertDriven(config);
    const seen = { ...checkpoint, channel_versions: withoutUnseen(checkpoint.channel_versions) };
    const versions = withoutUnseen(newVersions);
    const streamed = this.#stream(config)?.checkpoint(placeOf(config), seen, metadata, versions);
    await commitWith(streamed, this.stageCheckpoint(config, seen, metadata, versions));
    if (isLoopDue()) await loopTurn();
    return configOf({ ...requiredNamespace(config), checkpointId: checkpoint.id });
  }

  /** @throws DevsError as {@link put}. */
  override async putWrites(
    config: RunnableConfig,
    writes: PendingWrite[],
    taskId: string,
    taskPath = '',
  ): Promise<void> {
    this.#assertDriven(config);
    const checkpointId = requiredId(config, 'checkpoint_id');
    const streamed = this.#stream(config)?.writes({ ...placeOf(config), checkpointId }, taskId, writes);
    await commitWith(streamed, this.stageWrites(config, writes, taskId, taskPath));
  }

  #stream(config: RunnableConfig): StreamedGraph | undefined {
    return this.#streamOf(config.configurable?.['lease']);
  }

  #assertDriven(config: RunnableConfig): void {
    const frame = requiredId(config, 'thread_id');
    const { threadId, epoch } = leaseOf(config) ?? { threadId: frame, epoch: null };
    this.#store.assertDriven({ threadId, frame, epoch, lease: config.configurable?.['lease'] });
  }
}

async function commitWith(streamed: Alongside | undefined, staged: Promise<Commit>): Promise<void> {
  if (streamed === undefined) {
    (await staged)();
    return;
  }
  try {
    const commit = await staged;
    await streamed.ready();
    commit(streamed.inTx);
    streamed.committed();
  } finally {
    streamed.over();
  }
}

function placeOf(config: RunnableConfig): Pick<StreamedWrite, 'threadId' | 'ns'> {
  const { threadId, checkpointNs } = requiredNamespace(config);
  return { threadId, ns: checkpointNs };
}

/** A graph inside a node that goes on from its latest checkpoint. */
function isResumedInside(config: RunnableConfig): boolean {
  const isInside = (namespaceOf(config) ?? '') !== '' && optionalId(config, 'checkpoint_id') === null;
  return isInside && config.configurable?.['__pregel_resuming'] === true && leaseOf(config) !== null;
}
