import { outsideGraphs } from './drive/outsideGraphs.ts';
import type { ReadableGraph } from './readState.ts';

/** A graph's values, as `read` reads them; `null` where there is no checkpoint. */
export async function readValues<State>(
  graph: unknown,
  read: (graph: ReadableGraph<ReadValues<State>>) => Promise<ReadValues<State>>,
): Promise<State | null> {
  const { values, metadata } = await outsideGraphs(() => read(graph as ReadableGraph<ReadValues<State>>));
  return metadata === undefined ? null : values;
}

interface ReadValues<State> {
  readonly values: State;
  readonly metadata?: unknown;
}

/** Its values at a checkpoint of a run; `null` if there is no such checkpoint. */
export async function readValuesAt<State>(
  graph: unknown,
  runId: string,
  checkpointId: string | null,
): Promise<State | null> {
  if (checkpointId === null) return null;
  const at = { thread_id: runId, checkpoint_id: checkpointId };
  return readValues(graph, (readable) => readable.getState({ configurable: at }));
}
