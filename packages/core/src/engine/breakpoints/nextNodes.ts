import type { Checkpoint } from '@langchain/langgraph-checkpoint';
import { callsItsNode, TRIGGER } from './triggers.ts';

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
