import type { ChannelVersions, Checkpoint, CheckpointMetadata } from '@langchain/langgraph-checkpoint';

/** LangGraph's channels that call a node: an edge or a branch, and an edge that waits for several nodes. */
const TRIGGER = /^(?:branch:to:|join:.*:)(?<node>.+)$/s;

/**
 * The checkpoint of a super-step with every trigger that had its effect marked as seen.
 *
 * A node that two triggers call in one super-step runs once, and LangGraph marks only the first of them. Whoever goes
 * on from a stored checkpoint then runs the node a second time. After a super-step only the channels written in it
 * call anybody, so every other trigger is settled.
 */
export function withSettledTriggers(
  checkpoint: Checkpoint,
  { source }: CheckpointMetadata,
  newVersions: ChannelVersions,
): Checkpoint {
  if (source !== 'loop') return checkpoint;
  const seen = { ...checkpoint.versions_seen };
  for (const [channel, version] of Object.entries(checkpoint.channel_versions)) {
    const node = TRIGGER.exec(channel)?.groups?.['node'];
    if (node === undefined || Object.hasOwn(newVersions, channel)) continue;
    if (seen[node]?.[channel] !== version) seen[node] = { ...seen[node], [channel]: version };
  }
  return { ...checkpoint, versions_seen: seen };
}
