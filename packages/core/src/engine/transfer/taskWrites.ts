import type { CheckpointTuple, PendingWrite } from '@langchain/langgraph-checkpoint';
import { isOutput } from '../saver/openQuestions.ts';

/** Writes of a task, as `putWrites` takes them. */
export interface TaskWrites {
  readonly taskId: string;
  readonly taskPath: string;
  readonly values: PendingWrite[];
}

/** Pending writes by task, in their order. Outputs are apart from LangGraph's own writes, so that each keeps its index. */
export function taskWrites({ pendingWrites = [] }: CheckpointTuple): readonly TaskWrites[] {
  const tasks = [...new Set(pendingWrites.map(([taskId]) => taskId))];
  return tasks.flatMap((taskId, at) => {
    const own = pendingWrites.filter(([id]) => id === taskId);
    const groups = [
      own.filter(([, channel]) => !isOutput(channel)),
      own.filter(([, channel]) => isOutput(channel)),
    ];
    return groups
      .filter((group) => group.length > 0)
      .map((group) => ({
        taskId,
        taskPath: String(at).padStart(6, '0'), // a checkpointer sorts by it
        values: group.map(([, channel, value]): PendingWrite => [channel, value]),
      }));
  });
}
