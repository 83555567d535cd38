import type { Checkpoint, CheckpointTuple } from '@langchain/langgraph-checkpoint';
import { hashBytes } from '../../state/blobs/BlobStore.ts';
import type { SqliteSaver } from '../saver/SqliteSaver.ts';
import { namespaceIn } from './StoredThread.ts';

type Versions = Readonly<Record<string, number>>;

/** A checkpoint with its new channels. */
interface VersionedCheckpoint {
  readonly tuple: CheckpointTuple;
  readonly newVersions: Record<string, number>;
}

/** 2^16 values of one version stay below the next whole number. */
const FRACTION = 1 / 2 ** 16;

/**
 * Gives each value its own version. In LangGraph two branches of one checkpoint give two values the same version.
 *
 * @param tuples - Oldest first.
 */
export async function withDistinctVersions(
  tuples: readonly CheckpointTuple[],
  { serde }: Pick<SqliteSaver, 'serde'>,
): Promise<readonly VersionedCheckpoint[]> {
  const known = new Map<string, Map<string, number>>();
  const versioned: VersionedCheckpoint[] = [];
  for (const tuple of tuples) {
    const { checkpoint } = tuple;
    const moved: Record<string, number> = {};
    const newVersions: Record<string, number> = {};
    for (const [channel, version] of Object.entries(checkpoint.channel_versions as Versions)) {
      const place = JSON.stringify([namespaceIn(tuple), channel, version]);
      const values = known.get(place) ?? new Map<string, number>();
      known.set(place, values);
      const digest = await digestOf(checkpoint, channel, serde);
      const unique = values.get(digest) ?? version + values.size * FRACTION;
      if (!values.has(digest)) newVersions[channel] = unique;
      values.set(digest, unique);
      if (unique !== version) moved[channel] = unique;
    }
    versioned.push({ tuple: { ...tuple, checkpoint: withVersions(checkpoint, moved) }, newVersions });
  }
  return versioned;
}

async function digestOf(
  { channel_values: values }: Checkpoint,
  channel: string,
  serde: SqliteSaver['serde'],
): Promise<string> {
  if (!Object.hasOwn(values, channel)) return '';
  const [type, bytes] = await serde.dumpsTyped(values[channel]);
  return `${type} ${Buffer.from(hashBytes(bytes)).toString('hex')}`;
}

/** A node that has seen the old version has seen the new one. */
function withVersions(checkpoint: Checkpoint, moved: Versions): Checkpoint {
  if (Object.keys(moved).length === 0) return checkpoint;
  const before = checkpoint.channel_versions;
  const versions_seen = Object.fromEntries(
    Object.entries(checkpoint.versions_seen).map(([node, seen]) => [
      node,
      Object.fromEntries(
        Object.entries(seen).map(([channel, version]) => [
          channel,
          version === before[channel] ? (moved[channel] ?? version) : version,
        ]),
      ),
    ]),
  );
  return { ...checkpoint, channel_versions: { ...before, ...moved }, versions_seen };
}
