import type { Run } from '@devs/core';
import type { Pictured, PicturedNode } from './Pictured.ts';

/** A graph as its run has recorded it, and the node that works now. */
export interface RecordedGraph extends Awaited<ReturnType<Run['graph']>> {
  readonly running: string | null;
}

/** No node of a graph has this name: LangGraph keeps it. */
const START = '__start__';

/** A recorded graph as a picture: what was visited, what is next, and where a person is asked. Pure. */
export function recordedPicture({
  nodes,
  edges,
  next,
  running,
}: RecordedGraph): Pick<Pictured, 'nodes' | 'edges'> {
  const isBegun = edges.some(({ from }) => from === null);
  const pictured = nodes.map(({ name, gate, visits }): PicturedNode => {
    const asks = gate === null ? '' : ', has a gate';
    const state =
      name === running ? 'running' : next.includes(name) ? 'next' : visits > 0 ? 'visited' : 'unvisited';
    return {
      id: name,
      label: name,
      name: `${visits === 1 ? '1 execution' : `${visits} executions`}${asks}`,
      state,
    };
  });
  return {
    nodes: [...(isBegun ? [{ id: START, label: 'start', name: '', state: 'visited' }] : []), ...pictured],
    edges: edges.map(({ from, to, times }) => ({ from: from ?? START, to, times })),
  };
}
