/** Bytes and the name of the serialization that made them. */
export interface TypedBytes {
  readonly type: string;
  readonly bytes: Uint8Array;
}

export interface NamespaceKey {
  readonly threadId: string;
  readonly checkpointNs: string;
}

export interface CheckpointKey extends NamespaceKey {
  readonly checkpointId: string;
}

/** A checkpoint without the channel values that are kept by version. */
export interface CheckpointRecord extends CheckpointKey {
  readonly parentId: string | null;
  readonly checkpoint: TypedBytes;
  readonly metadata: TypedBytes;
}

/** Insertion order is the order in time; ids are not, because clocks step back. */
export interface OrderedCheckpoint extends CheckpointRecord {
  readonly seq: number;
  /** Of the row and of its channels; `null` in rows of before, which have none. */
  readonly rowSha256: Uint8Array | null;
}

/** A channel at a version. */
export interface ChannelKey {
  readonly channel: string;
  readonly version: string;
}

/**
 * The channels of a checkpoint whose values are not in it.
 *
 * @param versions - Of all its channels.
 * @param inside - The values that are in it.
 */
export function channelsApart(
  versions: Readonly<Record<string, string | number>>,
  inside: Readonly<Record<string, unknown>>,
): readonly ChannelKey[] {
  return Object.entries(versions)
    .filter(([channel]) => !Object.hasOwn(inside, channel))
    .map(([channel, version]) => ({ channel, version: String(version) }));
}

/** The value of a channel at a version; `null` when the channel is empty at it. */
export interface ChannelRecord extends ChannelKey {
  readonly value: TypedBytes | null;
}

export interface WriteRecord {
  readonly taskId: string;
  /** Negative for LangGraph's own channels, of which a task has one each. */
  readonly idx: number;
  readonly taskPath: string;
  readonly channel: string;
  readonly value: TypedBytes;
}

/** How often tasks of a path wrote to a channel that calls a node. */
export interface CallRecord {
  readonly taskPath: string;
  readonly channel: string;
  readonly times: number;
}

/** Which checkpoints to list; `null` means any. */
export interface CheckpointQuery {
  readonly threadId: string | null;
  readonly checkpointNs: string | null;
  readonly checkpointId: string | null;
  /** Only checkpoints inserted before this one. */
  readonly beforeSeq: number | null;
  /** Only ids that sort before this one; for a bound that is not in the file. */
  readonly beforeId: string | null;
}
