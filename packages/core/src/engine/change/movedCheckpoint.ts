import { isDeepStrictEqual } from 'node:util';
import type { ChannelVersions, Checkpoint } from '@langchain/langgraph-checkpoint';
import type { GraphMapping } from './GraphMapping.ts';

/** LangGraph's channel for the input of a run. */
const START = '__start__';

/**
 * A checkpoint under the new names of its nodes and channels; `null` when it has none of the old names. Pure.
 *
 * @param version - Newer than all of the checkpoint's, for channels whose name changes: channels of one super-step share
 *   a version, so under its own the value of one name would be read for another.
 */
export function movedCheckpoint(
  checkpoint: Checkpoint,
  mapping: GraphMapping,
  version: ChannelVersion,
): Checkpoint | null {
  const { channel_values: values, channel_versions: versions, versions_seen: seenBy } = checkpoint;
  const moved = (channel: string): boolean => mapping.channel(channel) !== channel;
  const seen = (versionsSeen: MovedVersions): MovedVersions =>
    mapValues(versionsSeen, (at, channel) => (moved(channel) && at === versions[channel] ? version : at));
  const renamed: Checkpoint = {
    ...checkpoint,
    channel_values: mapping.channelKeys(mapValues(values, (value, name) => movedValue(name, value, mapping))),
    channel_versions: mapping.channelKeys(mapValues(versions, (at, name) => (moved(name) ? version : at))),
    versions_seen: mapping.nodeKeys(
      mapValues(seenBy, (versionsSeen) => mapping.channelKeys(seen(versionsSeen))),
    ),
  };
  return isDeepStrictEqual(renamed, checkpoint) ? null : renamed;
}

type ChannelVersion = ChannelVersions[string];
type MovedVersions = Readonly<Record<string, ChannelVersion>>;

function mapValues<T, U>(
  values: Readonly<Record<string, T>>,
  change: (value: T, name: string) => U,
): Record<string, U> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value, name)]));
}

/** The input is an object of channels; a join is the names of the nodes it has seen. Other values hold no names. */
export function movedValue(channel: string, value: unknown, mapping: GraphMapping): unknown {
  if (channel === START) return movedInput(value, mapping);
  if (!channel.startsWith('join:')) return value;
  return Array.isArray(value) ? value.map((node) => movedNode(node, mapping)) : movedNode(value, mapping);
}

/** A run's first input under the new names of its channels. */
export function movedInput(input: unknown, mapping: GraphMapping): unknown {
  const isObject =
    typeof input === 'object' && input !== null && Object.getPrototypeOf(input) === Object.prototype;
  return isObject ? mapping.channelKeys(input as Record<string, unknown>) : input;
}

function movedNode(node: unknown, mapping: GraphMapping): unknown {
  return typeof node === 'string' ? mapping.node(node) : node;
}
