import { createHash, randomUUID } from 'node:crypto';
import { maskSensitiveData, maskStart } from '../../masking/maskSensitiveData.ts';
import { MASK_REACH } from '../../masking/safeCut.ts';
import type { ErrorRecord } from '../types.ts';
import { classifyError } from './classifyError.ts';

/** Characters kept of a message and of a stack; the state holds up to twenty records. */
const MAX_MESSAGE = 2_000;
const MAX_STACK = 8_000;

export interface ErrorOccurrence {
  readonly error: unknown;
  readonly sourceNode: string;
  readonly taskId: string | null;
  readonly consecutiveCount: number;
  /** Milliseconds since the Unix epoch. */
  readonly capturedAtMs: number;
  /** Sets the record's id apart from that of an equal one. @defaultValue nothing does */
  readonly nonce?: string;
}

/** Creates a masked record of an error, with its own id and the current time. */
export function buildErrorRecord(
  error: unknown,
  sourceNode: string,
  taskId: string | null,
  consecutiveCount: number,
): ErrorRecord {
  const capturedAtMs = Date.now();
  return errorRecordAt({ error, sourceNode, taskId, consecutiveCount, capturedAtMs, nonce: randomUUID() });
}

/**
 * {@link buildErrorRecord} with the time given.
 *
 * The id's first part is that time, its second a hash of everything else in the record: without a nonce the same
 * occurrence at the same time has the same id, so a replay does not grow the history.
 */
export function errorRecordAt({ error, capturedAtMs, nonce = '', ...place }: ErrorOccurrence): ErrorRecord {
  const { sourceNode, taskId, consecutiveCount } = place;
  const message = maskedMessageOf(error);
  const stackTrace = maskedStackOf(error);
  const kind = classifyError(error);
  const digest = createHash('sha256')
    .update(JSON.stringify([sourceNode, taskId, consecutiveCount, kind, message, stackTrace]) + nonce)
    .digest('hex');
  return {
    errorId: `err-${capturedAtMs}-${digest.slice(0, 12)}`,
    capturedAt: new Date(capturedAtMs).toISOString(),
    sourceNode,
    message,
    stackTrace,
    kind,
    consecutiveCount,
    taskId,
  };
}

/** The message as it is recorded. */
export function maskedMessageOf(error: unknown): string {
  return maskedClip(errorMessage(error), MAX_MESSAGE);
}

/** Empty for a thrown value that has no stack. */
function maskedStackOf(error: unknown): string {
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  return maskedClip(stack, MAX_STACK);
}

function errorMessage(error: unknown): string {
  if (error instanceof Error) return error.message;
  if (typeof error !== 'object' || error === null) return String(error);
  if ('message' in error && typeof error.message === 'string') return error.message;
  return Object.prototype.toString.call(error);
}

/** Masked whole, then clipped, so that no secret is cut in two; of a long text only its beginning is looked at. */
function maskedClip(text: string, max: number): string {
  const masked = text.length <= max + MASK_REACH ? maskSensitiveData(text) : maskStart(text, max);
  return clipMessage(masked, max);
}

function clipMessage(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max)}…`;
}
