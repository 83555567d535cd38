import type { CheckpointTuple } from '@langchain/langgraph-checkpoint';

export interface CheckpointPlace {
  readonly id: string;
  /** The one before. */
  readonly parentId?: string;
  readonly step: number;
  readonly source: 'input' | 'loop' | 'update' | 'fork';
}

/** The values of a graph at a checkpoint. */
export interface StateAt {
  readonly values: unknown;
  readonly checkpoint: CheckpointPlace;
}

interface Checkpointed {
  readonly metadata?: CheckpointTuple['metadata'] | undefined;
  readonly parentConfig?: CheckpointTuple['parentConfig'] | undefined;
}

/** Where a checkpoint is among those of its run. */
export function placeOfCheckpoint(id: string, { metadata, parentConfig }: Checkpointed): CheckpointPlace {
  const parentId: unknown = parentConfig?.configurable?.['checkpoint_id'];
  const { step = -1, source = 'loop' } = metadata ?? {};
  return { id, step, source, ...(typeof parentId === 'string' && { parentId }) };
}
