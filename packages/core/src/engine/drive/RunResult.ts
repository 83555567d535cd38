// Every shape of "how is this run?", in one file. `RunResult` is the result of executing it: here it is made, recorded and thrown.
// `RunInfo` is the view of a run that other processes execute. All use the statuses of the state file. Leases and drives stand
// above this file.

import { DevsError, type ErrorCode, isDevsError } from '../../errors/DevsError.ts';
import type { NewEvent } from '../../events/events.ts';
import { abortError } from '../../events/onAbort.ts';
import type { HitlSession } from '../../state/gates/hitlSession.ts';
import type { RunLabels } from '../../state/labels/RunLabelStore.ts';
import type { StatusUpdate } from '../../state/RunStore.ts';
import {
  type EndedStatus,
  hasEnded,
  type Lease,
  type ThreadStatus,
} from '../../state/threads/threadRecords.ts';
import type { DriveStops } from '../execution/StopControl.ts';
import { asThrowable, causeOf, describeThrown, shownText } from '../execution/thrown.ts';
import type { Gate } from '../gates/Gate.ts';
import type { RunStreamEvent } from '../stream/runStreamEvents.ts';
import type { WaitInfo } from '../waits/waits.ts';
import type { RecordingEngine } from './Engine.ts';
import { beginQueued } from './queuedTurns.ts';

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

/** What came of one drive, with the sessions of its open gates. */
export type SessionOutcome = RunOutcome<HitlSession>;

/** The outcome of one drive, and the values of its graph then. */
export interface Driven {
  readonly outcome: SessionOutcome;
  /** Absent where its driver has not read them at the end. */
  readonly values?: unknown;
  /** Whoever heard of its questions has answered at once. The run was left by then. */
  readonly isAnswered?: boolean;
}

export const stopped = (status: 'paused' | 'created' | 'running', reason: string): SessionOutcome => ({
  ...{ status, reason },
  gates: [],
});

export const ended = (status: EndedStatus, reason: string | null): SessionOutcome => ({
  ...{ status, reason },
  gates: [],
});

/** A failed run may be driven again: what failed is tried anew. */
export function isOver(status: ThreadStatus): status is 'completed' | 'cancelled' | 'dead_letter' {
  return status === 'completed' || status === 'cancelled' || status === 'dead_letter';
}

interface EndOfTurn {
  readonly threadId: string;
  readonly status: EndedStatus;
  /** Its key, where it has one. */
  readonly turn: string | null | undefined;
  /** That its caller named. */
  readonly webhook?: string | undefined;
}

/** The event about the end of a run, or of a turn of it. */
export function runFinished({ threadId, status, turn, webhook }: EndOfTurn): NewEvent {
  const payload = {
    outcome: status,
    ...(typeof turn === 'string' && { turn }),
    ...(webhook !== undefined && { webhook }),
  };
  return { name: 'RUN_FINISHED', payload, scope: { threadId } };
}

/** Records where a run stands, and wakes the readers of its stream; false where it has to be looked at again. */
export function saveRunStatus(
  lease: Lease,
  { inSameTransaction: beside, ...settlement }: StatusUpdate,
  told: readonly RunStreamEvent[],
  { store, streams }: RecordingEngine,
): boolean {
  const { threadId } = lease;
  const settled = store.runs.settle(lease, {
    ...settlement,
    inSameTransaction: () => {
      streams?.record(threadId, told);
      beside?.();
      if (hasEnded(settlement.status)) beginQueued(threadId, { store, streams });
    },
  });
  streams?.wake(threadId);
  return settled === 'settled';
}

/** Errors shown of a chain of causes: one may lead back to itself. */
const MAX_CAUSES = 8;

/** Errors of branches side by side that a reason names. */
const MAX_BRANCHES = 3;

/** What a node threw, in words: an error may hold what must not leave the process. */
export function runError(given: unknown, causes = MAX_CAUSES): RunError {
  const thrown = asThrowable(given);
  const cause = causeOf(thrown);
  return {
    ...describeThrown(thrown),
    ...(isDevsError(thrown) && {
      code: thrown.code,
      remedy: shownText(thrown.remedy),
      context: Object.fromEntries(
        Object.entries(thrown.context).map(([name, value]) => [
          name,
          typeof value === 'string' ? shownText(value) : value,
        ]),
      ),
    }),
    ...(cause !== undefined && causes > 0 && { cause: runError(cause, causes - 1) }),
  };
}

/** Why a run has failed, in one line: with the code of an error of the engine's, and the errors of parallel branches. */
export function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof AggregateError)) return errorLine(runError(thrown, 0));
  const { errors } = thrown as { readonly errors: readonly unknown[] };
  const first = errors.slice(0, MAX_BRANCHES).map((error) => errorLine(runError(error, 0)));
  return [
    ...first,
    ...(errors.length > first.length ? [`and ${errors.length - first.length} more`] : []),
  ].join('; ');
}

const errorLine = ({ code, message }: RunError): string =>
  code === undefined ? message : `${code}: ${message}`;

/**
 * Returns the result of a run that has not failed. The error's cause has the name, message, stack and cause of
 * the node's error, masked. Its class is another one.
 *
 * @throws DevsError `RUN_FAILED` for a run that has failed or is a dead letter.
 */
export function assertNotFailed<Result extends RunOutcome<unknown>>(
  threadId: string,
  result: Result,
): NotFailed<Result> {
  if (!isFailed(result)) return result as NotFailed<Result>;
  const { status, reason, error } = result;
  const { what, remedy } = FAILURES[status];
  throw new DevsError(`Run "${threadId}" ${what}: ${reason ?? 'no reason was recorded'}`, {
    code: 'RUN_FAILED',
    remedy,
    context: { threadId, status },
    cause: error === undefined ? undefined : rebuildError(error),
  });
}

/** {@link assertNotFailed}, unless the caller asked for the status. */
export function throwIfFailed<Result extends RunOutcome<unknown>>(
  threadId: string,
  result: Result,
  { throwOnFailure = true }: { readonly throwOnFailure?: boolean },
): Result {
  return throwOnFailure ? assertNotFailed(threadId, result) : result;
}

/**
 * The result of a drive; throws as LangGraph does if the caller aborted it before the run ended.
 *
 * @throws The reason of the signal, if that is an `Error`.
 */
export function throwIfAborted<Result extends RunOutcome<unknown>>(
  result: Result,
  { signal, abort, wait = false }: Pick<DriveStops, 'signal' | 'abort'> & { readonly wait?: boolean },
): Result {
  const aborted = [signal, abort].find((each) => each?.aborted);
  if (aborted === undefined || hasEnded(result.status)) return result;
  if (result.status === 'waiting' && !wait) return result;
  throw abortError(aborted);
}

type Failed = Extract<RunOutcome<unknown>, { readonly status: 'failed' | 'dead_letter' }>;

const isFailed = (result: RunOutcome<unknown>): result is Failed =>
  result.status === 'failed' || result.status === 'dead_letter';

const FAILURES: {
  readonly [Status in Failed['status']]: { readonly what: string; readonly remedy: string };
} = {
  failed: {
    what: 'has failed',
    remedy: 'Fix the cause, then resume the run. Recorded steps are not repeated.',
  },
  dead_letter: {
    what: 'is a dead letter',
    remedy: 'Find out why its processes died, call `app.revive(id, { by })`, then resume the run.',
  },
};

function rebuildError({
  name,
  message,
  stack,
  cause: because,
  code,
  remedy = '',
  context = {},
}: RunError): Error {
  const cause = because && rebuildError(because);
  if (code !== undefined)
    return Object.assign(new DevsError(message, { code, remedy, context, cause }), { stack });
  return Object.assign(new Error(message, cause && { cause }), { name, stack });
}

export function interruptInEdge(threadId: string): DevsError {
  return new DevsError(`Run "${threadId}" called interrupt() outside a node, where it cannot be answered.`, {
    code: 'INTERRUPT_IN_EDGE',
    remedy: 'Call interrupt() in a node, and let the edge read the answer from the state.',
    context: { threadId },
  });
}

export function noProgress(threadId: string): DevsError {
  return new DevsError(`Run "${threadId}" was executed without any progress.`, {
    code: 'NO_PROGRESS',
    remedy:
      'Find the node that stops the graph without a question, an output or an error, then resume the run.',
    context: { threadId },
  });
}
