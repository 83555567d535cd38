import { DevsError } from '../../errors/DevsError.ts';
import type { RunError, RunOutcome } from '../RunResult.ts';

/**
 * What a drive has come to, or, for who expects a call of a graph to throw, that the run has failed as an error. Its cause
 * has the name, message, stack and cause of what the node threw, masked, and is no instance of its class.
 *
 * @throws DevsError `RUN_FAILED`
 */
export function throwIfFailed<Result extends RunOutcome<unknown>>(
  threadId: string,
  result: Result,
  { throwOnFailure = false }: { readonly throwOnFailure?: boolean },
): Result {
  if (throwOnFailure && result.status === 'failed') throw runFailed(threadId, result.reason, result.error);
  return result;
}

function runFailed(threadId: string, reason: string | null, error: RunError | undefined): DevsError {
  return new DevsError(`Run "${threadId}" has failed: ${reason ?? 'no reason was recorded'}`, {
    code: 'RUN_FAILED',
    remedy: 'Fix the cause, then resume the run. Recorded steps are not repeated.',
    context: { threadId },
    cause: error === undefined ? undefined : rebuildError(error),
  });
}

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
