// Graphs as pictures: a plan, and a recorded graph.
import type { Run } from '@devs/core';

export interface PicturedNode {
  readonly id: string;
  /** Short, such as `T4`. */
  readonly label: string;
  readonly name: string;
  /** What is told of it in a word, such as `completed`. */
  readonly state: string;
  /** An open gate is about it. */
  readonly waits?: boolean;
  /** What becomes of it by what is about to be decided. */
  readonly fate?: 'goes' | 'stays' | 'target';
  /** A third line. */
  readonly detail?: string;
  /** Its news in a word or two. */
  readonly news?: string;
}

export interface PicturedEdge {
  readonly from: string;
  readonly to: string;
  /** Of a way that was gone more than once. */
  readonly times?: number;
  /** Since the version that was read before. */
  readonly isNew?: boolean;
}

export interface Pictured {
  /** What the picture is of. */
  readonly title: string;
  readonly nodes: readonly PicturedNode[];
  readonly edges: readonly PicturedEdge[];
  /** The node that is looked at. */
  readonly selected?: string | null;
  readonly onSelect?: (id: string) => void;
}

/** A task as any plan has it: of a gate, where it has no state yet, or of a run. */
export interface PictureTask {
  readonly taskId: string;
  readonly name: string;
  readonly dependsOn: readonly string[];
  readonly status?: string;
  readonly waits?: boolean;
  readonly detail?: string;
  readonly news?: string;
}

/** What becomes of tasks when a run is set back. */
export interface Fates {
  readonly target: string;
  readonly undone: ReadonlySet<string>;
}

/** The tasks of a plan as a picture: one after the other where one stands on the other. Pure. */
export function planPicture(
  tasks: readonly PictureTask[],
  labelOf: (taskId: string) => string,
  fates: Fates | null = null,
  isNewEdge: (from: string, to: string) => boolean = () => false,
): { readonly nodes: readonly PicturedNode[]; readonly edges: readonly PicturedEdge[] } {
  const nodes = tasks.map(({ taskId, name, status = 'pending', waits = false, detail, news }) => {
    const node = {
      ...{ id: taskId, label: labelOf(taskId), name, state: status },
      ...(waits && { waits }),
      ...(detail !== undefined && { detail }),
      ...(news !== undefined && { news }),
    };
    return fates === null ? node : { ...node, fate: fateOf(taskId, fates) };
  });
  const edges = tasks.flatMap(({ taskId, dependsOn }) =>
    dependsOn.map((from) => ({
      ...{ from, to: taskId },
      ...(isNewEdge(from, taskId) && { isNew: true }),
    })),
  );
  return { nodes, edges };
}

function fateOf(taskId: string, { target, undone }: Fates): 'goes' | 'stays' | 'target' {
  if (undone.has(taskId)) return 'goes';
  return taskId === target ? 'target' : 'stays';
}

/** A graph as its run has recorded it, and the node that works now. */
export interface RecordedGraph extends Awaited<ReturnType<Run['graph']>> {
  readonly running: string | null;
}

/** No node of a graph has this name: LangGraph keeps it. */
const START = '__start__';

/**
 * A recorded graph as a picture: what was visited, what is next, and where a person is asked. Pure.
 *
 * @param isAsking - A gate of the run is open.
 */
export function recordedPicture(
  { nodes, edges, next, running }: RecordedGraph,
  isAsking = false,
): Pick<Pictured, 'nodes' | 'edges'> {
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
      ...(isAsking && gate !== null && state === 'next' && { waits: true }),
    };
  });
  return {
    nodes: [...(isBegun ? [{ id: START, label: 'start', name: '', state: 'visited' }] : []), ...pictured],
    edges: edges.map(({ from, to, times }) => ({ from: from ?? START, to, times })),
  };
}
