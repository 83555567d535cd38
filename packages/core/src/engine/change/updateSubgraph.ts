import type { RunnableConfig } from '@langchain/core/runnables';
import { INTERRUPT, type Interrupt } from '@langchain/langgraph';
import type { CheckpointTuple } from '@langchain/langgraph-checkpoint';
import { isRecord } from '../../values/isRecord.ts';
import { namespacePath } from '../breakpoints/Breakpoint.ts';
import type { Engine } from '../drive/Engine.ts';
import type { EngineGraph } from '../graph/EngineGraph.ts';
import { optionalId } from '../saver/checkpointConfig.ts';
import { isOutput, openQuestions } from '../saver/openQuestions.ts';

// Changes the state of a graph inside a node from outside. LangGraph keeps the interrupts of the nodes around it, and runs those
// nodes again. The driver of a run waits for each interrupt that it reads, so they are emptied.

/** A graph inside a node, where it stands. */
export interface InnerGraph {
  readonly checkpointNs: string;
  readonly graph: Subgraph;
  /** The tasks that it does next begin anew. */
  readonly tasks: readonly string[];
  /** A task of it that has finished beside them, or `null`. */
  readonly finished: string | null;
  /** Interrupts that are asked anew. */
  readonly asksAnew: readonly string[];
  /** Interrupts of the run that stay as they are. */
  readonly stays: readonly string[];
  /** The tasks around it that are left with an interrupt, outermost first. */
  readonly around: readonly { readonly config: RunnableConfig; readonly taskId: string }[];
}

export type Subgraph = Pick<
  EngineGraph,
  'channels' | 'nodes' | 'streamChannelsAsIs' | 'getState' | 'updateState'
>;

/**
 * The graph of a state that `getState` with `subgraphs` has read.
 *
 * @returns `null` where the run has gone on since.
 * @throws TypeError for the config of anything else.
 */
export async function innerGraphAt(
  threadId: string,
  config: unknown,
  { graph, saver }: Pick<Engine, 'graph' | 'saver'>,
): Promise<InnerGraph | null> {
  const { checkpointNs, checkpointId } = placeOf(threadId, config);
  const path = namespacePath(checkpointNs).join('|');
  const found = subgraphOf(graph, path);

  const at = { configurable: { thread_id: threadId, checkpoint_ns: checkpointNs } };
  const tuple = await saver.getTuple(at);
  if (tuple === undefined || (checkpointId !== null && tuple.checkpoint.id !== checkpointId)) return null;
  const levels = await levelsAbove(threadId, checkpointNs, saver);
  const root = levels?.[0];
  if (levels == null || root === undefined) return null;
  const { tasks } = await graph.getState({ configurable: { thread_id: threadId } });
  if (!tasks.some(({ id }) => id === root.taskId)) return null;

  // LangGraph takes a checkpointer in the config for that of a graph which is being run.
  const reading = { configurable: { ...at.configurable, __pregel_checkpointer: saver } };
  const next = (await found.getState(reading)).tasks.map(({ id }) => id);
  const written = (tuple.pendingWrites ?? []).find(([, channel]) => isOutput(channel));
  const asksAnew = questionsOf(root);
  return {
    checkpointNs,
    graph: found,
    tasks: next,
    finished: written?.[0] ?? null,
    asksAnew,
    stays: openQuestions(root.tuple)
      .map(({ interruptId }) => interruptId)
      .filter((id) => !asksAnew.includes(id)),
    around: levels
      .filter(isInterrupted)
      .map(({ tuple: { config: around }, taskId }) => ({ config: around, taskId })),
  };
}

/** @throws TypeError */
function subgraphOf(graph: Engine['graph'], path: string) {
  const found = [...(graph.getSubgraphs?.(path, true) ?? [])].find(([name]) => name === path)?.[1];
  if (found === undefined) throw new TypeError(`config: the graph has no subgraph "${path}"`);
  return found;
}

function placeOf(threadId: string, config: unknown) {
  const { configurable } = (isRecord(config) ? config : {}) as RunnableConfig;
  const { thread_id: thread, checkpoint_ns: checkpointNs } = configurable ?? {};
  if (thread !== threadId || typeof checkpointNs !== 'string' || checkpointNs === '')
    throw new TypeError(`config: expected that of the state of a subgraph of run "${threadId}"`);
  return { checkpointNs, checkpointId: optionalId(config as RunnableConfig, 'checkpoint_id') };
}

/** A graph around another one, and the task of it that the other one is in. */
interface Level {
  readonly tuple: CheckpointTuple;
  readonly taskId: string;
}

/** All that the run's own task asks: one that was thrown has its id from there. */
const questionsOf = ({ tuple, taskId }: Level): readonly string[] =>
  (tuple.pendingWrites ?? [])
    .filter(([task, channel]) => task === taskId && channel === INTERRUPT)
    .flatMap(([, , asked]) => (asked as readonly Interrupt[]).map(({ id = '' }) => id));

/** Outermost first; `null` where a checkpoint is missing. */
async function levelsAbove(
  threadId: string,
  checkpointNs: string,
  saver: Engine['saver'],
): Promise<readonly Level[] | null> {
  const levels: Level[] = [];
  const segments = checkpointNs.split('|');
  for (const [at, segment] of segments.entries()) {
    if (!segment.includes(':')) continue; // the number of a further graph of the task before
    const above = segments.slice(0, at).join('|');
    const tuple = await saver.getTuple({ configurable: { thread_id: threadId, checkpoint_ns: above } });
    if (tuple === undefined) return null;
    levels.push({ tuple, taskId: segment.slice(segment.lastIndexOf(':') + 1) });
  }
  return levels;
}

const isInterrupted = ({ tuple, taskId }: Level): boolean =>
  (tuple.pendingWrites ?? []).some(([task, channel]) => task === taskId && channel === INTERRUPT);
