import { isDeepStrictEqual } from 'node:util';
import {
  type ChannelVersions,
  type Checkpoint,
  type CheckpointPendingWrite,
  type CheckpointTuple,
  maxChannelVersion,
  uuid6,
} from '@langchain/langgraph-checkpoint';
import { isOutput } from '../saver/openQuestions.ts';
import { type GraphMapping, isTrigger } from './GraphMapping.ts';

/** Where a run stands, under the new names: a checkpoint on top of the latest, and what its tasks have put out. */
export interface MovedTuple {
  readonly checkpoint: Checkpoint;
  /** Under their old task ids. */
  readonly outputs: readonly CheckpointPendingWrite[];
}

/** What a new checkpoint takes from outside. */
interface Seams {
  readonly nextVersion: (current: number | undefined) => number;
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number;
}

/** `null` when nothing in the tuple has an old name: the run can go on from it as it is. */
export function movedTuple(
  tuple: CheckpointTuple,
  mapping: GraphMapping,
  { nextVersion, now }: Seams,
): MovedTuple | null {
  const before = (tuple.pendingWrites ?? []).filter(([, channel]) => isOutput(channel));
  const outputs = before.flatMap(([taskId, channel, value]): CheckpointPendingWrite[] => {
    const to = mapping.channel(channel);
    return to === null ? [] : [[taskId, to, movedValue(channel, value, mapping)]];
  });
  const newest = maxChannelVersion(...Object.values(tuple.checkpoint.channel_versions));
  const moved = movedCheckpoint(tuple.checkpoint, mapping, nextVersion(newest as number | undefined));
  if (moved === null && isDeepStrictEqual(outputs, before)) return null;
  const checkpoint = {
    ...(moved ?? tuple.checkpoint),
    id: uuid6(tuple.metadata?.step ?? 0),
    ts: new Date(now()).toISOString(),
  };
  return { checkpoint, outputs };
}

/** LangGraph's channel for the input of a run. */
const START = '__start__';

type ChannelVersion = ChannelVersions[string];
type MovedVersions = Readonly<Record<string, ChannelVersion>>;

/**
 * A checkpoint under the new names of its nodes and channels; `null` when it has none of the old names. Pure.
 *
 * @param version - Newer than all of the checkpoint's, for channels whose name changes: channels of one super-step share
 *   a version, so under its own the value of one name would be read for another.
 */
function movedCheckpoint(
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

function mapValues<T, U>(
  values: Readonly<Record<string, T>>,
  change: (value: T, name: string) => U,
): Record<string, U> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value, name)]));
}

/** The input is an object of channels; a join is the names of the nodes it has seen. Other values hold no names. */
function movedValue(channel: string, value: unknown, mapping: GraphMapping): unknown {
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

/** Names by which the run is about to go on: of channels that make a node run, and of nodes it was sent to. */
export function dueIn({ checkpoint, pendingWrites = [] }: CheckpointTuple): {
  readonly triggers: readonly string[];
  readonly sentTo: readonly string[];
} {
  const entries = [
    ...Object.entries(checkpoint.channel_values),
    ...pendingWrites.map(([, channel, value]) => [channel, value] as const),
  ];
  const triggers = entries.filter(([channel, value]) => isTrigger(channel) && !isIdleJoin(value));
  const sends = entries.filter(([channel]) => channel === '__pregel_tasks').map(([, value]) => value);
  return { triggers: triggers.map(([channel]) => channel), sentTo: sends.flat().flatMap(nodeOf) };
}

/** A join is kept while it has seen nobody; the trigger of a branch holds what its writer gave, often `null`. */
function isIdleJoin(value: unknown): boolean {
  return Array.isArray(value) && value.flat().every((seen) => typeof seen !== 'string');
}

function nodeOf(packet: unknown): readonly string[] {
  const node = (packet as { readonly node?: unknown } | null)?.node;
  return typeof node === 'string' ? [node] : [];
}
