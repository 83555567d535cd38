import { Annotation, Command, interrupt, MemorySaver, START, StateGraph } from '@langchain/langgraph';
import fc from 'fast-check';
import type { DeclaredChanges } from '../../graph/graphShape.ts';

/** A node as its author thinks of it: what it is called may change. */
export interface PairNode {
  readonly label: string;
  readonly name: string;
  readonly kind: 'plain' | 'ask' | 'graph' | 'askingGraph';
  /** Of a plain node alone: LangGraph tells no second answer of a task by its id from the first. */
  readonly gate: boolean;
  /** Label of the channel that it adds 1 to. */
  readonly writes: string | null;
  /** Labels. */
  readonly edges: readonly string[];
}

export interface PairChannel {
  readonly label: string;
  readonly name: string;
}

export interface PairGraph {
  readonly nodes: readonly PairNode[];
  readonly channels: readonly PairChannel[];
  /**
   * Labels of nodes that are all waited for, and of the node that waits. Nothing else leads to them: LangGraph alone, resumed, runs a
   * node again that is joined to and led to at once.
   */
  readonly join: { readonly from: readonly [string, string]; readonly to: string } | null;
  readonly version: string;
}

/** One change of a program, and whether it is declared. */
type Change =
  | { readonly is: 'node added' | 'channel added' }
  | {
      readonly is: 'node removed' | 'node renamed' | 'channel removed' | 'channel renamed';
      readonly at: number;
      readonly declared: boolean;
    }
  | { readonly is: 'gate'; readonly at: number; readonly declared: boolean }
  | { readonly is: 'kind' | 'edge'; readonly at: number; readonly to: number };

export interface GraphPair {
  readonly before: PairGraph;
  readonly after: PairGraph;
  readonly declared: DeclaredChanges;
  /** Old names of what was renamed with a declaration, by their labels. */
  readonly oldNames: Readonly<Record<string, string>>;
  /** How often everything that is asked is answered before the graph changes. */
  readonly rounds: number;
}

const node = fc.record({
  kind: fc.constantFrom<PairNode['kind'][]>('plain', 'plain', 'ask', 'ask', 'graph', 'askingGraph'),
  gate: fc.boolean(),
  writes: fc.option(fc.nat(2)),
  ahead: fc.uniqueArray(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 2 }),
});

const place = { at: fc.nat(5), declared: fc.boolean() };
const change: fc.Arbitrary<Change> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ is: fc.constantFrom('node added' as const, 'channel added' as const) }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      is: fc.constantFrom('node removed', 'node renamed', 'channel removed', 'channel renamed'),
      ...place,
    }),
  },
  { weight: 3, arbitrary: fc.record({ is: fc.constant('gate' as const), ...place }) },
  { weight: 3, arbitrary: fc.record({ is: fc.constantFrom('kind', 'edge'), at: fc.nat(5), to: fc.nat(5) }) },
) as fc.Arbitrary<Change>;

export const graphPairs: fc.Arbitrary<GraphPair> = fc
  .record({
    nodes: fc.array(node, { minLength: 3, maxLength: 6 }),
    join: fc.boolean(),
    changes: fc.array(change, { minLength: 1, maxLength: 3 }),
    isOtherVersion: fc.nat(19).map((drawn) => drawn === 0),
    rounds: fc.nat(3),
  })
  .map(({ nodes, join, changes, rounds, isOtherVersion }) => {
    const channels = ['x', 'y', 'z'].map((label) => ({ label, name: label }));
    const before: PairGraph = {
      channels,
      version: '1',
      join: join && nodes.length > 4 ? { from: ['n0', 'n1'], to: 'n4' } : null,
      nodes: nodes.map(({ writes, ahead, kind, gate }, at) => ({
        ...{ label: `n${at}`, name: `n${at}`, kind },
        gate: gate && kind === 'plain',
        writes: writes === null ? null : (channels[writes]?.label ?? null),
        edges: ahead
          .filter((step) => at + step < nodes.length && !(join && isJoined(at + step)))
          .map((step) => `n${at + step}`),
      })),
    };
    const after = isOtherVersion ? { ...before, version: '2' } : before;
    return changed({ before, after, declared: { renamed: {}, removed: [] }, oldNames: {}, rounds }, changes);
  });

/** `n1` and `n4`; `n0` is where a graph begins. */
const isJoined = (at: number): boolean => at === 1 || at === 4;

const isGraph = (kind: PairNode['kind']): boolean => kind === 'graph' || kind === 'askingGraph';

function changed(pair: GraphPair, changes: readonly Change[]): GraphPair {
  let now = pair;
  for (const one of changes) now = { ...now, ...changedBy(now, one) };
  return now;
}

function changedBy(pair: GraphPair, one: Change): Partial<GraphPair> {
  const { after } = pair;
  if (!('at' in one)) {
    if (one.is === 'node added') return { after: withNode(after) };
    return { after: { ...after, channels: [...after.channels, named(`c${after.channels.length}`)] } };
  }
  if (one.is === 'channel removed' || one.is === 'channel renamed') return channelChanged(pair, one);
  const node = after.nodes[one.at % after.nodes.length];
  if (node === undefined || after.nodes.length < 2) return {};
  if (one.is === 'node removed' || one.is === 'node renamed') return nodeChanged(pair, node, one);
  if (one.is === 'gate') return gateChanged(pair, node, one.declared);
  return 'to' in one ? { after: partChanged(after, node, one) } : {};
}

function gateChanged(pair: GraphPair, node: PairNode, isDeclared: boolean): Partial<GraphPair> {
  if (node.kind !== 'plain') return {};
  const declared = node.gate && isDeclared ? removing(pair, node.name) : {};
  return { ...declared, after: withNodes(pair.after, node, { gate: !node.gate }) };
}

function partChanged(
  graph: PairGraph,
  node: PairNode,
  { is, to }: { readonly is: string; readonly to: number },
): PairGraph {
  if (is === 'kind') {
    const kind = (['plain', 'ask', 'graph', 'askingGraph'] as const)[to % 4] ?? 'plain';
    return withNodes(graph, node, { kind, gate: node.gate && kind === 'plain' });
  }
  const joined = graph.join === null ? [] : [...graph.join.from, graph.join.to];
  const later = graph.nodes
    .slice(graph.nodes.indexOf(node) + 1)
    .map(({ label }) => label)
    .filter((label) => !joined.includes(label));
  const next = later[to % Math.max(later.length, 1)];
  return next === undefined ? graph : withNodes(graph, node, { edges: [next] });
}

const named = (label: string) => ({ label, name: label });

const withNodes = (graph: PairGraph, node: PairNode, made: Partial<PairNode>): PairGraph => ({
  ...graph,
  nodes: graph.nodes.map((each) => (each === node ? { ...each, ...made } : each)),
});

/** Between the first node and those that follow it. */
function withNode(graph: PairGraph): PairGraph {
  const [first, ...rest] = graph.nodes;
  if (first === undefined || graph.nodes.some(({ label }) => label === 'n00')) return graph;
  const added: PairNode = { ...named('n00'), kind: 'plain', gate: false, writes: 'x', edges: first.edges };
  return { ...graph, nodes: [{ ...first, edges: ['n00'] }, added, ...rest] };
}

const removing = ({ declared }: GraphPair, name: string): Pick<GraphPair, 'declared'> => ({
  declared: { ...declared, removed: [...(declared.removed as readonly string[]), name] },
});

type Placed = Extract<Change, { readonly declared: boolean }>;

function nodeChanged(pair: GraphPair, node: PairNode, { is, declared }: Placed): Partial<GraphPair> {
  const { after, before } = pair;
  const isOld = before.nodes.some(({ name }) => name === node.name);
  if (!isOld) return {};
  if (is === 'node renamed') {
    const renamed = { after: withNodes(after, node, { name: `${node.name}r` }) };
    return declared ? { ...renamed, ...renaming(pair, 'nodes', node, `${node.name}r`) } : renamed;
  }
  const { label } = node;
  const isJoined = after.join !== null && [...after.join.from, after.join.to].includes(label);
  const nodes = after.nodes
    .filter((each) => each !== node)
    .map((each) => ({ ...each, edges: each.edges.filter((to) => to !== label) }));
  const without = { after: { ...after, nodes, join: isJoined ? null : after.join } };
  return declared ? { ...without, ...removing(pair, node.name) } : without;
}

function channelChanged(pair: GraphPair, { is, at, declared }: Placed): Partial<GraphPair> {
  const { after, before } = pair;
  const channel = after.channels[at % after.channels.length];
  if (channel === undefined || !before.channels.includes(channel)) return {};
  if (is === 'channel renamed') {
    const name = `${channel.name}r`;
    const channels = after.channels.map((each) => (each === channel ? { ...each, name } : each));
    const renamed = { after: { ...after, channels } };
    return declared ? { ...renamed, ...renaming(pair, 'channels', channel, name) } : renamed;
  }
  const channels = after.channels.filter((each) => each !== channel);
  const nodes = after.nodes.map((each) => (each.writes === channel.label ? { ...each, writes: null } : each));
  const without = { after: { ...after, channels, nodes } };
  return declared ? { ...without, ...removing(pair, channel.name) } : without;
}

const renaming = (
  { declared, oldNames }: GraphPair,
  kind: 'nodes' | 'channels',
  { label, name }: PairChannel,
  to: string,
): Pick<GraphPair, 'declared' | 'oldNames'> => ({
  declared: {
    ...declared,
    renamed: { ...declared.renamed, [kind]: { ...declared.renamed?.[kind], [name]: to } },
  },
  oldNames: { ...oldNames, [label]: name },
});

/** `graph` as if nothing that was declared as renamed had another name. */
export function underOldNames({ after, oldNames }: GraphPair): PairGraph {
  const back = <T extends PairChannel>(each: T): T => ({ ...each, name: oldNames[each.label] ?? each.name });
  return { ...after, nodes: after.nodes.map(back), channels: after.channels.map(back) };
}

type State = Readonly<Record<string, unknown>>;

interface LooseBuilder {
  addNode(name: string, run: unknown): unknown;
  addEdge(from: string | string[], to: string): unknown;
  addConditionalEdges(from: string, route: () => unknown): unknown;
  compile(options?: object): LooseGraph;
}

interface LooseGraph {
  invoke(input: unknown, config: object): Promise<unknown>;
  getState(config: object): Promise<{
    readonly values: State;
    readonly tasks: readonly {
      readonly name: string;
      readonly interrupts: readonly { readonly id?: string }[];
    }[];
  }>;
}

/** @param asks - Whether its gates are interrupts of its nodes, as without an engine. */
export function buildPairGraph(
  graph: PairGraph,
  { asks, onCall = () => {} }: { readonly asks: boolean; readonly onCall?: (label: string) => void },
): LooseBuilder {
  const sum = Annotation<number>({ reducer: (left, right) => left + right, default: () => 0 });
  const log = Annotation<string[]>({ reducer: (left, right) => [...left, ...right], default: () => [] });
  const schema = Annotation.Root({
    log,
    ...Object.fromEntries(graph.channels.map(({ name }) => [name, sum])),
  });
  const nameOf = (label: string): string => graph.nodes.find((each) => each.label === label)?.name ?? label;
  const channelOf = (label: string | null) => graph.channels.find((each) => each.label === label)?.name;
  const builder = new StateGraph(schema) as unknown as LooseBuilder;
  const work =
    ({ label, kind, gate, writes }: PairNode) =>
    (state: State) => {
      onCall(label);
      if (asks && gate) interrupt('gate');
      const seen = graph.channels.map((each) => `${each.label}${state[each.name]}`).join('');
      const said = kind === 'ask' || kind === 'askingGraph' ? interrupt('what') : '';
      const channel = channelOf(writes);
      return { log: [`${label}${said}(${seen})`], ...(channel !== undefined && { [channel]: 1 }) };
    };
  for (const each of graph.nodes) {
    const inner = new StateGraph(schema) as unknown as LooseBuilder;
    if (isGraph(each.kind)) {
      inner.addNode('inner', work(each));
      inner.addEdge(START, 'inner');
    }
    builder.addNode(each.name, isGraph(each.kind) ? inner.compile() : work(each));
  }
  const first = graph.nodes.slice(0, 2).map(({ name }) => name);
  // A way that may lead anywhere: no node is unreachable, whatever edge is gone.
  builder.addConditionalEdges(START, () => first);
  for (const { name, edges } of graph.nodes) for (const to of edges) builder.addEdge(name, nameOf(to));
  const { join } = graph;
  if (join !== null) builder.addEdge(join.from.map(nameOf), nameOf(join.to));
  return builder;
}

/** More rounds than any of these graphs has. */
export const ENOUGH = 30;

const AT = { configurable: { thread_id: 'run' }, durability: 'sync' };

/** What LangGraph alone asks. A run that asks nothing has ended: LangGraph lists a node that is joined to as next for ever. */
async function openIn(graph: LooseGraph): Promise<readonly string[]> {
  const { tasks } = await graph.getState(AT);
  return tasks.flatMap(({ interrupts }) => interrupts.map(({ id }) => id ?? ''));
}

/** Answers everything that LangGraph alone asks, so many times; false once it has ended. */
async function answered(graph: LooseGraph, rounds: number): Promise<boolean> {
  for (let round = 0; round < rounds; round += 1) {
    const open = await openIn(graph);
    if (open.length === 0) return false;
    await graph.invoke(new Command({ resume: Object.fromEntries(open.map((id) => [id, '!'])) }), AT);
  }
  return (await openIn(graph)).length > 0;
}

interface EndOfLangGraph {
  readonly values: Readonly<Record<string, unknown>>;
  /** Where it stood when its graph changed: nodes of that super-step, and those of them that ask. */
  readonly due: readonly string[];
  readonly asking: readonly string[];
}

/** What LangGraph alone ends with: its own saver, the same change of the graph; `null` where the run had ended before. */
export async function endOfLangGraph(pair: GraphPair): Promise<EndOfLangGraph | null> {
  const checkpointer = new MemorySaver();
  const before = buildPairGraph(pair.before, { asks: true }).compile({ checkpointer });
  await before.invoke({ log: ['begun'] }, AT);
  if (!(await answered(before, pair.rounds))) return null;
  const { tasks } = await before.getState(AT);
  const asking = tasks.filter(({ interrupts }) => interrupts.length > 0).map(({ name }) => name);
  const graph = underOldNames(pair);
  const after = buildPairGraph(graph, { asks: true }).compile({ checkpointer });
  await answered(after, ENOUGH);
  const values = byLabel((await after.getState(AT)).values, graph);
  return { values, due: tasks.map(({ name }) => name), asking };
}

/** Values by what their channels are, whatever their names. */
export function byLabel(values: State, { channels }: PairGraph): Readonly<Record<string, unknown>> {
  return {
    log: values['log'],
    ...Object.fromEntries(channels.map(({ label, name }) => [label, values[name]])),
  };
}

/** Whether the run stands on a change, or would pass a gate: by the description of the graphs alone. */
export function standsOnChange(pair: GraphPair, { due, asking }: EndOfLangGraph): boolean {
  const { before, after, oldNames } = pair;
  const removed = pair.declared.removed as readonly string[];
  const now = ({ label, name }: PairNode): PairNode | undefined =>
    after.nodes.find((each) => each.label === label && (each.name === name || oldNames[label] === name));
  const finished = before.nodes.filter(({ name }) => due.includes(name) && !asking.includes(name));
  const next = finished.flatMap(({ edges }) => edges);
  const isOther = (node: PairNode): boolean => {
    const is = now(node);
    if (is === undefined) return due.includes(node.name) || next.includes(node.label);
    return asking.includes(node.name) && (isGraph(is.kind) !== isGraph(node.kind) || is.gate !== node.gate);
  };
  const isPassed = (node: PairNode): boolean =>
    node.gate && now(node)?.gate !== true && !removed.includes(node.name);
  return before.version !== after.version || before.nodes.some((node) => isOther(node) || isPassed(node));
}

/** Whether it may be refused besides: a join that is half full is gone, or names change around a graph that waits inside a node. */
export function mayBeRefused({ before, after, oldNames }: GraphPair, { asking }: EndOfLangGraph): boolean {
  const isInside = before.nodes.some(({ name, kind }) => asking.includes(name) && isGraph(kind));
  const joined = before.join === null ? [] : [...before.join.from, before.join.to];
  const isJoinGone = before.nodes.some(
    ({ label, name }) => joined.includes(label) && after.nodes.every((each) => each.name !== name),
  );
  return isJoinGone || (isInside && Object.keys(oldNames).length > 0);
}
