// How a drive ends: its outcome, the record of it, and the error of a failed run. Leases and drives stand above this file.

import { DevsError, isDevsError } from '../../errors/DevsError.ts';
import type { NewEvent } from '../../events/events.ts';
import { abortError } from '../../events/onAbort.ts';
import type { HitlSession } from '../../state/gates/hitlSession.ts';
import type { StatusUpdate } from '../../state/RunStore.ts';
import {
  type EndedStatus,
  hasEnded,
  type Lease,
  type ThreadStatus,
} from '../../state/threads/threadRecords.ts';
import type { DriveStops } from '../execution/StopControl.ts';
import { asThrowable, causeOf, describeThrown, shownText } from '../execution/thrown.ts';
import type { RunStreamEvent } from '../stream/runStreamEvents.ts';
import type { RecordingEngine } from './Engine.ts';
import { beginQueued } from './queuedTurns.ts';
import type { NotFailed, RunError, RunOutcome } from './RunResult.ts';

/** What came of one drive, with the sessions of its open gates. */
export type SessionOutcome = RunOutcome<HitlSession>;

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

/** Records where a run stands, and tells the readers of its stream; false where it has to be looked at again. */
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

/** Errors told of a chain of causes: one may lead back to itself. */
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

/** Why a run has failed, in one line: with the code of an error of the engine's, and what branches side by side threw. */
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
