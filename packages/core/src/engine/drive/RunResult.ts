// Every shape of "how is this run?", in one file: what executing it returned (`RunResult`), and what is known of it without
// executing it (`RunInfo`). Both use the statuses of the state file, and no others.
import type { ErrorCode } from '../../errors/DevsError.ts';
import type { RunLabels } from '../../state/labels/runLabels.ts';
import type { ThreadStatus } from '../../state/threads/threadRecords.ts';
import type { Gate } from '../gates/Gate.ts';
import type { WaitInfo } from '../waits/waits.ts';

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

interface WaitingOutcome<Question> extends Outcome<Question>, WaitInfo, NoError {
  /** Waits for an answer (`gates`), a timer (`until`), a signal (`waitsFor`) or a child run (`children`). */
  readonly status: 'waiting';
}

interface StoppedOutcome<Question> extends Outcome<Question>, Without<WaitInfo>, NoError {
  /**
   * Can be resumed at any time. `paused`: drained by `pause`, `signal`, `abort`, a goal or a node. `created`, `running`: this
   * call has executed nothing, because it was aborted before it could begin.
   */
  readonly status: 'paused' | 'created' | 'running';
}

interface FailedOutcome<Question> extends Outcome<Question>, Without<WaitInfo> {
  /** Executing the run again tries what failed again. */
  readonly status: 'failed';
  /** Absent if a call before this one has failed. */
  readonly error?: RunError;
}

interface EndedOutcome<Question> extends Outcome<Question>, Without<WaitInfo>, NoError {
  readonly status: 'completed' | 'cancelled';
}

interface DeadOutcome<Question> extends Outcome<Question>, Without<WaitInfo>, NoError {
  /** Five processes died while they executed it. `revive` brings it back. */
  readonly status: 'dead_letter';
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
  | EndedOutcome<Question>
  | DeadOutcome<Question>;

/** Result of `run` by default. For a run that is `failed` or a `dead_letter`, `run` throws `RUN_FAILED`. */
export type NotFailed<Result extends RunOutcome<unknown>> = Exclude<
  Result,
  { readonly status: 'failed' | 'dead_letter' }
>;

/** The part of a result that depends on the graph and its turns. */
interface RunOutput<Output> {
  /**
   * Values of the graph's output schema, as `invoke` returns them; `app.values()` returns the whole state. `null`
   * before the first checkpoint. For an earlier turn: the values at its end, or `null` after pruning.
   */
  readonly values: Output | null;
  /** Key of the turn that this result belongs to; absent if the run has no turn key. */
  readonly turn?: string;
}

/** Result of `run`: the status, open gates and the graph's output. */
export type RunResult<Output = unknown, AppGate = Gate> = RunOutcome<AppGate> & RunOutput<Output>;

/** The part of a result that runs of every graph have. A new member of `RunOutput` does not compile until it is left out here. */
export function outcomeOf({ values: _values, turn: _turn, ...outcome }: RunResult): RunOutcome {
  return outcome satisfies RunOutcome & Without<RunOutput<unknown>>;
}

/** A run in a list. Times are ISO 8601, UTC. */
export interface RunInfo extends RunLabels {
  /** What belongs to a run, such as a gate, names it `threadId`: run and LangGraph thread have the same id. */
  readonly id: string;
  readonly status: ThreadStatus;
  /** Why it ended or waits, for people. */
  readonly reason: string | null;
  /** The `fingerprint` of its graph. */
  readonly graph: string;
  /** Whether a live process runs it. False for a `running` run whose process died. */
  readonly isDriven: boolean;
  /** Whether it would continue if a process ran it, as `list({ due: true })` finds it. A timer does not count. */
  readonly isDue: boolean;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** `null` until it has ended. */
  readonly endedAt: string | null;
}

/** Status of a run that other processes execute. */
export interface RunDetails<Output = unknown, AppGate = Gate> extends RunInfo {
  /** Its open gates. */
  readonly gates: readonly AppGate[];
  /** Values of the output schema, as of `run`; `null` before the first checkpoint. */
  readonly values: Output | null;
  /**
   * Next automatic wake-up, in milliseconds since the Unix epoch; absent if the run waits for a decision, a signal or a
   * command.
   */
  readonly until?: number;
  /** Key of its current turn; absent if it has none. */
  readonly turn?: string;
}
