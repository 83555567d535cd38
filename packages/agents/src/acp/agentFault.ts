import { DevsError, maskSensitiveData } from '@devs/core';
import type { AcpProgram } from './AcpProgram.ts';

/** Characters of an agent's own words in an error. */
const SHOWN = 2_000;

/** Of JSON-RPC: the agent wants its user to log in first. */
const AUTH_REQUIRED = -32_000;

/** An agent that could not be asked, in words for people. */
export function agentFault({ name }: AcpProgram, what: string, cause?: unknown): DevsError {
  return new DevsError(`${name} ${shown(what)}`, {
    code: 'AGENT_FAILED',
    remedy: 'Call it once by hand to see that it is logged in and answers, then resume the run.',
    context: { agent: name },
    cause,
  });
}

/** An agent that answered, with nothing that can be used. */
export function uselessAnswer({ name }: AcpProgram, stage: string, problem: string): DevsError {
  return new DevsError(`${name} gave no valid answer for the stage ${stage}: ${shown(problem)}`, {
    code: 'AGENT_INVALID_OUTPUT',
    remedy: 'Resume the run to ask again, or give this stage to a more capable agent.',
    context: { agent: name, stage },
  });
}

/** What a refused request says. */
export function refusedRequest(program: AcpProgram, refusal: Refusal): DevsError {
  if (refusal.code !== AUTH_REQUIRED) return agentFault(program, `failed: ${wordsOf(refusal)}`, refusal);
  const { name, login, env = [] } = program;
  const key = env[0] === undefined ? '' : ` or set ${env[0]}`;
  return new DevsError(`${name} is not logged in: ${shown(wordsOf(refusal))}`, {
    code: 'AGENT_FAILED',
    remedy: `Run \`${login ?? name}\`${key}, then resume the run.`,
    context: { agent: name },
    cause: refusal,
  });
}

/** An error that came back over the connection. */
export interface Refusal extends Error {
  readonly code: number;
  readonly data?: unknown;
}

export const isRefusal = (error: unknown): error is Refusal =>
  error instanceof Error && 'code' in error && typeof error.code === 'number';

export const isAuthRequired = (error: unknown): boolean => isRefusal(error) && error.code === AUTH_REQUIRED;

/** Most agents put the reason beside the message. */
function wordsOf({ message, data }: Refusal): string {
  const more = typeof data === 'string' ? data : detailsOf(data);
  return more === '' || message.includes(more) ? message : `${message}: ${more}`;
}

function detailsOf(data: unknown): string {
  if (typeof data !== 'object' || data === null) return '';
  const { details, message } = data as { readonly details?: unknown; readonly message?: unknown };
  return [details, message].find((text) => typeof text === 'string') ?? JSON.stringify(data);
}

const shown = (text: string): string =>
  maskSensitiveData(text.slice(0, 4 * SHOWN))
    .slice(0, SHOWN)
    .trim();
