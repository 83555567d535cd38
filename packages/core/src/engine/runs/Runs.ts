import type { Database } from 'better-sqlite3';
import type { HiddenRecord } from '../../events/events.ts';
import type { CommitBarrier } from '../../state/commits/CommitBarrier.ts';
import type { OutboxEvent } from '../../state/events/EventStore.ts';
import type { WebhookRows } from '../../state/events/WebhookStore.ts';
import type { LabelValue, RunLabels } from '../../state/labels/RunLabelStore.ts';
import type { ScheduleRows } from '../../state/schedules/ScheduleStore.ts';
import type { ThreadStatus } from '../../state/threads/threadRecords.ts';
import type { RunInfo } from '../drive/RunResult.ts';
import type { SignalOptions, TurnBehind } from '../drive/signals.ts';
import type { StopRequest } from '../drive/stopRequests.ts';
import type { Gate, SentAnswer } from '../gates/Gate.ts';
import type { Principal } from '../gates/principals.ts';
import type { SentWords } from '../stream/sentTokens.ts';

/** Selects a page of a long list. */
export interface PageRequest {
  /** Length of the page, from 1 to 1,000. @defaultValue 50 */
  readonly limit?: number;
  /** The `next` of the page before. @defaultValue the first page */
  readonly after?: string;
}

/** Selects runs by their metadata, tags, id and tenant. All of them must match. */
export interface LabelFilter {
  /**
   * Members of the metadata of a run, by name, each as it is. With `owner` and `tags`, at most 10.
   * @defaultValue any
   */
  readonly metadata?: Readonly<Record<string, LabelValue>>;
  /** Members of the owner of a run, by name; they count with the metadata. @defaultValue any */
  readonly owner?: RunLabels['owner'];
  /** Tags, each of which the run has. @defaultValue any */
  readonly tags?: readonly string[];
  /** The first characters of the id. @defaultValue any */
  readonly idPrefix?: string;
  /** The tenant. In one state file, every run has the tenant `default`. @defaultValue any */
  readonly tenant?: string;
}

/** Selects a page of open gates, by the runs that they are of. */
export interface GateFilter extends PageRequest, LabelFilter {}

/** Selects the runs to list. */
export interface RunFilter extends PageRequest, LabelFilter {
  /** One status, or a list. @defaultValue all */
  readonly status?: ThreadStatus | readonly ThreadStatus[];
  /** The `fingerprint` of an app. @defaultValue every graph in the file */
  readonly graph?: string;
  /**
   * Only runs that would continue if a process ran them: recorded, left by a process that died or was stopped, or woken
   * by a decision or request. Timers are not included. @defaultValue false
   */
  readonly due?: boolean;
  /** Started at this time or later. */
  readonly createdSince?: Date;
  /** Started before this time. */
  readonly createdBefore?: Date;
}

export interface RunPage {
  /** Newest first. */
  readonly runs: readonly RunInfo[];
  /** Give it as `after` for the next page; `null` on the last. */
  readonly next: string | null;
}

export interface GatePage {
  /** Oldest first. */
  readonly gates: readonly Gate[];
  /** Give it as `after` for the next page; `null` on the last. */
  readonly next: string | null;
}

/** Selects gate events. */
export interface GateEventPage {
  /** The `cursor` of the last event that is known. @defaultValue the beginning */
  readonly after?: string | undefined;
  readonly limit: number;
}

/** Who drives runs of a graph: workers that have it, in this shape. */
export interface RunQueue {
  /** Name of the graph, `[A-Za-z0-9_-]`, at most 40. */
  readonly graph: string;
  /** Its `fingerprint`: workers with another one leave its runs alone. */
  readonly fingerprint: string;
}

/** Tenant and priority of a run. */
export interface QueueOptions {
  /** Tenant whose cap the run counts against. @defaultValue 'default' */
  readonly tenant?: string;
  /** Whole number; the highest is executed first. @defaultValue 0 */
  readonly priority?: number;
}

/** What is told of a run without its file being opened. */
export interface RunIndex extends RunLabels {
  readonly status: ThreadStatus;
  readonly reason: string | null;
  readonly title: string | null;
  /** Plain JSON: what is listed of it besides; `null` for who has nothing to list. */
  readonly view: unknown;
  /** Every open question of the file. */
  readonly gates: readonly Gate[];
}

/** A run as lists have it. */
export interface RunListItem {
  /** Milliseconds since the Unix epoch. */
  readonly createdAt: number;
  /** As its file says; `null` where that may say something else by now: it is driven, or was told something. */
  readonly index: RunIndex | null;
}

/** A run that is to be. */
export interface NewRun extends QueueOptions {
  readonly id: string;
  readonly queue: RunQueue;
  /** Its whole file, with what it is started with. */
  readonly file: Uint8Array;
  readonly index: RunIndex;
  /** False for a run that waits for its first input: workers leave it alone. @defaultValue true */
  readonly isDue?: boolean;
}

/** A run that is to be, without a file. */
export interface NewRunStart extends Omit<NewRun, 'file' | 'isDue'> {
  /** Its first driver makes its file of it, and so does each look before. */
  readonly start: Uint8Array;
}

/** What a run is told from outside. */
export type RunSignal = {
  /** The same one is the same signal, told once. */
  readonly id: string;
} & (
  | StopRequest
  | {
      /** A turn that begins when the one before has ended. */
      readonly kind: 'turn';
      readonly key: string;
      /** Its serialized input: the type, and the bytes in Base64. */
      readonly type: string;
      readonly value: string;
      readonly strategy: TurnBehind['strategy'];
      readonly by?: Principal;
    }
  | ({
      readonly kind: 'message';
      readonly name: string;
      readonly payload: unknown;
    } & SignalOptions)
  | {
      readonly kind: 'decision';
      readonly sessionId: string;
      readonly artifactHash: string;
      readonly answer: SentAnswer;
      /** False for a vote: others are wanted. */
      readonly closes: boolean;
      /** When it was given, milliseconds since the Unix epoch. @defaultValue when it is taken */
      readonly at?: number;
      /** Secrets that were taken out of the answer. @defaultValue 0 */
      readonly redacted?: number;
      /** What was hidden from whoever gave it, who knew that; where anything was. */
      readonly hidden?: HiddenRecord;
    }
);

/** A run's file as it is now, with what it was told and has not taken. Where runs are in one local file, that file; else a copy. */
export interface RunFileView {
  readonly db: Database;
  /** Whether what is written to it goes nowhere. */
  readonly isCopy: boolean;
  /** What it was told and has not taken, oldest first: whoever opened a copy writes it there before he looks. */
  readonly signals: readonly RunSignal[];
  /** Whether a live process has it in hand. Of a copy: the leases in it say who had it, not where he is now. */
  readonly isDriven: boolean;
  /** For {@link Runs.reopen}. */
  readonly at: string;
  /**
   * Records what the run is told, as of what was looked at, and has it driven: in one commit. False, and nothing is recorded,
   * where it was told something else since, or the question is not open any more: look again. A signal whose id is known is
   * told already, and that is true. Not called where `isCopy` is false: what was written is there.
   */
  tell(signal: RunSignal): Promise<boolean>;
  close(): void;
}

/** Where a run stands when its driver leaves it. */
export interface RunRelease extends RunIndex {
  /** When it goes on by itself, milliseconds since the Unix epoch; `null` for when it is told something. */
  readonly until: number | null;
  /** Who drives it from now on. @defaultValue as before */
  readonly queue?: RunQueue;
  /** Runs in its file that it began and that have not ended. @defaultValue 0 */
  readonly openChildren?: number;
}

/** A run whose newest epoch is the caller's: nobody else's writes arrive. */
export interface LeasedRun {
  readonly id: string;
  readonly epoch: number;
  readonly db: Database;
  /** Whether the file was handed out: whoever has a lease in it is gone. Else the leases in it say who may write. */
  readonly isCopy: boolean;
  /** Awaited before anything leaves that rests on what was committed (law L11). */
  readonly outlet: CommitBarrier;
  /**
   * The storage woke the run for its timers up to this time, in milliseconds since the Unix epoch. They are due, also by a slower
   * clock. @defaultValue the clock decides
   */
  readonly dueBy?: number | undefined;
  /** Aborted once somebody else has it. */
  readonly lost: AbortSignal;
  /**
   * What it was told and this holder was not given yet, oldest first. What was given out is taken when the run is settled, so
   * that it is told again where its driver dies: who could not write it must not settle.
   */
  signals(): Promise<readonly RunSignal[]>;
  /** Says that it was told something. Returns the way to end that. */
  onSignal(tell: () => void): () => void;
  /** The words of its models, for listeners by {@link Runs.hear}; absent where they cannot get through. */
  readonly words?: SentWords;
  /**
   * Lets go of the run as it stands, once all that is committed has arrived; `again` where it was told something that was not
   * given out by {@link signals}, and then it is held on. Its open questions are those of `end`, from then on.
   *
   * @throws DevsError `LEASE_LOST` if somebody else has it; `STATE_IO` if it cannot be reached.
   */
  settle(end: RunRelease): Promise<'settled' | 'again'>;
  /**
   * Deletes the run here, as it stands, instead of letting go of it. False, and nothing is changed, where it was told something
   * that was not given out by {@link signals}.
   *
   * @throws DevsError as {@link settle}.
   */
  remove(): Promise<boolean>;
  /** Lets go of the copy. Without {@link settle} or {@link remove} it is as if the driver had died. */
  close(): Promise<void>;
}

/** How many runs and open gates there are. One state file has the tenant `default`. */
export interface RunNumbers {
  readonly runs: readonly { readonly tenant: string; readonly status: string; readonly runs: number }[];
  /** Of tenants with an open gate; `oldestSeconds` is the age of the oldest. */
  readonly gates: readonly {
    readonly tenant: string;
    readonly open: number;
    readonly oldestSeconds: number;
  }[];
}

/**
 * Port of a storage for run files: one state file, or a cluster with one file per run. It stores files, grants leases
 * and delivers signals; the engine owns the content of a file.
 */
export interface Runs {
  /** The clock of the storage, in milliseconds since the Unix epoch: the default of an app's `now`. @defaultValue the machine's */
  readonly now?: () => number;
  /** Records a run and queues it. Returns false for a known id, which stays unchanged. */
  create(run: NewRun): Promise<boolean>;
  /** As {@link create}, where a run need not have a file before it is driven. @defaultValue each has one from the beginning */
  start?(run: NewRunStart): Promise<boolean>;
  /** Opens a run's file for reading. @throws DevsError `THREAD_NOT_FOUND`; `STATE_IO` if it cannot be reached. */
  open(id: string): Promise<RunFileView>;
  /**
   * Opens the file again, or returns `null` if it has not changed.
   *
   * @param at - The `at` of the view before.
   * @throws DevsError as {@link open}.
   */
  reopen(id: string, at: string): Promise<RunFileView | null>;
  /**
   * Calls `tell` soon after a run changed or received a signal, and sometimes without a reason. A caller that reads
   * after this promise resolves misses no change.
   *
   * @param id - `null` for all runs; progress inside a run is then reported later.
   * @returns A function that ends it.
   * @throws DevsError `STATE_IO` if the runs cannot be reached.
   */
  watch(id: string | null, tell: () => void): Promise<() => void>;
  /**
   * Takes the lease of a run.
   *
   * @param graph - Name of the graph it is expected to belong to: storage that knows the name of its queue leaves a run of another one alone.
   * @throws DevsError `THREAD_NOT_FOUND`; `THREAD_BUSY` while a live process has it; `SCHEMA_TOO_NEW`; `STATE_IO`.
   */
  hold(id: string, graph?: string): Promise<LeasedRun>;
  /**
   * Calls `hear` with the words that the holder of a run sends by its `words` from now on. They are not recorded, and some may
   * be lost. Absent where they cannot get through.
   *
   * @returns A function that ends it.
   * @throws DevsError `STATE_IO` if the runs cannot be reached.
   */
  hear?(id: string, hear: (words: Uint8Array) => void): Promise<() => void>;
  list(filter?: RunFilter): Promise<RunPage>;
  /** Returns one run as `list` does, without opening its file; `null` for an unknown id. */
  get(id: string): Promise<RunInfo | null>;
  /**
   * Puts members of the metadata of a run in the place of those of the same names, for lists. The rest of the run stays.
   *
   * @throws DevsError `THREAD_NOT_FOUND`; `STATE_IO`.
   */
  updateMetadata(id: string, patch: RunLabels['metadata']): Promise<RunInfo>;
  /** Returns list data by id, without opening files. Unknown ids are left out. */
  indexed(ids: readonly string[]): Promise<ReadonlyMap<string, RunListItem>>;
  gates(filter?: GateFilter): Promise<GatePage>;
  /** Deliveries of webhooks. */
  readonly webhooks: WebhookRows;
  readonly schedules: ScheduleRows;
  /** Returns the gate events, and ends of runs, of all runs behind `after`, in the order in which they arrived; at most `limit`. @throws RangeError */
  gateEvents(page: GateEventPage): Promise<readonly OutboxEvent[]>;
  /** Returns the number of open gates of all runs. */
  countGates(): Promise<number>;
  /** Counts runs and open gates, for metrics. */
  numbers(): Promise<RunNumbers>;
  /** Returns the run of a gate, or `null`. */
  runOfGate(sessionId: string): Promise<string | null>;
  close(): Promise<void>;
}

/** Executes runs for a worker. An app with `runs` and the pipeline implement it. */
export interface RunDriver {
  /** The queue whose runs it executes. */
  readonly queue: RunQueue;
  /** Sends webhooks and fires schedules until `signal` is aborted. Does not reject. */
  tend?(how: { readonly signal: AbortSignal }): Promise<void>;
  /**
   * Opens the run's file, writes its signals into it, and executes the run until it ends, waits, or is stopped: `drain` at
   * its next safe point, `signal` at once. Does not settle the run.
   *
   * @throws DevsError `GRAPH_CHANGED`; engine faults (`STATE_…`, `LEASE_LOST`) unchanged: the run stays resumable.
   */
  drive(
    held: LeasedRun,
    how: { readonly drain: AbortSignal; readonly signal: AbortSignal },
  ): Promise<RunRelease>;
}
