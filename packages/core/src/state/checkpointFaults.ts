import { DevsError } from '../errors/DevsError.ts';
import type { ChannelKey, CheckpointKey, NamespaceKey } from './checkpointRecords.ts';
import type { ChannelRow } from './graphCheckpointSql.ts';

// What is wrong with a checkpoint, with what it is made of, or with what is to become of it.

export function damagedCheckpoint({ threadId, checkpointId }: CheckpointKey, what: string): DevsError {
  return new DevsError(`Checkpoint ${checkpointId} is damaged: ${what} does not match its SHA-256.`, {
    code: 'STATE_CORRUPT',
    remedy: 'Keep a copy of the folder, then restore a backup of the state file.',
    context: { threadId, checkpointId },
  });
}

export function missingChannel(
  { threadId, checkpointId }: CheckpointKey,
  { channel, version }: ChannelKey,
): DevsError {
  return new DevsError(
    `Checkpoint ${checkpointId} is damaged: channel "${channel}" is missing at its version ${version}.`,
    {
      code: 'STATE_CORRUPT',
      remedy: 'Keep a copy of the folder, then restore a backup of the state file.',
      context: { threadId, checkpointId, channel, version },
    },
  );
}

export function missingWrites(
  { threadId, checkpointId }: CheckpointKey,
  found: number,
  expected: number,
): DevsError {
  return new DevsError(
    `Checkpoint ${checkpointId} is damaged: only ${found} of ${expected} pending writes are present.`,
    {
      code: 'STATE_CORRUPT',
      remedy: 'Keep a copy of the folder, then restore a backup of the state file.',
      context: { threadId, checkpointId },
    },
  );
}

export function damagedChannel({ threadId }: NamespaceKey, { channel, version }: ChannelKey): DevsError {
  return new DevsError(
    `Channel "${channel}" is damaged: at version ${version} it does not match its SHA-256.`,
    {
      code: 'STATE_CORRUPT',
      remedy: 'Keep a copy of the folder, then restore a backup of the state file.',
      context: { threadId, channel, version },
    },
  );
}

export function versionTaken({ threadId, channel, version }: ChannelRow): DevsError {
  return new DevsError(`Channel "${channel}" already has another value at version ${version}.`, {
    code: 'VALUE_NOT_STORABLE',
    remedy: 'Use a new version for a changed value, from getNextVersion of the saver that stores it.',
    context: { threadId, channel, version },
  });
}
