import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint';
import { engineFaultOf } from './node/EngineFaults.ts';

interface ThreadConfig {
  readonly configurable: { readonly thread_id: string };
}

/** The part of a compiled LangGraph graph that tells a run's state; without metadata where there is no checkpoint. */
export interface ReadableGraph<State> {
  getState(config: ThreadConfig): Promise<State>;
}

/**
 * A run's state as LangGraph tells it. What the last super-step wrote is part of it, unless the channels refuse it: such
 * a run has failed with that, and its state is that of its checkpoint.
 */
export async function readState<State>(
  graph: ReadableGraph<State>,
  config: ThreadConfig,
  saver: BaseCheckpointSaver,
): Promise<State> {
  try {
    return await graph.getState(config);
  } catch (error) {
    const tuple = engineFaultOf(error) !== null ? undefined : await saver.getTuple(config);
    if (tuple === undefined) throw error;
    const checkpoint_id: unknown = tuple.config.configurable?.['checkpoint_id'];
    return graph.getState({
      configurable: { ...config.configurable, checkpoint_id } as ThreadConfig['configurable'],
    });
  }
}
