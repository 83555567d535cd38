import type { RunnableConfig } from '@langchain/core/runnables';
import { type Checkpoint, type CheckpointTuple, MemorySaver, uuid5 } from '@langchain/langgraph-checkpoint';
import { type GraphMapping, triggersOf } from './GraphMapping.ts';

/** The part of a compiled LangGraph graph that says what a checkpoint leads to. */
export interface PlanningGraph {
  readonly channels: Readonly<Record<string, unknown>>;
  readonly nodes: Readonly<Record<string, unknown>>;
  getState(config: RunnableConfig): Promise<{
    readonly tasks: readonly { readonly id: string; readonly name: string }[];
  }>;
}

/** A visit that a checkpoint leads to, begun or not. */
export interface PendingNode {
  readonly node: string;
  readonly oldNode: string;
  /** LangGraph's task id: under the graph as it is now, and under the one that wrote the checkpoint. */
  readonly taskId: string;
  /** `null` where it cannot be known: a branch made by `Send`, in a checkpoint that is written anew. */
  readonly oldTaskId: string | null;
}

/** What the graph would do next at `checkpoint`, which need not be stored; tasks that have finished included. */
export async function pendingNodes(
  graph: PlanningGraph,
  checkpoint: Checkpoint,
  { checkpoint: stored, metadata }: CheckpointTuple,
  mapping: GraphMapping,
): Promise<readonly PendingNode[]> {
  const preview = new MemorySaver();
  const configurable = { thread_id: 'preview', checkpoint_ns: '' };
  await preview.put({ configurable }, checkpoint, metadata ?? { source: 'loop', step: -1, parents: {} });
  const { tasks } = await graph.getState({
    configurable: { ...configurable, __pregel_checkpointer: preview },
  });
  const step = (metadata?.step ?? -1) + 1;
  return tasks.map(({ id, name }) => {
    const trigger = triggersOf(name, Object.keys(graph.channels)).find(
      (channel) => taskIdOf({ node: name, trigger: channel, step }, checkpoint.id) === id,
    );
    const oldNode = mapping.oldNode(name);
    const old = trigger === undefined ? null : { node: oldNode, trigger: mapping.oldTrigger(trigger), step };
    const unknown = checkpoint.id === stored.id ? id : null;
    return { node: name, oldNode, taskId: id, oldTaskId: old === null ? unknown : taskIdOf(old, stored.id) };
  });
}

interface Task {
  readonly node: string;
  readonly trigger: string;
  readonly step: number;
}

/**
 * LangGraph's id of a task of the root graph. It offers no function for it; what it calls a task of the new graph is
 * compared with this, and a task that has another id is not touched.
 */
function taskIdOf({ node, trigger, step }: Task, checkpointId: string): string {
  return uuid5(JSON.stringify([node, String(step), node, '__pregel_pull', [trigger]]), checkpointId);
}
