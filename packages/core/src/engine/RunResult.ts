// Every shape of "how is this run?", in one file: what executing it returned (`RunResult`), and what is known of it without
// executing it (`RunInfo`). Both use the statuses of the state file, and no others.

import type { ErrorCode } from '../errors/DevsError.ts';
import type { ThreadStatus } from '../state/threadRecords.ts';
import type { Gate } from './Gate.ts';

/** Timers, signals and child runs that a run waits for. */
export interface Awaited {
  /** Next wake-up, its own or that of a child run, in milliseconds since the Unix epoch; absent without a timer. */
  readonly until?: number;
  /** Names of the signals it waits for, in the order of the waits; absent without any. */
  readonly waitsFor?: readonly string[];
  /** Ids of the child runs it waits for, in the order of the waits; absent without any. */
  readonly children?: readonly string[];
}

/** An error as plain data: masked, and of limited length. */
export interface RunError {
  /** Name of the error's class, such as `InvalidUpdateError`. */
  readonly name: string;
  readonly message: string;
  readonly stack: string;
  /** Of a `DevsError`, as are `remedy` and `context`. */
  readonly code?: ErrorCode;
  readonly remedy?: string;
  /** Details, such as the `channel` and `path` of a value that cannot be stored. */
  readonly context?: Readonly<Record<string, string | number>>;
  readonly cause?: RunError;
}

interface Outcome<Question> {
  /** Why the run has this status, as a text for people. */
  readonly reason: string | null;
  /** Open gates; empty unless the run waits at one. */
  readonly gates: readonly Question[];
}

/** For members of other statuses, so that they can be read before `status` is checked. */
type Without<Members> = { readonly [Name in keyof Members]?: never };
type NoError = Without<Pick<FailedOutcome<never>, 'error'>>;

interface WaitingOutcome<Question> extends Outcome<Question>, Awaited, NoError {
  /** Waits for an answer (`gates`), a timer (`until`), a signal (`waitsFor`) or a child run (`children`). */
  readonly status: 'waiting';
}

interface StoppedOutcome<Question> extends Outcome<Question>, Without<Awaited>, NoError {
  /**
   * Can be resumed at any time. `paused`: drained by `pause`, `signal`, `abort`, a goal or a node. `created`, `running`: this
   * call has executed nothing, because it was aborted before it could begin.
   */
  readonly status: 'paused' | 'created' | 'running';
}

interface FailedOutcome<Question> extends Outcome<Question>, Without<Awaited> {
  /** Executing the run again tries what failed again. */
  readonly status: 'failed';
  /** Absent if a call before this one has failed. */
  readonly error?: RunError;
}

interface EndedOutcome<Question> extends Outcome<Question>, Without<Awaited>, NoError {
  readonly status: 'completed' | 'cancelled' | 'dead_letter';
}

/**
 * The part of a result that runs of every graph have, discriminated by `status`.
 *
 * @typeParam Question - How open gates are represented.
 */
export type RunOutcome<Question = Gate> =
  | WaitingOutcome<Question>
  | StoppedOutcome<Question>
  | FailedOutcome<Question>
  | EndedOutcome<Question>;

/**
 * Returned by everything that executes a run, such as `run`. Its `status` is the one that `list` shows at that moment, or the
 * one that an earlier turn ended with.
 */
export type RunResult<Output = unknown> = RunOutcome & {
  /**
   * What LangGraph's `invoke` would return: the channels of the graph's output schema; `app.values()` has all of them. `null`
   * before the first checkpoint. For an earlier turn, its values at its end; `null` after pruning.
   */
  readonly values: Output | null;
  /** Key of the turn that this result belongs to; absent if it has none. */
  readonly turn?: string;
};

/** Where a run stands, as every list has it. Times are ISO 8601, UTC. */
export interface RunInfo {
  /** What belongs to a run, such as a gate, names it `threadId`: run and LangGraph thread have the same id. */
  readonly id: string;
  readonly status: ThreadStatus;
  /** Why it has this status, as a text for people. */
  readonly reason: string | null;
  /** The `fingerprint` of the graph that it runs on. */
  readonly graph: string;
  /** Whether a live process executes or holds it. False while it is `running`: that process has died. */
  readonly isDriven: boolean;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** `null` while it has not ended. */
  readonly endedAt: string | null;
}

/** Where one run stands, with what it waits for and its values. */
export interface RunDetails<Output = unknown> extends RunInfo {
  /** Open gates. */
  readonly gates: readonly Gate[];
  /** As in {@link RunResult}; `null` before the first checkpoint. */
  readonly values: Output | null;
  /** Next automatic wake-up, in milliseconds since the Unix epoch; absent if it waits for an answer, a signal or a command. */
  readonly until?: number;
  /** Key of its turn; absent if it has none. */
  readonly turn?: string;
}
