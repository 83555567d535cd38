import type { RunnableConfig } from '@langchain/core/runnables';
import type { ChannelVersions, Checkpoint, CheckpointMetadata } from '@langchain/langgraph-checkpoint';
import { DelegatingSaver } from '../saver/DelegatingSaver.ts';
import { withSettledTriggers } from '../saver/settledTriggers.ts';

/** What frames write to: a frame goes on from a stored checkpoint after every super-step, whatever the checkpointer. */
export class FrameSaver extends DelegatingSaver {
  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const settled = withSettledTriggers(checkpoint, metadata, newVersions);
    return super.put(config, settled, metadata, newVersions);
  }
}
