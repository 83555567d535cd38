import type { StateGraph } from '@langchain/langgraph';
import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint';
import type { DeclaredGate } from '../node/entry.ts';
import type { RunnerDeps } from '../node/RunnerDeps.ts';
import { type GraphShape, graphShape } from './graphShape.ts';
import { guardBuilder } from './guardBuilder.ts';

/** Far above any guard of ours, so that LangGraph's own limit never fires first (law L7). */
const LANGGRAPH_RECURSION_LIMIT = 1_000_000;

export interface CompileOptions<State> {
  readonly checkpointer: BaseCheckpointSaver;
  readonly deps: RunnerDeps<State>;
  readonly gates: ReadonlyMap<string, DeclaredGate<State>>;
  readonly version: string;
}

/** A `StateGraph`, for the type its own `compile` returns: with its input, output and node names. */
export interface CompilableBuilder {
  compile(options?: never): unknown;
}

export type CompiledOf<Builder extends CompilableBuilder> = ReturnType<Builder['compile']>;

export interface DurableGraph<Builder extends CompilableBuilder> {
  readonly graph: CompiledOf<Builder>;
  readonly shape: GraphShape;
}

/**
 * Compiles a guarded copy of `builder` with the engine's defaults, so that raw LangGraph calls have them too.
 *
 * @throws RangeError if the depth limit is not a whole number of at least 1: compared with NaN, no depth is too deep.
 * @throws TypeError if a gate names a node the graph does not have.
 */
export function compileDurable<
  State extends object,
  Update,
  Name extends string,
  Builder extends CompilableBuilder,
>(
  builder: Builder & StateGraph<unknown, State, Update, Name>,
  { checkpointer, deps, gates, version }: CompileOptions<State>,
): DurableGraph<Builder> {
  assertLimit(deps.maxDepth);
  const nodes = ownNodes(builder.nodes);
  for (const name of gates.keys()) {
    if (!nodes.includes(name)) throw new TypeError(`There is no node "${name}" to put a gate before.`);
  }
  const guarded = guardBuilder(builder, gates, deps);
  const graph = guarded.compile({ checkpointer }).withConfig({
    durability: 'sync',
    recursionLimit: LANGGRAPH_RECURSION_LIMIT,
    configurable: { __pregel_strict_resume: true },
  });
  const channels = Object.keys(guarded.channels);
  const declared = Object.fromEntries([...gates.keys()].map((node) => [node, 'node_gate'] as const));
  const shape = graphShape({ nodes, channels, gates: { ...deps.profile.gates, ...declared }, version });
  // The copy has the builder's own types; LangGraph's `withConfig` forgets them.
  return { graph: graph as unknown as CompiledOf<Builder>, shape };
}

/** LangGraph adds a node for every error handler, named after the node it is for. */
function ownNodes(nodes: Readonly<Record<string, { readonly isErrorHandler?: boolean }>>): readonly string[] {
  return Object.keys(nodes).filter((name) => nodes[name]?.isErrorHandler !== true);
}

function assertLimit(maxDepth: number): void {
  if (Number.isSafeInteger(maxDepth) && maxDepth >= 1) return;
  throw new RangeError(`Expected maxDepth to be a whole number of at least 1, got ${String(maxDepth)}.`);
}
