import { Annotation, type LangGraphRunnableConfig, StateGraph } from '@langchain/langgraph';
import { writeChannels } from '../execution/channels.ts';
import { nodeExecutionOf } from '../execution/nodeExecution.ts';
import type { AnyGate, DeclaredGates } from '../gates/parsedGates.ts';
import type { NodeEngine } from '../graph/NodeEngine.ts';
import { askDeclared } from '../node/askDeclared.ts';
import { askToolCalls } from '../node/askToolCalls.ts';
import { copyWith, decidedWrites, foldUpdate, isReduced, NodeOutput } from '../node/nodeOutput.ts';
import type { GuardedNode, NodeFunction } from '../node/runNode.ts';
import { callOf, type NodeRunnable } from './callOf.ts';

/** Between the names on the way to a node of a graph inside a graph. LangGraph takes it in no name of a node. */
const SEPARATOR = ':';

/** The gates of the graph that is node `node`, by their names in there. */
export function gatesWithin<State>(gates: DeclaredGates<State>, node: string): DeclaredGates<State> {
  const prefix = `${node}${SEPARATOR}`;
  const within = [...gates].filter(([path]) => path.startsWith(prefix));
  return new Map(within.map(([path, gate]) => [path.slice(prefix.length), gate]));
}

/** The fields of LangGraph's compiled graphs and of their nodes that are read here; a test compares them with the installed version. */
interface PregelFields extends NodeRunnable {
  readonly lg_is_pregel: true;
  readonly nodes: Readonly<Record<string, CompiledNode>>;
  readonly checkpointer?: unknown;
  readonly builder?: { readonly channels: Readonly<Record<string, unknown>> };
}

interface CompiledNode {
  readonly cachePolicy?: unknown;
  readonly bound: NodeRunnable;
  readonly subgraphs?: readonly unknown[];
}

/**
 * A copy of the graph that is a node, in which some of its nodes ask before they work. The graph itself stays as it is.
 *
 * @param path - The names that lead to it.
 * @throws TypeError if it is no graph, has no such node, or keeps nothing between two calls: its questions would be others
 *   each time.
 */
export function gatedGraph<State extends object>(
  graph: NodeRunnable,
  gates: DeclaredGates<State>,
  { path, engine }: { readonly path: string; readonly engine: NodeEngine<State> },
): NodeRunnable {
  if (!isGraph(graph)) {
    throw new TypeError(`Cannot add a gate inside "${path}": it is not a graph that was added as a node.`);
  }
  if (graph.checkpointer === false) {
    throw new TypeError(
      `Cannot add a gate inside graph "${path}": it is compiled with \`checkpointer: false\`.`,
    );
  }
  const nodes = { ...graph.nodes };
  const names = new Set([...gates.keys()].map((name) => name.split(SEPARATOR)[0] ?? ''));
  for (const name of names) {
    const node = Object.hasOwn(nodes, name) ? nodes[name] : undefined;
    if (node === undefined)
      throw new TypeError(`Cannot add a gate before "${name}" in "${path}": there is no such node.`);
    const inner = gatesWithin(gates, name);
    const below = { path: `${path}${SEPARATOR}${name}`, engine };
    const entered = inner.size === 0 ? node.bound : gatedGraph(node.bound, inner, below);
    const gate = gates.get(name);
    const bound = gate === undefined ? entered : gated({ name, run: entered, gate }, graph, engine);
    const subgraphs = entered === node.bound ? node.subgraphs : [entered];
    // A result from the cache is of nobody’s answer.
    nodes[name] = copyWith(node, { bound, cachePolicy: undefined, ...(subgraphs && { subgraphs }) });
  }
  return copyWith(graph, { nodes });
}

interface Gated<State> {
  readonly name: string;
  readonly run: NodeRunnable;
  readonly gate: AnyGate<State>;
}

function gated<State extends object>(
  { name, run, gate }: Gated<State>,
  { builder }: PregelFields,
  engine: NodeEngine<State>,
): NodeRunnable {
  const channels = builder?.channels ?? {};
  const node = {
    name,
    gate,
    run: callOf(run),
    fold: (state: State, writes: Parameters<typeof foldUpdate>[2]) => foldUpdate(channels, state, writes),
    reduces: (channel: string) => isReduced(channels[channel]),
  };
  return asRunnable(gatedNode(node, engine));
}

/** As LangGraph wraps the function of a node. */
function asRunnable<State>(run: NodeFunction<State>): NodeRunnable {
  const { nodes } = new StateGraph(Annotation.Root({})).addNode('node', run as () => object);
  return (nodes as unknown as { readonly node: { readonly runnable: NodeRunnable } }).node.runnable;
}

const isGraph = (runnable: unknown): runnable is PregelFields =>
  (Object(runnable) as Partial<PregelFields>).lg_is_pregel === true;

type InnerNode<State> = Pick<GuardedNode<State>, 'name' | 'run' | 'fold' | 'reduces'> & {
  readonly gate: AnyGate<State>;
};

/**
 * A node of a graph inside a node, with its gate before it. What else the engine promises is promised around the node of
 * the run's own graph: there its question is recorded, and its output.
 */
function gatedNode<State extends object>(
  { name, gate, run, fold, reduces }: InnerNode<State>,
  { store }: Pick<NodeEngine<State>, 'store'>,
): NodeFunction<State> {
  return async (state: State, config: LangGraphRunnableConfig) => {
    const at = { visit: nodeExecutionOf(name, config), store };
    if ('showCall' in gate) {
      const through = askToolCalls(gate, state, at);
      return through === null
        ? run(state, config)
        : through(run as NodeFunction<never>)(state as never, config);
    }
    const decided = askDeclared(gate, state, at);
    if (decided === null) return run(state, config);
    if (!decided.runNode) return decided.update;
    const writes = Object.entries(decided.update);
    const output = new NodeOutput(await run(writes.length === 0 ? state : fold(state, writes), config));
    const { beside, within } = decidedWrites(writes, output, reduces);
    writeChannels(config, beside);
    return output.toReturn({ before: within });
  };
}
