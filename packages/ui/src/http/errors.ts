import { type ErrorCode, isDevsError, maskSensitiveData } from '@devs/core';
import { visibleText } from '@devs/core/internal';
import { jsonResponse } from './responses.ts';

/** An error as the page shows it: what happened, under which code, and what to do. */
export interface ErrorView {
  /** A code of the engine, or one of this page. */
  readonly code: string;
  readonly message: string;
  readonly remedy: string;
}

/** What this page says no to by itself. */
export class UiError extends Error {
  override readonly name = 'UiError';
  readonly status: number;
  readonly view: ErrorView;

  constructor(status: number, view: ErrorView) {
    super(view.message);
    this.status = status;
    this.view = view;
  }
}

/** Where the world is in the way; every other failure of the engine is a conflict with what was asked. */
const STATUS: Partial<Readonly<Record<ErrorCode, number>>> = {
  AGENT_MAY_NOT_DECIDE: 403,
  GATE_NOT_FOUND: 404,
  INVALID_PRINCIPAL: 422,
  INVALID_ANSWER: 422,
  FEEDBACK_REQUIRED: 422,
  MAY_NOT_APPROVE: 403,
  NOT_KEPT: 404,
  THREAD_NOT_FOUND: 404,
  CONFIG_INVALID: 503,
  MIGRATION_EDITED: 503,
  MIGRATION_GAP: 503,
  SCHEMA_FOREIGN: 503,
  SCHEMA_TOO_NEW: 503,
  STATE_CORRUPT: 503,
  STATE_BUSY: 503,
  STATE_DISK_FULL: 503,
  STATE_IO: 503,
  STATE_KEY_MISMATCH: 503,
  STATE_REPLACED: 503,
};

/** The same code and remedy as on the command line; never a stack. */
export function errorResponse(error: unknown): Response {
  return jsonResponse({ error: toErrorView(error) }, statusOf(error));
}

function statusOf(error: unknown): number {
  if (error instanceof UiError) return error.status;
  if (isDevsError(error)) return STATUS[error.code] ?? 409;
  return error instanceof RangeError ? 422 : 500;
}

/** An error for the page, masked. */
export function toErrorView(error: unknown): ErrorView {
  if (error instanceof UiError) return maskedErrorView(error.view);
  if (isDevsError(error)) return maskedErrorView(error);
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof RangeError)
    return maskedErrorView({ code: 'INVALID_REQUEST', message, remedy: 'Go back to the inbox.' });
  const remedy = 'Reload the page. If the error stays, report it with this message.';
  return maskedErrorView({ code: 'INTERNAL', message, remedy });
}

const maskedErrorView = ({ code, message, remedy }: ErrorView): ErrorView => ({
  code,
  message: visibleText(maskSensitiveData(message)),
  remedy: visibleText(maskSensitiveData(remedy)),
});
