import { isDeepStrictEqual } from 'node:util';
import { DevsError } from '../../errors/DevsError.ts';
import type { HitlSessionKind } from '../../state/gates/hitlSession.ts';
import type { StateFile } from '../../state/StateFile.ts';
import type { Policies, Thread } from '../../state/threads/threadRecords.ts';
import { hashOf } from '../../values/canonicalJson.ts';

// Which graph a run belongs to: its shape, how that differs from the recorded one, and the name of the graph.

/**
 * What a waiting run depends on: names, questions and the author's version. Not edges and not code: those may change
 * under a run that waits. Kept with the run, so that a changed graph can be told from it name by name.
 */
export interface GraphShape {
  /** Sorted. */
  readonly nodes: readonly string[];
  /** Sorted. The author's channels and the guards' own; not LangGraph's triggers. */
  readonly channels: readonly string[];
  /** Nodes that ask a human by declaration, with the kind of their question. */
  readonly gates: Readonly<Record<string, HitlSessionKind>>;
  /** The author's own word for "compatible". */
  readonly version: string;
  /** Nodes that are graphs; sorted. Not part of the fingerprint. @defaultValue a run of an older release does not know */
  readonly subgraphs?: readonly string[];
  /** Form of answer of each declared gate. Not part of the fingerprint. @defaultValue as `subgraphs` */
  readonly answers?: Readonly<Record<string, string>>;
}

/** A shape with its names in order: the order in which a program declares them means nothing. */
export function graphShape({ nodes, channels, subgraphs = [], ...shape }: GraphShape): GraphShape {
  return {
    ...shape,
    nodes: [...nodes].sort(),
    channels: [...channels].sort(),
    subgraphs: [...subgraphs].sort(),
  };
}

/** A program asks for that of its own graph at every drive. */
const fingerprints = new WeakMap<GraphShape, string>();

/** SHA-256 (hex); equal for the same shape in every process. */
export function graphFingerprint(shape: GraphShape): string {
  const { nodes, channels, gates, version } = shape;
  const fingerprint = fingerprints.get(shape) ?? hashOf({ nodes, channels, gates, version });
  fingerprints.set(shape, fingerprint);
  return fingerprint;
}

/** Whether a run was started on this graph or taken by it. Members that an older release did not record count as equal. */
export function isSameGraph(thread: Pick<Thread, 'graphFingerprint' | 'policies'>, now: GraphShape): boolean {
  if (thread.graphFingerprint !== graphFingerprint(now)) return false;
  const { subgraphs, answers } = recordedShape(thread) ?? {};
  const isAsRecorded = (before: unknown, here: unknown): boolean =>
    before === undefined || isDeepStrictEqual(before, here);
  return isAsRecorded(subgraphs, now.subgraphs) && isAsRecorded(answers, now.answers);
}

/** What runs of a graph are called among those of others. @throws TypeError */
export function graphName(name: string | undefined, option = 'graph'): string {
  if (typeof name === 'string' && /^[\w-]{1,40}$/.test(name)) return name;
  throw new TypeError(
    `\`${option}\` must be a name of 1 to 40 characters A-Z a-z 0-9 _ -, got ${String(name)}.`,
  );
}

/**
 * A run goes on only with a graph of the shape it was started with: going on with another could drop the node it
 * waits in without a word.
 *
 * @throws DevsError `GRAPH_CHANGED`, with every difference in its message.
 */
export function assertSameGraph(thread: Thread, now: GraphShape): void {
  const { threadId, graphFingerprint: recorded } = thread;
  if (recorded === graphFingerprint(now)) return;
  const changes = graphChanges(recordedShape(thread), now);
  throw new DevsError(`Run "${threadId}" was started with another graph: ${changes.join('; ')}.`, {
    code: 'GRAPH_CHANGED',
    remedy:
      'Resume the run with the version of the program that started it, or declare the renamed and removed names with acceptGraph() or devs accept-graph.',
    context: { threadId, changes: changes.join('; ') },
  });
}

/** The shape of the graph a run was started on or last accepted with; `null` for runs older than this record. */
export function recordedShape({ policies }: Pick<Thread, 'policies'>): GraphShape | null {
  return (policies['graph'] ?? null) as GraphShape | null;
}

/** Every difference between two shapes, for people. A renamed name is one that is gone and one that is new. */
export function graphChanges(before: GraphShape | null, now: GraphShape): readonly string[] {
  if (before === null) return ['its names were not recorded'];
  const changes = [
    ...nameChanges('node', before.nodes, now.nodes),
    ...nameChanges('channel', before.channels, now.channels),
    ...gateChanges(before, now),
    ...formChanges(before, now),
  ];
  if (before.version === now.version) return changes;
  return [...changes, `version "${before.version}" became "${now.version}"`];
}

function nameChanges(what: string, before: readonly string[], now: readonly string[]): readonly string[] {
  const gone = before.filter((name) => !now.includes(name));
  const added = now.filter((name) => !before.includes(name));
  return [
    ...gone.map((name) => `${what} "${name}" is gone`),
    ...added.map((name) => `${what} "${name}" is new`),
  ];
}

/** Gates of nodes that both have: a node that came or went took its gate with it. */
function gateChanges(
  { nodes, gates: before }: GraphShape,
  { nodes: left, gates: now }: GraphShape,
): readonly string[] {
  const inBoth = (name: string): boolean =>
    nodes.includes(outermostNode(name)) && left.includes(outermostNode(name));
  return [...new Set([...nodes, ...Object.keys(before), ...Object.keys(now)])]
    .filter((node) => inBoth(node) && before[node] !== now[node])
    .map(
      (node) =>
        `node "${node}" asks ${formatQuestionKind(now[node])}, previously ${formatQuestionKind(before[node])}`,
    );
}

/** Of nodes and gates that both have under the same name. */
function formChanges(before: GraphShape, now: GraphShape): readonly string[] {
  const { subgraphs, answers = {} } = before;
  const turned = before.nodes.filter(
    (name) => now.nodes.includes(name) && subgraphs?.includes(name) !== now.subgraphs?.includes(name),
  );
  const taken = Object.keys(answers).filter(
    (gate) => now.answers?.[gate] !== undefined && now.answers[gate] !== answers[gate],
  );
  return [
    ...(subgraphs === undefined ? [] : turned).map((name) =>
      now.subgraphs?.includes(name)
        ? `node "${name}" is a subgraph now`
        : `node "${name}" is no subgraph now`,
    ),
    ...taken.map((gate) => `gate "${gate}" takes another answer`),
  ];
}

/** `sub` of `sub:publish`, the name of a gate inside a node. */
const outermostNode = (name: string): string => name.split(':')[0] ?? '';

const formatQuestionKind = (kind: string | undefined): string =>
  kind === undefined ? 'nothing' : `for ${kind}`;

/** Among a run's policies. */
const RECORDED_AS = 'graphName';

/** What a run says of the graph that it was started with, for its policies. */
export const recordedAs = (name: string | undefined): Policies =>
  name === undefined ? {} : { [RECORDED_AS]: name };

/** Whether a run is one of a graph; one that was recorded without a name may be. */
export function isOfGraph(name: string, threadId: string, { threads }: Pick<StateFile, 'threads'>): boolean {
  const recorded = threads.get(threadId)?.policies[RECORDED_AS];
  return recorded === undefined || recorded === name;
}

/** Whether the drivers of a queue drive a run: of its graph, in its shape. */
export const isInQueue = (
  { graph, fingerprint }: { readonly graph: string; readonly fingerprint: string },
  threadId: string,
  store: Pick<StateFile, 'threads'>,
): boolean =>
  store.threads.require(threadId).graphFingerprint === fingerprint && isOfGraph(graph, threadId, store);

/**
 * Two graphs of one shape are two graphs.
 *
 * @param threadIds - A run, and others of its file by one of which it may be meant: a child is its own graph's and its
 *   parent's.
 * @throws DevsError `THREAD_NOT_FOUND` for a run of another graph.
 */
export function assertOfGraph(
  name: string | undefined,
  threadIds: readonly [string, ...string[]],
  store: Pick<StateFile, 'threads'>,
): void {
  if (name === undefined || threadIds.some((id) => isOfGraph(name, id, store))) return;
  const [threadId] = threadIds;
  throw new DevsError(`Run "${threadId}" does not belong to the graph "${name}".`, {
    code: 'THREAD_NOT_FOUND',
    remedy:
      'Use the app of its graph, or another id for the new run. If the graph was renamed, accept its runs with acceptGraph().',
    context: { threadId, graph: name },
  });
}

// Renamed and removed names of an earlier version of a graph, as an author or a human declares them.

/** Old names that a changed graph lacks. */
export interface DeclaredChanges {
  /** Old name → new name. */
  readonly renamed?: {
    readonly nodes?: Readonly<Record<string, string>>;
    readonly channels?: Readonly<Record<string, string>>;
  };
  /**
   * Removed for good; the values of removed channels are dropped. A list names nodes, channels and gates alike. To remove
   * a gate alone, list its name.
   */
  readonly removed?: readonly string[] | RemovedNames;
}

export interface RemovedNames {
  readonly nodes?: readonly string[];
  readonly channels?: readonly string[];
  /** As declared in `gates`: the node's name, or a path like `sub:publish`. */
  readonly gates?: readonly string[];
}

/**
 * Removed names by kind. In a list, a name is that of a node or channel that is gone, else of a gate.
 */
export function removedNames(
  removed: readonly string[] | RemovedNames,
  before: GraphShape,
  now: GraphShape,
): RemovedNames {
  if (!isNameList(removed)) return removed;
  const nodes = removed.filter((name) => before.nodes.includes(name) && !now.nodes.includes(name));
  const channels = removed.filter((name) => before.channels.includes(name) && !now.channels.includes(name));
  const gates = removed.filter((name) => !nodes.includes(name) && !channels.includes(name));
  return { nodes, channels, gates };
}

export const isNameList = (removed: readonly string[] | RemovedNames): removed is readonly string[] =>
  Array.isArray(removed);
