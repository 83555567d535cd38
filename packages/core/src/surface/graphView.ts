import { TRIGGER } from '../engine/breakpoints/Breakpoint.ts';
import type { EngineStore } from '../engine/gates/EngineStore.ts';
import { recordedShape } from '../engine/graph/graphShape.ts';
import type { HitlSessionKind } from '../state/gates/hitlSession.ts';

/** A graph as its run has recorded it: no program is asked. */
export interface GraphView {
  /** Every node there is, in the order of their names. */
  readonly nodes: readonly GraphNode[];
  /** The ways that were gone. What `Send` began is not among them. */
  readonly edges: readonly GraphEdge[];
  /** Nodes that are to be visited next, or are being visited; empty at an end. */
  readonly next: readonly string[];
}

export interface GraphNode {
  readonly name: string;
  /** What is asked before it runs, by declaration; `null` for nothing. */
  readonly gate: HitlSessionKind | null;
  /** Visits that came to an end. */
  readonly visits: number;
  /** ISO 8601, UTC: the end of the last visit. */
  readonly lastAt: string | null;
}

export interface GraphEdge {
  /** `null` for the start. */
  readonly from: string | null;
  readonly to: string;
  readonly times: number;
}

type GraphViewStores = Pick<EngineStore, 'threads' | 'log' | 'checkpoints'>;

/** @param next - As its latest checkpoint tells it. */
export function graphView(threadId: string, next: readonly string[], stores: GraphViewStores): GraphView {
  const { threads, log, checkpoints } = stores;
  const shape = recordedShape(threads.require(threadId));
  const visited = new Map(log.visitsOf(threadId).map((visits) => [visits.node, visits]));
  const edges = checkpoints.callsOf(threadId).flatMap(({ taskPath, channel, times }) => {
    const from = /^~__pregel_pull, (.+)$/s.exec(taskPath)?.[1];
    const to = TRIGGER.exec(channel)?.groups?.['node'];
    return from === undefined || to === undefined
      ? []
      : [{ from: from === '__start__' ? null : from, to, times }];
  });
  const named = edges.flatMap(({ from, to }) => [...(from === null ? [] : [from]), to]);
  const names = new Set([...(shape?.nodes ?? [...visited.keys(), ...named]), ...next]);
  return {
    nodes: [...names].sort().map((name) => {
      const { visits = 0, lastAt } = visited.get(name) ?? {};
      const last = lastAt === undefined ? null : new Date(lastAt).toISOString();
      return { name, gate: shape?.gates[name] ?? null, visits, lastAt: last };
    }),
    edges: edges.filter(({ from, to }) => names.has(to) && (from === null || names.has(from))),
    next,
  };
}
