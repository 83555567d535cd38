import { type ErrorCode, isDevsError, maskSensitiveData } from '@devs/core';
import { visibleText } from '@devs/core/internal';

export type ErrorStatus = 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 422 | 429 | 500 | 501 | 503;

/** A request that the server refuses itself. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: ErrorStatus;
  /** A code of the engine, or one of this server. */
  readonly code: string;

  constructor(status: ErrorStatus, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** As the stock clients read it: `detail` is LangGraph's member, `code` and `remedy` are ours. */
export interface ErrorBody {
  readonly error: string;
  readonly message: string;
  readonly detail: string;
  readonly code: string;
  readonly remedy?: string;
}

/** Every other failure of the engine is a conflict with the state that the thread has. */
const STATUS: Partial<Readonly<Record<ErrorCode, ErrorStatus>>> = {
  ...{ AGENT_MAY_NOT_DECIDE: 403, POLICY_NOT_DECLARED: 403, MAY_NOT_APPROVE: 403 },
  ...{ THREAD_NOT_FOUND: 404, NOT_KEPT: 404, CHECKPOINT_NOT_FOUND: 404 },
  ...{ INPUT_NOT_TAKEN: 422, INVALID_INPUT: 422, INVALID_ANSWER: 422, INVALID_PRINCIPAL: 422 },
  ...{ FEEDBACK_REQUIRED: 422, VALUE_NOT_STORABLE: 422, VALUE_TOO_LARGE: 413 },
  ...{ CONFIG_INVALID: 503, SCHEMA_FOREIGN: 503, SCHEMA_TOO_NEW: 503, STATE_BUSY: 503, STATE_CORRUPT: 503 },
  ...{ STATE_DISK_FULL: 503, STATE_IO: 503, STATE_KEY_MISMATCH: 503, STATE_REPLACED: 503 },
};

/** A failure as a client receives it: masked, and without a stack. */
export interface ErrorView {
  readonly status: ErrorStatus;
  readonly body: ErrorBody;
}

export function errorView(error: unknown): ErrorView {
  if (error instanceof ApiError) return viewOf(error.status, error.code, error.message);
  if (isDevsError(error)) return viewOf(STATUS[error.code] ?? 409, error.code, error.message, error.remedy);
  if (error instanceof RangeError || error instanceof TypeError)
    return viewOf(422, 'INVALID_REQUEST', error.message);
  return viewOf(500, 'INTERNAL', error instanceof Error ? error.message : String(error));
}

function viewOf(status: ErrorStatus, code: string, message: string, remedy?: string): ErrorView {
  const text = shown(message);
  const view = { error: code, message: text, detail: text, code };
  return { status, body: remedy === undefined ? view : { ...view, remedy: shown(remedy) } };
}

const shown = (text: string): string => visibleText(maskSensitiveData(text));

export const notFound = (what: string): ApiError => new ApiError(404, 'NOT_FOUND', `${what} not found.`);

export const invalid = (message: string): ApiError => new ApiError(422, 'INVALID_REQUEST', message);

export const notOffered = (message: string): ApiError => new ApiError(501, 'NOT_OFFERED', message);
