import type { LangGraphRunnableConfig } from '@langchain/langgraph';
import { NO_BREAKPOINTS } from '../breakpoints/Breakpoint.ts';
import { GUARD_NAMES, nodeExecutionOf } from '../execution/nodeExecution.ts';
import { type EntrypointGraph, RETURN_CHANNELS } from '../graph/entrypointSource.ts';
import { graphShape } from '../graph/graphShape.ts';
import type { NodeEngine } from '../graph/NodeEngine.ts';
import { copyWith } from '../node/nodeOutput.ts';
import { type GuardedNode, guardNode } from '../node/runNode.ts';
import { untilWritten } from '../node/untilWritten.ts';
import { addGuardChannels, assertLimit, type CompileOptions, ENGINE_CONFIG } from './compileDurable.ts';

/**
 * A guarded copy of an entrypoint with the engine's defaults: its function is the only node. The entrypoint itself stays as
 * it is.
 *
 * @throws RangeError if the depth limit is not a whole number of at least 1.
 */
export function compileEntrypoint<State extends object>(
  entrypoint: EntrypointGraph,
  { checkpointer, engine, version, carried = {} }: CompileOptions<State>,
) {
  assertLimit(engine.maxDepth);
  const { store, cache } = carried;
  const nodes = Object.fromEntries(
    Object.entries(entrypoint.nodes).map(([name, node]) => [name, guardedNode(name, node, engine)]),
  );
  const copy = copyWith(entrypoint, {
    nodes,
    channels: { ...entrypoint.channels },
    triggerToNodes: {},
    ...{ checkpointer, store, cache },
  });
  addGuardChannels(copy);
  const shape = graphShape({
    ...{ nodes: Object.keys(nodes), channels: [...RETURN_CHANNELS, ...GUARD_NAMES], version },
    gates: engine.profile.gates,
    answers: {},
  });
  return { graph: copy.withConfig(ENGINE_CONFIG), shape, breakpoints: NO_BREAKPOINTS };
}

type EntrypointNode = EntrypointGraph['nodes'][string];

function guardedNode<State extends object>(
  name: string,
  node: EntrypointNode,
  engine: NodeEngine<State>,
): EntrypointNode {
  const { bound } = node;
  const guarded: GuardedNode<State> = {
    name,
    run: (input, config) => bound.func(input, config),
    gate: null,
    returnsValue: true,
    stateAt: () => null,
    fold: (state) => state,
    reduces: () => false,
  };
  const run = guardNode(guarded, engine);
  const func = async (input: unknown, config: LangGraphRunnableConfig): Promise<unknown> => {
    const { checkpointId, frame: threadId } = nodeExecutionOf(name, config);
    if (engine.store !== null && checkpointId !== null)
      await untilWritten({ threadId, checkpointId }, config, engine.store);
    return run(input as State, config);
  };
  return copyWith(node, { bound: copyWith(bound, { func }) });
}
