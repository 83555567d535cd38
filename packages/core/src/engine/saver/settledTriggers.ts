import type { ChannelVersions, Checkpoint, CheckpointMetadata } from '@langchain/langgraph-checkpoint';
import { callsItsNode, TRIGGER } from '../breakpoints/nextNodes.ts';

/**
 * The checkpoint of a super-step with every trigger that had its effect marked as seen.
 *
 * A node that two triggers call in one super-step runs once, and LangGraph marks only the first of them. Whoever goes
 * on from a stored checkpoint then runs the node a second time. After a super-step only the channels written in it
 * call anybody, so every other trigger is settled. One that calls nobody is left alone: by the versions a node has seen,
 * LangGraph's `updateState` knows which node ran last.
 */
export function withSettledTriggers(
  checkpoint: Checkpoint,
  { source }: CheckpointMetadata,
  newVersions: ChannelVersions,
): Checkpoint {
  if (source !== 'loop') return checkpoint;
  const seen = { ...checkpoint.versions_seen };
  for (const [channel, version] of Object.entries(checkpoint.channel_versions)) {
    const { node, starts } = TRIGGER.exec(channel)?.groups ?? {};
    if (node === undefined || Object.hasOwn(newVersions, channel)) continue;
    if (!callsItsNode(checkpoint.channel_values[channel], starts)) continue;
    if (seen[node]?.[channel] !== version) seen[node] = { ...seen[node], [channel]: version };
  }
  return { ...checkpoint, versions_seen: seen };
}
