import type { ChannelVersions, Checkpoint } from '@langchain/langgraph-checkpoint';

/**
 * The versions of all channels that have a value: what a checkpoint stores whose caller does not say what is new in it.
 * A version without a value is left out, because the value may have been stored with it before.
 */
export function versionsOfValues({
  channel_values: values,
  channel_versions: versions,
}: Checkpoint): ChannelVersions {
  return Object.fromEntries(Object.entries(versions).filter(([channel]) => Object.hasOwn(values, channel)));
}
