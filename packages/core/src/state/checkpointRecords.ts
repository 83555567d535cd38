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
export interface StoredCheckpoint extends CheckpointRecord {
  readonly seq: number;
}

/** A channel at a version. */
export interface ChannelKey {
  readonly channel: string;
  readonly version: string;
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
