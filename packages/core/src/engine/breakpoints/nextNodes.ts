import type { Checkpoint } from '@langchain/langgraph-checkpoint';

/** LangGraph's channels that call a node: an edge or a branch, and an edge that waits for several nodes. */
export const TRIGGER = /^(?:branch:to:|join:(?<starts>.*):)(?<node>.+)$/s;

/** A channel that was consumed has no value; an edge that waits for several nodes holds the names of those that ran. */
export function callsItsNode(value: unknown, starts: string | undefined): boolean {
  if (starts === undefined) return value !== undefined;
  if (!Array.isArray(value)) return false;
  const [first] = value as readonly unknown[];
  const ran: readonly unknown[] = Array.isArray(first) ? first : value; // beside whether the graph has finished
  return ran.length === starts.split('+').length;
}

/** LangGraph's channel of what was sent. */
const TASKS = '__pregel_tasks';

/** The nodes that run next, as a checkpoint itself tells it: by edges, and by what is sent. */
export function nextNodes({
  channel_values,
  channel_versions,
  versions_seen,
}: Checkpoint): readonly string[] {
  const called = Object.entries(channel_versions).flatMap(([channel, version]) => {
    const { node, starts } = TRIGGER.exec(channel)?.groups ?? {};
    if (node === undefined || !callsItsNode(channel_values[channel], starts)) return [];
    return versions_seen[node]?.[channel] === version ? [] : [node];
  });
  const sends: unknown = channel_values[TASKS];
  const sentTo = (Array.isArray(sends) ? sends.flat() : []).map((send) => String(Object(send).node));
  return [...new Set([...called, ...sentTo])];
}
