import type { RunStore } from '../../../core/src/state/RunStore.ts';

/** The record of a run, in words. */
export interface RunOnRecord {
  readonly status: string;
  readonly recoveries: number;
  /** Lines of the journal: `Thought work`, oldest first. */
  readonly turns: readonly string[];
  /** `draft done 1`: name, state and attempt, oldest first. */
  readonly steps: readonly string[];
  /** `interrupt awaiting_approval`: kind and status of its questions, oldest first. */
  readonly questions: readonly string[];
  /** Its waits, such as `deadline pending`, oldest first. */
  readonly waits: readonly string[];
  /** Names of its events, oldest first. */
  readonly events: readonly string[];
  /** Kinds of its open requests. */
  readonly requests: readonly string[];
  /** Pieces of the transcripts of its steps. */
  readonly pieces: number;
}

/** A storage with two users at once, as two processes are. */
export interface RunStoreUnderTest {
  readonly runs: RunStore;
  /** Over the same storage; they share only that. */
  readonly elsewhere: RunStore;
  /** Records a run without a driver. */
  admit(threadId: string): void;
  /** The record as others find it. */
  read(threadId: string): RunOnRecord;
  /** Names of the events that listeners of `runs` got, in order. */
  readonly told: readonly string[];
}

/** One promise of the port. */
export interface RunStoreCase {
  /** The promise as a sentence. */
  readonly name: string;
  /** @throws AssertionError where it does not hold. */
  readonly check: (made: RunStoreUnderTest) => void | Promise<void>;
}
