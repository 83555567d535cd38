import {
  GraphInterrupt,
  type Interrupt,
  isGraphInterrupt,
  type LangGraphRunnableConfig,
} from '@langchain/langgraph';
import type { BaseCheckpointSaver, CheckpointTuple } from '@langchain/langgraph-checkpoint';
import { breakpointId, dueBreakpoint, type InnerBreakpoint, ownValues } from '../breakpoints/Breakpoint.ts';
import { type InnerBreakpoints, namespacePath } from '../breakpoints/innerBreakpoints.ts';
import { nextNodes } from '../breakpoints/nextNodes.ts';
import type { EngineStore } from '../EngineStore.ts';
import type { NodeExecution } from '../nodeExecution.ts';

interface Inside {
  readonly store: EngineStore | null;
  readonly breakpoints?: InnerBreakpoints;
}

/** A graph inside a node, at its latest checkpoint. */
interface InnerCheckpoint {
  readonly checkpointNs: string;
  readonly tuple: CheckpointTuple;
}

/**
 * What a node is left with: where a graph inside it stands at a breakpoint, LangGraph's interrupt says nothing, and is
 * given a question for each such graph. Where another question was asked beside, that one goes first.
 */
export async function withInnerBreakpoints(
  error: unknown,
  config: LangGraphRunnableConfig,
  visit: NodeExecution,
  { store, breakpoints = new Map() }: Inside,
): Promise<unknown> {
  if (!isGraphInterrupt(error) || error.interrupts.length > 0) return error;
  const saver = config.configurable?.['__pregel_checkpointer'] as BaseCheckpointSaver | undefined;
  if (store === null || saver === undefined || visit.epoch === null) return error;
  const all = await innerCheckpointIn(config, visit, { store, saver });
  const innermost = all.filter((one) => !all.some((other) => isInsideOf(other, one)));
  const due = innermost.filter(({ tuple }) => nextNodes(tuple.checkpoint).length > 0);
  const stopped = due.length > 0 ? due : innermost.slice(-1);
  return new GraphInterrupt(
    await Promise.all(stopped.map((one) => interruptAt(one, visit, { saver, breakpoints }))),
  );
}

/** The graphs that have begun in this visit and are in the middle of nothing, in the order of their checkpoints. */
async function innerCheckpointIn(
  { configurable = {} }: LangGraphRunnableConfig,
  { frame, node, checkpointId }: NodeExecution,
  { store, saver }: { readonly store: EngineStore; readonly saver: BaseCheckpointSaver },
): Promise<readonly InnerCheckpoint[]> {
  const since = store.checkpoints.findSeq(checkpointId ?? '', frame) ?? 0;
  // A graph with `checkpointer: true` is kept without the ids of the tasks.
  const names = [...new Set([String(configurable['checkpoint_ns']), node])];
  const within = names.flatMap((checkpointNs) =>
    store.checkpoints.namespacesWithin({ threadId: frame, checkpointNs }).filter(({ seq }) => seq > since),
  );
  const tuples = await Promise.all(
    within
      .toSorted((one, other) => one.seq - other.seq)
      .map(async ({ checkpointNs }) => {
        const at = { thread_id: frame, checkpoint_ns: checkpointNs };
        return { checkpointNs, tuple: await saver.getTuple({ configurable: at }) };
      }),
  );
  return tuples.filter(
    (one): one is InnerCheckpoint => one.tuple !== undefined && (one.tuple.pendingWrites ?? []).length === 0,
  );
}

/** Whether a graph was begun by a task that starts from the checkpoint at which another one stands. */
function isInsideOf({ tuple }: InnerCheckpoint, { checkpointNs, tuple: outer }: InnerCheckpoint): boolean {
  return tuple.metadata?.parents?.[checkpointNs] === outer.checkpoint.id;
}

async function interruptAt(
  { checkpointNs, tuple }: InnerCheckpoint,
  { frame }: NodeExecution,
  { saver, breakpoints }: { readonly saver: BaseCheckpointSaver; readonly breakpoints: InnerBreakpoints },
): Promise<Interrupt<InnerBreakpoint>> {
  const graph = namespacePath(checkpointNs);
  const next = nextNodes(tuple.checkpoint);
  const known = breakpoints.get(graph.join('|'));
  const parent = tuple.parentConfig && (await saver.getTuple(tuple.parentConfig));
  const due = known === undefined ? null : dueBreakpoint(known, { tuple, parent });
  const at = { thread: frame, checkpointNs, step: tuple.metadata?.step ?? 0 };
  const breakpoint = { graph, ...(due ?? { nodes: next }), next };
  return { id: breakpointId(at), value: { breakpoint, values: ownValues(tuple.checkpoint), at } };
}
