import type { LangGraphRunnableConfig } from '@langchain/langgraph';
import { writeChannels } from '../channels.ts';
import type { AnyGate } from '../gates/parsedGates.ts';
import { nodeExecutionOf } from '../nodeExecution.ts';
import { askDeclared } from './askDeclared.ts';
import { askToolCalls } from './askToolCalls.ts';
import { decidedWrites, NodeOutput } from './nodeOutput.ts';
import type { RunnerDeps } from './RunnerDeps.ts';
import type { GuardedNode, NodeFunction } from './runNode.ts';

type InnerNode<State> = Pick<GuardedNode<State>, 'name' | 'run' | 'fold' | 'reduces'> & {
  readonly gate: AnyGate<State>;
};

/**
 * A node of a graph inside a node, with its gate before it. What else the engine promises is promised around the node of
 * the run's own graph: there its question is recorded, and its output.
 */
export function gatedNode<State extends object>(
  { name, gate, run, fold, reduces }: InnerNode<State>,
  { store }: Pick<RunnerDeps<State>, 'store'>,
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
