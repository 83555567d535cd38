import { isDeepStrictEqual } from 'node:util';
import {
  type Checkpoint,
  type CheckpointPendingWrite,
  type CheckpointTuple,
  maxChannelVersion,
  uuid6,
} from '@langchain/langgraph-checkpoint';
import { isOutput } from '../drive/openQuestions.ts';
import { type GraphMapping, isTrigger } from './GraphMapping.ts';
import { movedCheckpoint, movedValue } from './movedCheckpoint.ts';

/** Where a run stands, under the new names: a checkpoint on top of the latest, and what its tasks have put out. */
export interface MovedTuple {
  readonly checkpoint: Checkpoint;
  /** Under their old task ids. */
  readonly outputs: readonly CheckpointPendingWrite[];
}

/** What a new checkpoint takes from outside. */
export interface Seams {
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
