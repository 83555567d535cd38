import type { RetryPolicy } from '@langchain/langgraph';
import { engineFaultOf } from '../../engine/node/EngineFaults.ts';
import type { ErrorCode } from '../../errors/DevsError.ts';
import { classifyError } from './classifyError.ts';

/** Times a node is tried in one visit. */
export const MAX_ATTEMPTS = 3;

/** What stops the pipeline where it stands, until somebody mends it: its folder, its sandbox, its recording, its configuration. */
export const SURROUNDINGS: ReadonlySet<ErrorCode> = new Set([
  'CONFIG_INVALID',
  'REPLAY_MISS',
  'SANDBOX_MISSING',
  'WORKSPACE_BUSY',
  'WORKSPACE_FAILED',
]);

/** Whether an error may pass by itself: no fault of the engine or of what the pipeline works with, and transient. */
export function isRetriable(error: unknown): boolean {
  return engineFaultOf(error, SURROUNDINGS) === null && classifyError(error) === 'transient';
}

/**
 * Retries what may pass by itself. LangGraph would print each retry with the raw error to stdout, secrets included,
 * unless told not to.
 */
export const transientRetryPolicy: RetryPolicy = {
  maxAttempts: MAX_ATTEMPTS,
  initialInterval: 500,
  maxInterval: 5_000,
  backoffFactor: 2,
  jitter: true,
  logWarning: false,
  retryOn: isRetriable,
};
