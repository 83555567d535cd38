import { DevsError } from '../../errors/DevsError.ts';
import type { RunError } from './runError.ts';

/**
 * That a run has failed, as an error: for who expects a call of a graph to throw. Its cause has the name, message, stack
 * and cause of what the node threw, masked, and is no instance of its class.
 */
export function runFailed(threadId: string, reason: string | null, error: RunError | undefined): DevsError {
  return new DevsError(`Run "${threadId}" has failed: ${reason ?? 'no reason was recorded'}`, {
    code: 'RUN_FAILED',
    remedy: 'Mend what made it fail and drive it again: what is recorded is not done again.',
    context: { threadId },
    cause: error === undefined ? undefined : errorOf(error),
  });
}

function errorOf({ name, message, stack, cause }: RunError): Error {
  const error = new Error(message, cause && { cause: errorOf(cause) });
  return Object.assign(error, { name, stack });
}
