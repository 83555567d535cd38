import { Graph, layout } from '@dagrejs/dagre';

export interface LaidOutNode {
  readonly id: string;
  /** Its left upper corner; pixels, as all of this. */
  readonly x: number;
  readonly y: number;
}

export interface LaidOutEdge {
  readonly from: string;
  readonly to: string;
  /** At least two. */
  readonly points: readonly Point[];
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface GraphLayout {
  readonly width: number;
  readonly height: number;
  readonly nodes: readonly LaidOutNode[];
  readonly edges: readonly LaidOutEdge[];
}

/** A graph as it is laid out: ids, and edges between them. */
export interface LayoutShape {
  readonly nodes: readonly string[];
  readonly edges: readonly { readonly from: string; readonly to: string }[];
}

/** `tall`: with a third line. */
export const NODE = { width: 172, height: 46, tall: 62 } as const;
const BETWEEN = { ranks: 44, nodes: 14 } as const;
const MARGIN = 8;

/** Nodes from which dagre takes longer than a person waits: it weighs every crossing, many times. */
const MANY = 60;

/**
 * Places for a graph, from left to right. Edges to unknown nodes are left out. Pure.
 *
 * @param height - Of a node.
 */
export function layoutGraph({ nodes, edges }: LayoutShape, height: number = NODE.height): GraphLayout {
  const known = new Set(nodes);
  const shape = {
    nodes: [...known],
    edges: edges.filter(({ from, to }) => known.has(from) && known.has(to)),
  };
  return shape.nodes.length > MANY ? layoutRanks(shape, height) : layoutByDagre(shape, height);
}

function layoutByDagre({ nodes, edges }: LayoutShape, height: number): GraphLayout {
  const graph = new Graph({ multigraph: true });
  graph.setGraph({
    ...{ rankdir: 'LR', ranker: 'tight-tree' },
    ...{ marginx: MARGIN, marginy: MARGIN, ranksep: BETWEEN.ranks, nodesep: BETWEEN.nodes },
  });
  for (const id of nodes) graph.setNode(id, { width: NODE.width, height });
  for (const [at, { from, to }] of edges.entries()) graph.setEdge(from, to, {}, String(at));
  layout(graph);
  const whole = graph.graph();
  return {
    ...{ width: whole.width ?? 0, height: whole.height ?? 0 },
    nodes: nodes.map((id) => {
      const { x = 0, y = 0 } = graph.node(id);
      return { id, x: x - NODE.width / 2, y: y - height / 2 };
    }),
    edges: edges.map(({ from, to }, at) => {
      const { points = [] } = graph.edge({ v: from, w: to, name: String(at) });
      return { from, to, points: points.map(({ x, y }: Point) => ({ x, y })) };
    }),
  };
}

/** One column per rank, in each the nodes beside what they stand on: no crossing is weighed, so it takes no time. */
function layoutRanks(shape: LayoutShape, height: number): GraphLayout {
  const columns = graphColumns(shape);
  const places = new Map<string, Point>();
  for (const [rank, column] of columns.entries()) {
    for (const [at, id] of column.entries()) {
      places.set(id, {
        x: MARGIN + rank * (NODE.width + BETWEEN.ranks),
        y: MARGIN + at * (height + BETWEEN.nodes),
      });
    }
  }
  const placeOf = (id: string): Point => places.get(id) ?? { x: 0, y: 0 };
  const all = [...places.values()];
  return {
    width: Math.max(...all.map(({ x }) => x)) + NODE.width + MARGIN,
    height: Math.max(...all.map(({ y }) => y)) + height + MARGIN,
    nodes: shape.nodes.map((id) => ({ id, ...placeOf(id) })),
    edges: shape.edges.map(({ from, to }) => {
      const [start, end] = [placeOf(from), placeOf(to)];
      const middle = height / 2;
      return {
        ...{ from, to },
        points: [
          { x: start.x + NODE.width, y: start.y + middle },
          { x: end.x, y: end.y + middle },
        ],
      };
    }),
  };
}

function graphColumns({ nodes, edges }: LayoutShape): readonly (readonly string[])[] {
  const above = new Map(nodes.map((id) => [id, [] as string[]]));
  for (const { from, to } of edges) if (from !== to) above.get(to)?.push(from);
  const ranks = ranksOf(nodes, above);
  const columns: string[][] = [];
  for (const id of nodes) {
    const rank = ranks.get(id) ?? 0;
    columns[rank] ??= [];
    columns[rank].push(id);
  }
  const rows = new Map<string, number>();
  return columns.map((column) => {
    const wanted = new Map(column.map((id, at) => [id, meanOf(above.get(id) ?? [], rows) ?? at]));
    const sorted = column.toSorted((a, b) => (wanted.get(a) ?? 0) - (wanted.get(b) ?? 0));
    for (const [at, id] of sorted.entries()) rows.set(id, at);
    return sorted;
  });
}

/** Longest way from a start; an edge that closes a circle counts for nothing. */
function ranksOf(
  nodes: readonly string[],
  above: ReadonlyMap<string, readonly string[]>,
): ReadonlyMap<string, number> {
  const ranks = new Map<string, number>();
  const open = new Set<string>();
  for (const start of nodes) {
    const stack = [start];
    for (let id = stack.at(-1); id !== undefined; id = stack.at(-1)) {
      open.add(id);
      const before = (above.get(id) ?? []).filter((each) => ranks.has(each) || !open.has(each));
      const next = before.find((each) => !ranks.has(each));
      if (next !== undefined) {
        stack.push(next);
        continue;
      }
      if (!ranks.has(id)) ranks.set(id, Math.max(-1, ...before.map((each) => ranks.get(each) ?? -1)) + 1);
      stack.pop();
    }
  }
  return ranks;
}

function meanOf(ids: readonly string[], rows: ReadonlyMap<string, number>): number | undefined {
  const known = ids.flatMap((id) => rows.get(id) ?? []);
  return known.length === 0 ? undefined : known.reduce((sum, row) => sum + row, 0) / known.length;
}

/** Through its points; between two alone in a bow. */
export function edgePath({ points }: Pick<LaidOutEdge, 'points'>): string {
  const [first = { x: 0, y: 0 }, ...rest] = points;
  const start = `M${round(first.x)} ${round(first.y)}`;
  const [only] = rest;
  if (only === undefined || rest.length > 1) {
    return start + rest.map(({ x, y }) => `L${round(x)} ${round(y)}`).join('');
  }
  const bow = round((first.x + only.x) / 2);
  return `${start}C${bow} ${round(first.y)} ${bow} ${round(only.y)} ${round(only.x)} ${round(only.y)}`;
}

/** A tenth of a pixel is as good as any. */
export const round = (value: number): number => Math.round(value * 10) / 10;
