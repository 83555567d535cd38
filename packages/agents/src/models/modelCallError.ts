import { setTimeout as sleep } from 'node:timers/promises';
import { DevsError, maskSensitiveData } from '@devs/core';

/** Longest wait that a server is granted, ms. Above it the error is handed on at once. */
const MAX_WAIT_MS = 60_000;

/**
 * Waits as long as the server asked for (`Retry-After`): whoever tries again then does so when it can succeed.
 *
 * @throws the reason of `signal` when it is aborted meanwhile.
 */
export async function waitAsAsked(error: unknown, signal: AbortSignal): Promise<void> {
  const waitMs = retryAfterMs(error);
  if (waitMs === null || waitMs > MAX_WAIT_MS) return;
  await sleep(waitMs, undefined, { signal }).catch(() => signal.throwIfAborted());
}

/**
 * What to throw for a failed request. Whether to try again is the engine's decision: the cause keeps the signs it
 * decides by.
 *
 * @param timeoutMs - The limit that passed, or `null` when the request failed by itself.
 */
export function modelCallError(cause: unknown, model: string, timeoutMs: number | null): DevsError {
  const what =
    timeoutMs === null
      ? `failed: ${maskedErrorChain(cause)}`
      : `timed out: no complete answer within ${timeoutMs} ms`;
  const status = httpStatus(cause);
  return new DevsError(`The call of ${model} ${what}`, {
    code: 'AGENT_FAILED',
    remedy: remedyFor(status),
    context: { model, ...(status !== null && { status }) },
    cause,
  });
}

/** LangChain reads the header and leaves the figure on the error. */
function retryAfterMs(error: unknown): number | null {
  const ms = (error as { readonly retryAfterMs?: unknown } | null)?.retryAfterMs;
  return typeof ms === 'number' && ms > 0 ? ms : null;
}

function httpStatus(error: unknown): number | null {
  const status = (error as { readonly status?: unknown } | null)?.status;
  return typeof status === 'number' ? status : null;
}

/** The error and what it wraps, masked. */
function maskedErrorChain(error: unknown): string {
  const layers = [error, (error as Error | null)?.cause];
  const messages = layers.map((layer) => (layer instanceof Error ? firstLine(layer) : '')).filter(Boolean);
  return maskSensitiveData(messages.length === 0 ? String(error) : messages.join(': '));
}

/** LangChain adds a link to every message. */
function firstLine({ message }: Error): string {
  return (message.split('\n')[0] ?? '').replace(/\.$/, '');
}

function remedyFor(status: number | null): string {
  if (status === 401 || status === 403) return 'Set a valid key for the provider, then resume the run.';
  if (status === 400 || status === 413 || status === 422) {
    return 'Check the settings of the model, or resume the run with a model with a larger context (--agents).';
  }
  if (status === 404) return 'Check the name of the model, then resume the run.';
  if (status === 429) return 'Wait until the provider accepts more requests, then resume the run.';
  return 'Check that the provider can be reached, then resume the run.';
}
