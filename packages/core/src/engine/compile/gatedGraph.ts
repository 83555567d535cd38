import { Runnable } from '@langchain/core/runnables';
import { Annotation, type LangGraphRunnableConfig, StateGraph } from '@langchain/langgraph';
import { nodeExecutionOf, writeChannels } from '../execution/nodeExecution.ts';
import type { AnyGate, DeclaredGates } from '../gates/parsedGates.ts';
import type { NodeEngine } from '../graph/NodeEngine.ts';
import { askDeclared, askToolCalls } from '../node/askDeclared.ts';
import { copyWith, decidedWrites, foldUpdate, isReduced, NodeOutput } from '../node/nodeOutput.ts';
import type { GuardedNode, NodeFunction } from '../node/runNode.ts';

/** A node in a builder. */
export interface NodeRunnable {
  invoke(state: unknown, config: object): Promise<unknown>;
}

/** LangGraph's wrapper of a node that is a function; a test compares it with the installed version. */
interface FunctionRunnable extends NodeRunnable {
  readonly trace: false;
  /** Added to the configuration of a call: its tags. */
  readonly config?: object;
  /** Whether a runnable that it returns is run. */
  readonly recurse: boolean;
  func(state: unknown, config: object): unknown;
}

/**
 * How a guarded node calls the author's. A function is called as it is: its wrapper would set up once more the context
 * and the trace that the guard's own wrapper has just set up, which costs a tenth of a super-step.
 */
export function callOf(runnable: NodeRunnable): (state: unknown, config: object) => Promise<unknown> {
  if (!isFunctionRunnable(runnable)) return (state, config) => runnable.invoke(state, config);
  return async (state, config) => {
    const returned = await runnable.func(state, config);
    return Runnable.isRunnable(returned) ? await returned.invoke(state, config) : returned;
  };
}

function isFunctionRunnable(runnable: NodeRunnable): runnable is FunctionRunnable {
  const { trace, func, recurse, config } = runnable as Partial<FunctionRunnable>;
  return trace === false && typeof func === 'function' && recurse === true && config === undefined;
}

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

/** Whether the runnable of a node is a compiled graph. */
export const isGraph = (runnable: unknown): runnable is PregelFields =>
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
