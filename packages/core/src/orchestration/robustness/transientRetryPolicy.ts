import type { RetryPolicy } from '@langchain/langgraph';
import { engineFaultOf } from '../durable/FaultBox.ts';
import { classifyError } from './classifyError.ts';

/**
 * Retries what may pass by itself. LangGraph would print each retry with the raw error to stdout, secrets included,
 * unless told not to.
 */
export const transientRetryPolicy: RetryPolicy = {
  maxAttempts: 3,
  initialInterval: 500,
  maxInterval: 5_000,
  backoffFactor: 2,
  jitter: true,
  logWarning: false,
  retryOn: (error: unknown) => engineFaultOf(error) === null && classifyError(error) === 'transient',
};
