import type { RunStore } from '../../../core/src/state/RunStore.ts';

/** What is on record of a run, in words. */
export interface RunOnRecord {
  readonly status: string;
  readonly recoveries: number;
  /** Lines of the journal: `Thought work`, oldest first. */
  readonly turns: readonly string[];
  /** `draft done 1`: name, state and attempt, oldest first. */
  readonly steps: readonly string[];
  /** `interrupt awaiting_approval`: kind and status of its questions, oldest first. */
  readonly questions: readonly string[];
  /** What it waits for, such as `deadline pending`, oldest first. */
  readonly waits: readonly string[];
  /** Names of its events, oldest first. */
  readonly events: readonly string[];
  /** Kinds of what it was asked for and has not done. */
  readonly requests: readonly string[];
  /** Pieces of what its steps have told. */
  readonly pieces: number;
}

/** A storage with two who use it at once, as two processes do. */
export interface RunStoreUnderTest {
  readonly runs: RunStore;
  /** Over the same storage, with nothing in common but that. */
  readonly elsewhere: RunStore;
  /** Records a run that nobody drives. */
  admit(threadId: string): void;
  /** What others find on record. */
  read(threadId: string): RunOnRecord;
  /** Names of the events that listeners of `runs` were told, in order. */
  readonly told: readonly string[];
}

/** One promise of the port. */
export interface RunStoreCase {
  /** A sentence that says what holds. */
  readonly name: string;
  /** @throws AssertionError where it does not hold. */
  readonly check: (made: RunStoreUnderTest) => void | Promise<void>;
}
