import { DevsError } from '@devs/core';
import { agentFault, maskedExcerpt } from '../coding/agentFault.ts';
import type { AcpProgram } from './AcpProgram.ts';

/** Of JSON-RPC: the agent wants its user to log in first. */
const AUTH_REQUIRED = -32_000;

/** An error that came back over the connection. */
export interface AcpRefusal extends Error {
  readonly code: number;
  readonly data?: unknown;
}

export const isAcpRefusal = (error: unknown): error is AcpRefusal =>
  error instanceof Error && 'code' in error && typeof error.code === 'number';

export const isAuthRequired = (error: unknown): boolean =>
  isAcpRefusal(error) && error.code === AUTH_REQUIRED;

/** What a refused request says. */
export function refusedRequest({ name, login, env = [] }: AcpProgram, refusal: AcpRefusal): DevsError {
  const words = maskedExcerpt(refusalMessage(refusal));
  if (refusal.code !== AUTH_REQUIRED) return agentFault(name, `failed: ${words}`, refusal);
  const key = env[0] === undefined ? '' : ` or set ${env[0]}`;
  return new DevsError(`${name} is not logged in: ${words}`, {
    code: 'AGENT_FAILED',
    remedy: `Run \`${login ?? name}\`${key}, then resume the run.`,
    context: { agent: name },
    cause: refusal,
  });
}

/** Most agents put the reason beside the message. */
function refusalMessage({ message, data }: AcpRefusal): string {
  const more = typeof data === 'string' ? data : detailsOf(data);
  return more === '' || message.includes(more) ? message : `${message}: ${more}`;
}

function detailsOf(data: unknown): string {
  if (typeof data !== 'object' || data === null) return '';
  const { details, message } = data as { readonly details?: unknown; readonly message?: unknown };
  return [details, message].find((text) => typeof text === 'string') ?? JSON.stringify(data);
}
