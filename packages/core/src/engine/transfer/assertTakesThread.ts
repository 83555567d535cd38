// Whether a graph can continue a thread: LangGraph itself ignores unknown names.

import type { CheckpointTuple } from '@langchain/langgraph-checkpoint';
import { namespacePath } from '../breakpoints/Breakpoint.ts';
import { dueIn } from '../change/movedCheckpoint.ts';
import type { Engine } from '../drive/Engine.ts';
import type { EngineGraph, RunSnapshot } from '../graph/EngineGraph.ts';
import { isNameList } from '../graph/graphShape.ts';
import { isOutput } from '../saver/openQuestions.ts';
import { NotNormal } from './normalThread.ts';
import { namespaceIn, type StoredThread } from './StoredThread.ts';

const INTERRUPT = '__interrupt__';

type TakingEngine = Pick<Engine, 'graph' | 'graphChanges' | 'shape'>;

/** Names of LangGraph's own channels, of this version and of earlier ones. */
const OF_LANGGRAPH = /^(?:__|branch:|join:|start:)/;

/** LangGraph's task of writes without a task. */
const NULL_TASK_ID = '00000000-0000-0000-0000-000000000000';

/**
 * Why the graph cannot take the thread; `null` where it can.
 *
 * @param state - Of the thread, with `subgraphs`, as this graph reads it.
 */
export function whyNotTaken(
  { tuples }: StoredThread,
  state: RunSnapshot<unknown>,
  engine: TakingEngine,
): NotNormal | null {
  const newest = new Map(tuples.map((tuple) => [namespaceIn(tuple), tuple]));
  for (const [ns, tuple] of newest) {
    const at = graphAt(ns, state, engine);
    const why =
      at === null
        ? null
        : (unknownChannel(tuple, at, engine) ?? missingNode(tuple, at) ?? gateBefore(at, tuple, engine));
    if (why !== null) return why;
  }
  return null;
}

/** A graph with its due tasks. */
interface GraphAt {
  readonly path: readonly string[];
  readonly graph: Pick<EngineGraph, 'channels'> & { readonly nodes?: EngineGraph['nodes'] };
  readonly tasks: RunSnapshot<unknown>['tasks'];
}

/** `null` for a graph that a function calls. */
function graphAt(ns: string, state: RunSnapshot<unknown>, { graph }: TakingEngine): GraphAt | null {
  if (ns === '') return { path: [], graph, tasks: state.tasks };
  const path = namespacePath(ns);
  const [found] = [...(graph.getSubgraphs?.(path.join('|'), true) ?? [])];
  const inside = snapshotAt(ns, '', state);
  return found === undefined || inside === null ? null : { path, graph: found[1], tasks: inside.tasks };
}

function snapshotAt(
  ns: string,
  around: string,
  { tasks }: Pick<RunSnapshot<unknown>, 'tasks'>,
): RunSnapshot<unknown> | null {
  for (const { id, name, state } of tasks) {
    const here = `${around}${name}:${id}`;
    if (state === undefined || !('tasks' in state)) continue;
    if (here === ns) return state;
    if (ns.startsWith(`${here}|`)) return snapshotAt(ns, `${here}|`, state);
  }
  return null;
}

const inGraph = (path: readonly string[]): string =>
  path.length === 0 ? '' : ` of the graph in "${path.join('/')}"`;

function unknownChannel(
  { checkpoint, pendingWrites = [] }: CheckpointTuple,
  { path, graph }: GraphAt,
  { graphChanges: { removed = [] } = {} }: TakingEngine,
): NotNormal | null {
  const given = isNameList(removed) ? removed : (removed.channels ?? []);
  const isKnown = (name: string): boolean =>
    Object.hasOwn(graph.channels, name) ||
    OF_LANGGRAPH.test(name) ||
    Object.hasOwn(checkpoint.versions_seen, name) || // a node of before channels were named after edges
    given.includes(name);
  const written = pendingWrites.map(([, channel]) => channel).filter(isOutput);
  const other = [...Object.keys(checkpoint.channel_values), ...written].find((name) => !isKnown(name));
  if (other === undefined) return null;
  return new NotNormal('channel_missing', `channel "${other}"${inGraph(path)} is not in the graph`);
}

function missingNode(tuple: CheckpointTuple, { path, graph, tasks }: GraphAt): NotNormal | null {
  const { triggers, sentTo } = dueIn(tuple);
  const uncalled = triggers.find((trigger) => !Object.hasOwn(graph.channels, trigger));
  if (uncalled !== undefined)
    return new NotNormal(
      'node_missing',
      `"${uncalled}"${inGraph(path)} is due, but the graph has no node for it`,
    );
  const unsent = sentTo.find((node) => graph.nodes !== undefined && !Object.hasOwn(graph.nodes, node));
  if (unsent !== undefined)
    return new NotNormal(
      'node_missing',
      `a branch was sent to node "${unsent}"${inGraph(path)}, which is not in the graph`,
    );
  const begun = (tuple.pendingWrites ?? [])
    .filter(([taskId, channel]) => taskId !== NULL_TASK_ID && (channel === INTERRUPT || isOutput(channel)))
    .map(([taskId]) => taskId);
  const isLost = begun.some((taskId) => !tasks.some(({ id }) => id === taskId));
  if (!isLost) return null;
  return new NotNormal(
    'node_missing',
    `a node${inGraph(path)} that has begun is not in the graph, or is called otherwise`,
  );
}

/** The answer of a node's own question would go to the gate before it. */
function gateBefore(
  { path, tasks }: GraphAt,
  { pendingWrites = [] }: CheckpointTuple,
  { shape }: TakingEngine,
): NotNormal | null {
  const begun = new Set(pendingWrites.map(([taskId]) => taskId));
  const finished = new Set(
    pendingWrites.filter(([, channel]) => isOutput(channel)).map(([taskId]) => taskId),
  );
  const names = tasks
    .filter(({ id }) => begun.has(id) && !finished.has(id))
    .map(({ name }) => [...path, name].join(':'));
  const gated = names.find((name) => Object.hasOwn(shape.gates, name));
  if (gated === undefined) return null;
  return new NotNormal('gate_declared', `it is in node "${gated}", and the app asks before that node`);
}
