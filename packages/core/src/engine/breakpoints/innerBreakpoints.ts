import { type Breakpoints, breakpointsOf, type CompiledBreakpoints } from './Breakpoint.ts';

/** The fields of LangGraph's builders and graphs that are read here. */
interface Builder {
  readonly nodes: Readonly<Record<string, InnerBuilderNode>>;
}

interface InnerBuilderNode {
  readonly runnable?: unknown;
  readonly subgraphs?: readonly unknown[];
}

interface InnerCompiledGraph extends CompiledBreakpoints {
  readonly lg_is_pregel: true;
  readonly builder?: Builder;
}

/** Breakpoints of the graphs inside a graph, by the names of the nodes that lead to them: `sub`, `sub|inner`. */
export type InnerBreakpoints = ReadonlyMap<string, Breakpoints>;

/**
 * The breakpoints of graphs that are nodes, or that a node names as its `subgraphs`; at any depth. What a function calls
 * without naming it is not among them.
 */
export function innerBreakpoints(builder: unknown): InnerBreakpoints {
  return new Map(foundBreakpoints(builder as Builder, ''));
}

function foundBreakpoints({ nodes }: Builder, path: string): readonly (readonly [string, Breakpoints])[] {
  return Object.entries(nodes).flatMap(([name, { runnable, subgraphs }]) =>
    graphsAmong(subgraphs?.length ? subgraphs : [runnable]).flatMap((graph) => {
      const own = graph.builder ?? { nodes: {} };
      const below = `${path}${name}`;
      const entry = [below, breakpointsOf(graph, Object.keys(own.nodes))] as const;
      return [entry, ...foundBreakpoints(own, `${below}|`)];
    }),
  );
}

/** Runnables in a row may have a graph among them. */
function graphsAmong(candidates: readonly unknown[]): readonly InnerCompiledGraph[] {
  return candidates.flatMap((candidate) => {
    const { lg_is_pregel: isGraph, steps } = Object(candidate) as {
      readonly lg_is_pregel?: unknown;
      readonly steps?: unknown;
    };
    if (isGraph === true) return [candidate as InnerCompiledGraph];
    return Array.isArray(steps) ? graphsAmong(steps) : [];
  });
}

/** Names on the way to a checkpoint's namespace: `sub:8f3a…|1|inner:…` is `sub|inner`; a number is a further call. */
export function namespacePath(checkpointNs: string): readonly string[] {
  return checkpointNs
    .split('|')
    .filter((part) => !/^\d+$/.test(part))
    .map((part) => part.split(':')[0] ?? '');
}
