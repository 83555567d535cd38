import { DevsError } from '../../errors/DevsError.ts';
import type { Thread } from '../../state/threads/ThreadStore.ts';
import { type GraphShape, graphFingerprint } from './graphShape.ts';

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

/** `sub` of `sub:publish`, the name of a gate inside a node. */
const outermostNode = (name: string): string => name.split(':')[0] ?? '';

const formatQuestionKind = (kind: string | undefined): string =>
  kind === undefined ? 'nothing' : `for ${kind}`;
