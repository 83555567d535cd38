import { useMemo } from 'preact/hooks';
import { humanizeName } from '../words.ts';
import { edgePath, type GraphLayout, type LaidOutEdge, layoutGraph, NODE, round } from './layoutGraph.ts';
import type { Pictured, PicturedEdge, PicturedNode } from './pictures.ts';

/** A sign beside the colour: nobody has to tell colours apart. */
const SIGNS: Readonly<Record<string, string>> = {
  completed: '✓',
  in_progress: '▶',
  resumed: '▶',
  running: '▶',
  next: '▷',
  failed: '✕',
  dead_letter: '✕',
  blocked: '⊘',
  skipped: '⊘',
  visited: '✓',
};

/** A graph, laid out anew only when its nodes or edges are others. What it shows stands elsewhere on the page as a list, too. */
export function GraphPicture({ title, nodes, edges, selected = null, onSelect }: Pictured) {
  const shape = JSON.stringify([nodes.map(({ id }) => id), edges.map(({ from, to }) => [from, to])]);
  const nodeHeight = nodes.some(({ detail }) => detail !== undefined) ? NODE.tall : NODE.height;
  const layout = useMemo(
    () => layoutGraph({ nodes: nodes.map(({ id }) => id), edges }, nodeHeight),
    [shape, nodeHeight],
  );
  const { width, height } = layout;
  const byId = new Map(nodes.map((node) => [node.id, node]));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what can be scrolled is scrolled by keyboard
    <section class="picture" aria-label={title} tabIndex={0}>
      <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`}>
        <title>{title}</title>
        <defs>
          <Arrow id="arrow" />
          <Arrow id="arrow-new" />
        </defs>
        <Edges layout={layout} edges={edges} byId={byId} />
        {layout.nodes.map(({ id, x, y }) => {
          const node = byId.get(id);
          return (
            node && (
              <Node
                key={id}
                node={node}
                at={{ x, y, height: nodeHeight }}
                isSelected={selected === id}
                onSelect={onSelect}
              />
            )
          );
        })}
      </svg>
    </section>
  );
}

const Arrow = ({ id }: { readonly id: string }) => (
  <marker id={id} viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">
    <path d="M0 0L8 4L0 8z" />
  </marker>
);

function Edges({
  layout,
  edges,
  byId,
}: {
  readonly layout: GraphLayout;
  readonly edges: readonly PicturedEdge[];
  readonly byId: ReadonlyMap<string, PicturedNode>;
}) {
  const known = new Map(edges.map((edge) => [`${edge.from} ${edge.to}`, edge]));
  return (
    <g class="edges">
      {layout.edges.map((edge, at) => {
        const { times, isNew } = known.get(`${edge.from} ${edge.to}`) ?? {};
        const fate = byId.get(edge.to)?.fate === 'goes' ? 'goes' : '';
        return (
          <Edge key={at} edge={edge} often={times ?? 1} isNew={isNew === true && fate === ''} fate={fate} />
        );
      })}
    </g>
  );
}

interface EdgeOf {
  readonly edge: LaidOutEdge;
  readonly often: number;
  readonly isNew: boolean;
  readonly fate: 'goes' | '';
}

function Edge({ edge, often, isNew, fate }: EdgeOf) {
  const middle = edge.points[Math.floor(edge.points.length / 2)];
  return (
    <g class={isNew ? 'new' : fate}>
      <path d={edgePath(edge)} marker-end={isNew ? 'url(#arrow-new)' : 'url(#arrow)'}>
        {isNew && <title>new</title>}
      </path>
      {often > 1 && (
        <text x={middle?.x} y={(middle?.y ?? 0) - 4}>
          ×{often}
        </text>
      )}
    </g>
  );
}

interface NodeOf {
  readonly node: PicturedNode;
  readonly at: { readonly x: number; readonly y: number; readonly height: number };
  readonly isSelected: boolean;
  readonly onSelect: ((id: string) => void) | undefined;
}

function Node({ node, at: { x, y, height }, isSelected, onSelect }: NodeOf) {
  const { id, state, fate = '', waits = false } = node;
  const words = nodeWords(node);
  const choose = (): void => onSelect?.(id);
  const button = onSelect && {
    role: 'button' as const,
    tabindex: 0, // in SVG, attributes have a case
    'aria-pressed': isSelected,
    onClick: choose,
    onKeyDown: (event: KeyboardEvent): void => {
      if (event.key !== 'Enter' && event.key !== ' ') return;
      event.preventDefault();
      choose();
    },
  };
  return (
    <g
      class={`node ${state} ${fate} ${waits ? 'waits' : ''}`}
      transform={`translate(${round(x)} ${round(y)})`}
      aria-label={words}
      {...(button ?? { role: 'img' as const })}
    >
      <title>{words}</title>
      <rect width={NODE.width} height={height} rx="7" />
      <NodeTexts node={node} />
    </g>
  );
}

/** The visible words first, in their order. */
const nodeWords = ({ label, news = '', name, detail = '', state, fate, waits }: PicturedNode): string =>
  [
    ...[label, news, name, detail, humanizeName(state)],
    ...[waits === true ? 'waits for a person' : '', fate === undefined ? '' : FATES[fate]],
  ]
    .filter((word) => word !== '')
    .join(', ');

/** The spaces are part of the name. */
const NodeTexts = ({
  node: { label, name, state, fate, waits, detail = '', news = '' },
}: Pick<NodeOf, 'node'>) => (
  <>
    <text class="label" x="10" y="19">
      {cutLabel(label, 20)}
    </text>{' '}
    <text class={`sign ${news === '' ? '' : 'news'}`} x={NODE.width - 10} y="19" text-anchor="end">
      {fate === 'goes' ? '↩' : news === '' ? signOf(state, waits) : news}
    </text>{' '}
    <text class="name" x="10" y="36">
      {cutLabel(name, 24)}
    </text>{' '}
    {detail !== '' && (
      <text class="detail" x="10" y="52">
        {cutLabel(detail, 28)}
      </text>
    )}
  </>
);

const signOf = (state: string, waits = false): string => (waits ? '?' : (SIGNS[state] ?? ''));

const FATES = {
  goes: 'will be undone',
  stays: 'is kept',
  target: 'is kept, the run continues from here',
} as const;

/** By what a person counts as characters; all of it is in the title. */
function cutLabel(text: string, most: number): string {
  const characters = Array.from(text);
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join('')}…`;
}
