import type { Database } from 'better-sqlite3';
import type { HiddenRecord } from '../../events/events.ts';
import type { Outlet } from '../../state/Outlet.ts';
import type { ThreadStatus } from '../../state/threadRecords.ts';
import type { SignalOptions } from '../drive/signalRun.ts';
import type { Gate, GateAnswer } from '../Gate.ts';
import type { GatePage } from './inbox.ts';
import type { RunFilter, RunPage } from './listRuns.ts';
import type { PageRequest } from './pages.ts';

/** Who drives runs of a graph: workers that have it, in this shape. */
export interface RunQueue {
  /** Name of the graph, `[A-Za-z0-9_-]`, at most 40. */
  readonly graph: string;
  /** Its `fingerprint`: workers with another one leave its runs alone. */
  readonly fingerprint: string;
}

/** Whose a run is, and how soon it is driven. */
export interface RunPlace {
  /** Whose share of the workers it uses up. @defaultValue 'default' */
  readonly tenant?: string;
  /** Whole number; the highest is driven first. @defaultValue 0 */
  readonly priority?: number;
}

/** What is told of a run without its file being opened. */
export interface RunIndex {
  readonly status: ThreadStatus;
  readonly reason: string | null;
  readonly title: string | null;
  /** Plain JSON: what is listed of it besides; `null` for who has nothing to list. */
  readonly view: unknown;
  /** Every open question of the file. */
  readonly gates: readonly Gate[];
}

/** A run as lists have it. */
export interface IndexedRun {
  /** Milliseconds since the Unix epoch. */
  readonly createdAt: number;
  /** As its file says; `null` where that may say something else by now: it is driven, or was told something. */
  readonly index: RunIndex | null;
}

/** A run that is to be. */
export interface NewRunFile extends RunPlace {
  readonly id: string;
  readonly queue: RunQueue;
  /** Its whole file, with what it is started with. */
  readonly file: Uint8Array;
  readonly index: RunIndex;
}

/** What a run is told from outside. */
export type RunSignal = {
  /** The same one is the same signal, told once. */
  readonly id: string;
} & (
  | { readonly kind: 'pause' | 'cancel' }
  | ({
      readonly kind: 'message';
      readonly name: string;
      readonly payload: unknown;
    } & SignalOptions)
  | {
      readonly kind: 'decision';
      readonly sessionId: string;
      readonly artifactHash: string;
      readonly answer: GateAnswer;
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
export interface LookedAtRun {
  readonly db: Database;
  /** Whether what is written to it goes nowhere. */
  readonly isCopy: boolean;
  /** What it was told and has not taken, oldest first: whoever opened a copy writes it there before he looks. */
  readonly signals: readonly RunSignal[];
  /** Whether a live process has it in hand. Of a copy: the leases in it say who had it, not where he is now. */
  readonly isDriven: boolean;
  /** For {@link Runs.lookAgain}. */
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
export interface HeldRunEnd extends RunIndex {
  /** When it goes on by itself, milliseconds since the Unix epoch; `null` for when it is told something. */
  readonly until: number | null;
  /** Who drives it from now on. @defaultValue as before */
  readonly queue?: RunQueue;
}

/** A run whose newest epoch is the caller's: nobody else's writes arrive. */
export interface HeldRun {
  readonly id: string;
  readonly epoch: number;
  readonly db: Database;
  /** Whether the file was handed out: whoever has a lease in it is gone. Else the leases in it say who may write. */
  readonly isCopy: boolean;
  /** Awaited before anything leaves that rests on what was committed (law L11). */
  readonly outlet: Outlet;
  /** Aborted once somebody else has it. */
  readonly lost: AbortSignal;
  /**
   * What it was told and this holder was not given yet, oldest first. What was given out is taken when the run is settled, so
   * that it is told again where its driver dies: who could not write it must not settle.
   */
  signals(): Promise<readonly RunSignal[]>;
  /** Says that it was told something. Returns the way to end that. */
  onSignal(tell: () => void): () => void;
  /**
   * Lets go of the run as it stands, once all that is committed has arrived; `again` where it was told something that was not
   * given out by {@link signals}, and then it is held on. Its open questions are those of `end`, from then on.
   *
   * @throws DevsError `LEASE_LOST` if somebody else has it; `STATE_IO` if it cannot be reached.
   */
  settle(end: HeldRunEnd): Promise<'settled' | 'again'>;
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

/**
 * Where the files of runs are: one local state file, or a cluster in which every run has a file of its own. It keeps files,
 * says who may write, and brings what they are told; what is in a file is the engine's.
 */
export interface Runs {
  /** Records a run and has it driven. False, and nothing is changed, where its id is known. */
  create(run: NewRunFile): Promise<boolean>;
  /** @throws DevsError `THREAD_NOT_FOUND`; `STATE_IO` if it cannot be reached. */
  look(id: string): Promise<LookedAtRun>;
  /**
   * Looks at a run that was looked at; `null` where it is known to be as it was.
   *
   * @param at - Of the look before.
   * @throws DevsError as {@link look}.
   */
  lookAgain(id: string, at: string): Promise<LookedAtRun | null>;
  /**
   * Has `tell` called soon after something of a run has arrived, or the run was told something, and now and then without a
   * reason. Whoever looks once this has resolved misses nothing.
   *
   * @param id - `null` for all runs: what only a driver does is told of later then.
   * @returns What ends it.
   * @throws DevsError `STATE_IO` if they cannot be reached.
   */
  watch(id: string | null, tell: () => void): Promise<() => void>;
  /**
   * Makes the caller the one who may write.
   *
   * @throws DevsError `THREAD_NOT_FOUND`; `THREAD_BUSY` while a live process has it; `SCHEMA_TOO_NEW`; `STATE_IO`.
   */
  hold(id: string): Promise<HeldRun>;
  list(filter?: RunFilter): Promise<RunPage>;
  /** By id, without their files being opened. Those that there are not are left out. */
  indexed(ids: readonly string[]): Promise<ReadonlyMap<string, IndexedRun>>;
  gates(page?: PageRequest): Promise<GatePage>;
  /** Open questions of all runs. */
  countGates(): Promise<number>;
  /** The run whose question it is; `null` for none. */
  runOfGate(sessionId: string): Promise<string | null>;
  close(): Promise<void>;
}

/** What a worker drives: `RunsApp` is one, the pipeline is another. */
export interface RunDriver {
  /** Whose runs it drives. */
  readonly queue: RunQueue;
  /**
   * Takes the run's file over, writes what it was told into it, drives it until it ends, waits or `signal` says so (`abort`
   * ends calls in flight, too), and tells where it stands. Does not settle.
   *
   * @throws DevsError `GRAPH_CHANGED`; faults of the engine (`STATE_…`, `LEASE_LOST`, …) as they are: the run stays resumable.
   */
  drive(
    held: HeldRun,
    how: { readonly signal: AbortSignal; readonly abort: AbortSignal },
  ): Promise<HeldRunEnd>;
}
