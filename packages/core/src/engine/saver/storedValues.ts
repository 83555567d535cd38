import { transaction } from '../../db/prepare.ts';
import { channelsApart } from '../../state/checkpoints/checkpointRecords.ts';
import type { StateFile } from '../../state/StateFile.ts';
import { VERSIONED_FORMAT } from './checkpointConfig.ts';
import { readPlain } from './strictTags.ts';

/** Written beside a checkpoint by a task that waits or has failed: no part of a state. */
const NO_VALUES: ReadonlySet<string> = new Set(['__interrupt__', '__resume__', '__error__']);

interface PlainCheckpoint {
  readonly v: number;
  readonly channel_values: Readonly<Record<string, unknown>>;
  readonly channel_versions: Readonly<Record<string, string | number>>;
}

/**
 * The channels of a run's latest checkpoint as its rows have them, without a graph: those that nobody has written are not
 * among them. `null` before the first checkpoint; `undefined` where only the graph can tell, because a task has written
 * what is in no checkpoint yet, or a value is more than JSON.
 *
 * @throws DevsError `STATE_CORRUPT` as every read of a checkpoint.
 */
export function storedValues(
  threadId: string,
  { db, checkpoints }: Pick<StateFile, 'db' | 'checkpoints'>,
): ReadonlyMap<string, unknown> | null | undefined {
  return transaction(db, 'deferred', () => {
    const stored = checkpoints.loadLatest({ threadId, checkpointNs: '' });
    if (stored === null) return null;
    const checkpoint = readPlain(stored.checkpoint)?.value as PlainCheckpoint | undefined;
    if (checkpoint === undefined || checkpoint.v < VERSIONED_FORMAT) return undefined;
    if (checkpoints.loadWrites(stored).some(({ channel }) => !NO_VALUES.has(channel))) return undefined;
    const values = new Map(Object.entries(checkpoint.channel_values));
    const apart = channelsApart(checkpoint.channel_versions, checkpoint.channel_values);
    for (const [at, bytes] of checkpoints.loadChannels(stored, apart).entries()) {
      const channel = apart[at]?.channel;
      if (bytes === null || channel === undefined) continue;
      const plain = readPlain(bytes);
      if (plain === null) return undefined;
      values.set(channel, plain.value);
    }
    return values;
  });
}
