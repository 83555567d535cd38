import type {
  ChannelVersions,
  Checkpoint,
  CheckpointMetadata,
  PendingWrite,
} from '@langchain/langgraph-checkpoint';

/** Something that is written in the transaction of a checkpoint, or of a task's writes. */
export interface Alongside {
  /** Resolves once it can be written without waiting. */
  ready(): Promise<void>;
  inTx(): void;
  /** Instead of {@link inTx}, for a transaction that comes later: what is written then is settled now. */
  taken(): () => void;
  committed(): void;
  /** Committed or not. */
  over(): void;
}

/** Where something is written. */
export interface StreamedWrite {
  readonly threadId: string;
  readonly ns: string;
  /** The checkpoint that a task's writes are on top of. */
  readonly checkpointId: string;
}

/** Is told what a driven graph writes, before that is in the file, and adds what it streams of it. */
export interface StreamedGraph {
  /** A graph of this namespace looks for its checkpoint. */
  begins(ns: string): void;
  /** Must be called before anything is awaited: LangGraph streams the update right after it asked for the write. */
  writes(at: StreamedWrite, taskId: string, writes: readonly PendingWrite[]): Alongside;
  checkpoint(
    at: Pick<StreamedWrite, 'threadId' | 'ns'>,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Alongside;
}
