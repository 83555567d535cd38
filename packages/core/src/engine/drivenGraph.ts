import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint';
import { isDevsError } from '../errors/DevsError.ts';
import { guardsOf } from './channels.ts';
import type { DrivableGraph } from './drive/drive.ts';

interface ReadConfig {
  readonly configurable: { readonly thread_id: string };
}

/** The part of a compiled LangGraph graph that tells a run's state; without metadata where there is no checkpoint. */
export interface ReadableGraph<State> {
  getState(config: ReadConfig): Promise<State>;
}

/**
 * A run's state as LangGraph tells it. What the last super-step wrote is part of it, unless the channels refuse it: such
 * a run has failed with that, and its state is that of its checkpoint.
 */
export async function readState<State>(
  graph: ReadableGraph<State>,
  config: ReadConfig,
  saver: BaseCheckpointSaver,
): Promise<State> {
  try {
    return await graph.getState(config);
  } catch (error) {
    const tuple = isDevsError(error) ? undefined : await saver.getTuple(config);
    if (tuple === undefined) throw error;
    const checkpoint_id: unknown = tuple.config.configurable?.['checkpoint_id'];
    return graph.getState({
      configurable: { ...config.configurable, checkpoint_id } as ReadConfig['configurable'],
    });
  }
}

/** The graph as its driver reads it: once nothing is due, the suspension that its last node raised is among the values. */
export function drivenGraph(graph: DrivableGraph, saver: BaseCheckpointSaver): DrivableGraph {
  return {
    invoke: (input, config) => graph.invoke(input, config),
    getState: async (config) => {
      const { tasks, values } = await readState(graph, config, saver);
      if (tasks.length > 0) return { tasks, values };
      const { pendingSuspension } = guardsOf((await saver.getTuple(config))?.checkpoint.channel_values ?? {});
      return { tasks, values: { ...(values as object), ...(pendingSuspension && { pendingSuspension }) } };
    },
  };
}
