import type { RunnableConfig } from '@langchain/core/runnables';
import type {
  BaseCheckpointSaver,
  ChannelVersions,
  Checkpoint,
  CheckpointMetadata,
} from '@langchain/langgraph-checkpoint';
import { DevsError } from '../../errors/DevsError.ts';
import { configOf, requiredNamespace } from '../saver/checkpointConfig.ts';
import { DelegatingSaver } from '../saver/DelegatingSaver.ts';
import type { StagedCheckpoint } from '../saver/SqliteSaver.ts';

/**
 * Where a run is put: on what `node` would have returned, or the one that LangGraph finds to have run last; or where it
 * stood at a checkpoint of its own.
 */
export type CheckpointUpdate =
  | { readonly node: string | undefined; readonly update: object | null }
  | { readonly copyOf: string };

/** The part of a compiled LangGraph graph that makes checkpoints from outside. */
export interface UpdatableGraph {
  updateState(config: RunnableConfig, values: unknown, asNode?: string): Promise<RunnableConfig>;
}

/** A checkpoint to put on top of a run's latest, not stored yet, with the config to store it under. */
export interface StagedUpdate {
  readonly config: RunnableConfig;
  readonly staged: StagedCheckpoint;
}

/** LangGraph's name for "the same again". */
const COPY = '__copy__';

/**
 * Lets LangGraph compute the checkpoint that a placement leads to, routing included, and stores nothing: the caller
 * stores it in the transaction of everything else that belongs to it.
 *
 * The one place that calls `updateState`.
 *
 * @throws DevsError `CHECKPOINT_NOT_FOUND` for a copy of a checkpoint that was pruned.
 */
export async function stagedUpdate(
  threadId: string,
  placement: CheckpointUpdate,
  { graph, saver }: { readonly graph: UpdatableGraph; readonly saver: BaseCheckpointSaver },
): Promise<StagedUpdate> {
  const capture = new CapturingSaver(saver);
  const configurable = { thread_id: threadId, checkpoint_ns: '', __pregel_checkpointer: capture };
  if ('copyOf' in placement) {
    const at = { configurable: { ...configurable, checkpoint_id: placement.copyOf } };
    if ((await saver.getTuple(at)) === undefined) throw stagedCheckpointMissing(threadId, placement.copyOf);
    await graph.updateState(at, null, COPY);
  } else {
    await graph.updateState({ configurable }, placement.update, placement.node);
  }
  return capture.captured();
}

const stagedCheckpointMissing = (threadId: string, checkpointId: string): DevsError =>
  new DevsError(`Checkpoint "${checkpointId}" of run "${threadId}" was pruned.`, {
    code: 'CHECKPOINT_NOT_FOUND',
    remedy: 'Continue from the current state of the run.',
    context: { threadId, checkpointId },
  });

/** Reads what is stored, and keeps what would be. */
class CapturingSaver extends DelegatingSaver {
  #captured: StagedUpdate | null = null;

  captured(): StagedUpdate {
    if (this.#captured === null) throw new Error('LangGraph did not create a checkpoint for the update.');
    return this.#captured;
  }

  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    this.#captured = { config, staged: { checkpoint, metadata, newVersions, writes: [] } };
    return configOf({ ...requiredNamespace(config), checkpointId: checkpoint.id });
  }

  /** What the update wrote is in the checkpoint it leads to. */
  override async putWrites(): Promise<void> {}
}
