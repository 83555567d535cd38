import type { RetryPolicy } from '@langchain/langgraph';
import { engineFaultOf } from '../../engine/execution/EngineFaults.ts';
import { type ErrorCode, isDevsError } from '../../errors/DevsError.ts';
import type { ErrorKind } from '../types.ts';

const TRANSIENT_CODES: ReadonlySet<string> = new Set([
  'EAI_AGAIN',
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
  'SQLITE_BUSY',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_SOCKET',
]);
const TRANSIENT_STATUS: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504, 529]);
const TRANSIENT_TEXT =
  /\b(?:E(?:CONN\w+|TIMEDOUT|AI_AGAIN|NOTFOUND|PIPE|HOSTUNREACH|NETUNREACH)|SQLITE_BUSY|database is locked|time(?:d[ -]?)?out|rate[ -]?limit\w*|too many requests|socket hang up|network|fetch failed|internal server error|bad gateway|temporar(?:y|ily)|unavailable|overloaded|connection (?:reset|refused|closed|lost)|(?:status|http)\D{0,8}(?:408|425|429|5\d\d)|429|50[234])\b/i;

const LOGIC_NAMES: ReadonlySet<string> = new Set([
  'AssertionError',
  'DevsError',
  'EvalError',
  'RangeError',
  'ReferenceError',
  'SyntaxError',
  'TypeError',
  'URIError',
  'ZodError',
]);
const LOGIC_TEXT =
  /\b(?:assertion|invalid|is not (?:a function|defined|iterable)|cannot read|must be|expected)\b/i;

/**
 * Returns whether a retry can help.
 *
 * Transient signs take precedence over the class: a dropped connection arrives as `TypeError: fetch failed`.
 */
export function classifyError(error: unknown): ErrorKind {
  const { name, message, codes, statuses } = signsOf(error);
  const isTransient =
    codes.some((code) => TRANSIENT_CODES.has(code)) ||
    statuses.some((status) => TRANSIENT_STATUS.has(status)) ||
    name === 'TimeoutError' ||
    TRANSIENT_TEXT.test(message);
  if (isTransient) return 'transient';
  return LOGIC_NAMES.has(name) || LOGIC_TEXT.test(message) ? 'logic' : 'unknown';
}

interface ErrorSigns {
  readonly name: string;
  readonly message: string;
  readonly codes: readonly string[];
  readonly statuses: readonly number[];
}

/** Causes looked through: clients wrap the code of the socket error more than once. */
const MAX_LAYERS = 5;

function signsOf(error: unknown): ErrorSigns {
  if (typeof error === 'string') return { name: '', message: error, codes: [], statuses: [] };
  const layers = layersOf(error);
  return {
    name: stringOrEmpty(layers[0]?.['name']),
    message: stringOrEmpty(layers[0]?.['message']),
    codes: layers.map((layer) => stringOrEmpty(layer['code'])),
    statuses: layers.flatMap((layer) => [Number(layer['status']), Number(layer['statusCode'])]),
  };
}

/** The error, its cause, the cause of that, … */
function layersOf(error: unknown, count = MAX_LAYERS): readonly Record<string, unknown>[] {
  const layer = errorFields(error);
  const cause = layer['cause'];
  return cause == null || count === 1 ? [layer] : [layer, ...layersOf(cause, count - 1)];
}

function errorFields(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

const stringOrEmpty = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Times a node is tried in one visit. */
export const MAX_ATTEMPTS = 3;

/** Faults around the pipeline: its folder, sandbox, recording or configuration. They stop a run until someone fixes them. */
export const SURROUNDINGS: ReadonlySet<ErrorCode> = new Set([
  'CONFIG_INVALID',
  'REPLAY_MISS',
  'SANDBOX_MISSING',
  'WORKSPACE_BUSY',
  'WORKSPACE_FAILED',
]);

/**
 * Whether a retry can help: the error is transient, and not a fault of the engine or of the surroundings. An agent that has
 * waited for its provider is not retried.
 */
export function isRetriable(error: unknown): boolean {
  const hasWaited = isDevsError(error, 'AGENT_FAILED') && error.context['waitedMs'] !== undefined;
  return !hasWaited && engineFaultOf(error, SURROUNDINGS) === null && classifyError(error) === 'transient';
}

/** When a provider takes requests again, where it named an hour; `null` for any other error. */
export function retryTimeOf(error: unknown): Date | null {
  if (!isDevsError(error, 'AGENT_FAILED')) return null;
  const at = new Date(error.context['retryAt'] ?? Number.NaN);
  return Number.isNaN(at.getTime()) ? null : at;
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
