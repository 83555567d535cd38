import type { StateGraph } from '@langchain/langgraph';
import { readChannels } from '../channels.ts';
import type { DeclaredGates } from '../gates/parsedGates.ts';
import type { RunnerDeps } from '../node/RunnerDeps.ts';
import { type GuardedNode, guardNode } from '../node/runNode.ts';
import { callOf, type NodeRunnable } from './callOf.ts';
import { foldUpdate, isReduced } from './foldUpdate.ts';
import { gatedGraph, gatesWithin } from './gatedGraph.ts';
import { type ErrorHandler, guardErrorHandler, guardHandlerNode } from './guardErrorHandler.ts';

interface BuilderNode {
  readonly runnable: NodeRunnable;
  readonly cachePolicy?: unknown;
  readonly isErrorHandler?: boolean;
}

interface NodeDefaults {
  readonly errorHandler?: ErrorHandler<never>;
}

/**
 * The fields of LangGraph's builder that a copy has to own. It offers no way to wrap the nodes of an existing
 * builder; a test compares this list with the fields of the installed version.
 */
interface BuilderFields {
  nodes: Record<string, BuilderNode>;
  channels: Readonly<Record<string, unknown>>;
  compiled: boolean;
  _nodeDefaults: NodeDefaults;
  addNode(name: string, run: unknown): unknown;
}

/** A copy of `builder` in which every node passes through the runner; `builder` itself stays as it is. */
export function guardBuilder<State extends object, Update, Name extends string>(
  builder: StateGraph<unknown, State, Update, Name>,
  gates: DeclaredGates<State>,
  deps: RunnerDeps<State>,
): StateGraph<unknown, State, Update, Name> {
  const original = builder as unknown as BuilderFields;
  const copy = copyBuilder(original);
  copy._nodeDefaults = guardDefaults(original._nodeDefaults, deps);
  const names = Object.keys(original.channels);
  for (const [name, spec] of Object.entries(original.nodes)) {
    if (spec.isErrorHandler === true) {
      replaceNode(copy, name, spec, guardHandlerNode(spec.runnable, deps));
      continue;
    }
    const within = gatesWithin(gates, name);
    const runnable =
      within.size === 0 ? spec.runnable : gatedGraph(spec.runnable, within, { path: name, deps });
    const node: GuardedNode<State> = {
      name,
      run: callOf(runnable),
      gate: gates.get(name) ?? null,
      stateAt: (config) => readChannels(config, names) as State | null,
      fold: (state, writes) => foldUpdate(original.channels, state, writes),
      reduces: (channel) => isReduced(original.channels[channel]),
    };
    const inside = runnable === spec.runnable ? spec : { ...spec, subgraphs: [runnable] };
    // A result from the cache is of nobody's answer: what a human has let go is done.
    const own = node.gate === null && inside === spec ? spec : { ...inside, cachePolicy: false };
    replaceNode(copy, name, own, guardNode(node, deps));
  }
  return copy as unknown as StateGraph<unknown, State, Update, Name>;
}

/** The same node with another body; LangGraph wraps it. */
function replaceNode(copy: BuilderFields, name: string, spec: BuilderNode, run: unknown): void {
  copy.addNode(name, run);
  copy.nodes[name] = { ...spec, runnable: (copy.nodes[name] as BuilderNode).runnable };
}

function copyBuilder(original: BuilderFields): BuilderFields {
  const copy = Object.assign(Object.create(Object.getPrototypeOf(original)), original) as BuilderFields;
  copy.nodes = {};
  copy.compiled = false;
  return copy;
}

function guardDefaults<State extends object>(
  { errorHandler, ...others }: NodeDefaults,
  deps: RunnerDeps<State>,
): NodeDefaults {
  if (errorHandler === undefined) return others;
  return { ...others, errorHandler: guardErrorHandler(errorHandler as ErrorHandler<State>, deps) };
}
