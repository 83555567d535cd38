// The errors of nodes: captured by the handler of the graph, masked, counted, and recorded by the `error` node.

import { createHash, randomUUID } from 'node:crypto';
import { Command, type LangGraphRunnableConfig, type NodeError } from '@langchain/langgraph';
import { errorFingerprint } from '../../engine/entropy/errorFingerprint.ts';
import { maskSensitiveData, maskStart } from '../../masking/maskSensitiveData.ts';
import { MASK_REACH } from '../../masking/safeCut.ts';
import { advance, pickTask } from '../taskStates.ts';
import type { CapturedError, ErrorRecord, GraphState } from '../types.ts';
import { classifyError } from './classifyError.ts';

/** Characters; the record of an error has fewer. */
const MAX_TEXT = 64 * 1024;

/**
 * LangGraph's error handler for every node of the pipeline: keeps what was thrown, masked, and leads to `error`.
 *
 * Never rethrows: LangGraph would store the error and replay it to this handler for ever. An error that comes back
 * after a crash has lost its stack.
 */
export function captureError(state: unknown, { node, error }: NodeError) {
  const capturedError: CapturedError = {
    node,
    name: error.name,
    message: maskStart(error.message, MAX_TEXT),
    stackTrace: maskStart(error.stack ?? '', MAX_TEXT),
  };
  const episode = node === 'implement' ? episodeOf(state as GraphState) : {};
  const update: Partial<GraphState> = { ...episode, capturedError, pendingSuspension: null };
  return new Command({ goto: 'error', update });
}

/** The task `implement` had picked when it threw: its own update is lost; error and attempt belong to that task. */
function episodeOf(state: GraphState): Partial<GraphState> {
  const { activeTaskId, activeEpicId, implementationTurns, entropy, errorHistory, taskAttempts, taskPivots } =
    pickTask(state).state;
  return {
    activeTaskId,
    activeEpicId,
    implementationTurns,
    entropy,
    errorHistory,
    taskAttempts: taskAttempts + 1,
    taskPivots,
  };
}

/** Records kept in the state; the journal has them all. */
const MAX_HISTORY = 20;

/**
 * The `error` node: appends a masked record, marks the active task failed and sets the status [8_RISKS-REQ-001].
 *
 * Uses and clears the error that the graph's handler captured; without one, it uses and clears `pendingRecoveryNode`.
 * With LangGraph's `config`, the time is that of the node's checkpoint, so running it again creates the same record.
 */
export function errorNode(
  state: GraphState,
  config: Pick<LangGraphRunnableConfig, 'executionInfo'> = {},
): Partial<GraphState> {
  const { activeTaskId, errorHistory, tasks } = state;
  const { error, sourceNode, isSignalled } = capturedIn(state);
  const record = errorRecordAt({
    error,
    sourceNode,
    taskId: activeTaskId,
    consecutiveCount: countConsecutiveErrors(errorHistory, error.message, activeTaskId),
    capturedAtMs: checkpointTime(config.executionInfo?.checkpointId ?? '') ?? Date.now(),
  });
  return {
    errorHistory: [...errorHistory, record].slice(-MAX_HISTORY),
    tasks: tasks.map((task) => (task.taskId === activeTaskId ? { ...task, status: 'failed' } : task)),
    ...advance(state, 'error'),
    capturedError: null,
    ...(isSignalled && { pendingRecoveryNode: null }),
  };
}

function capturedIn({ capturedError, pendingRecoveryNode }: GraphState): {
  error: Error;
  sourceNode: string;
  /** Read from `pendingRecoveryNode`, which has then led here and must not again; else it is a pivot that is still to come. */
  isSignalled: boolean;
} {
  if (capturedError != null)
    return { error: restore(capturedError), sourceNode: capturedError.node, isSignalled: false };
  const sourceNode = pendingRecoveryNode ?? 'unknown';
  const error = new Error(`Unhandled error in node "${sourceNode}".`);
  // This stack is ours, not that of what went wrong.
  error.stack = '';
  return { error, sourceNode, isSignalled: true };
}

function restore({ name, message, stackTrace }: CapturedError): Error {
  const error = new Error(message);
  error.name = name;
  error.stack = stackTrace;
  return error;
}

/** Between the epoch of version 6 UUIDs (1582-10-15) and the Unix epoch. */
const GREGORIAN_OFFSET_MS = 12_219_292_800_000n;
const TICKS_PER_MS = 10_000n;
const UUID6 = /^([0-9a-f]{8})-([0-9a-f]{4})-6([0-9a-f]{3})-/i;

/**
 * When a checkpoint was written, in milliseconds since the Unix epoch, read from its id; `null` for an id of
 * another form.
 *
 * A node that needs a time takes it from here: it runs again after a crash, and the checkpoint it starts from
 * is then the same.
 */
function checkpointTime(checkpointId: string): number | null {
  const parts = UUID6.exec(checkpointId);
  if (parts === null) return null;
  const ticks = BigInt(`0x${parts[1]}${parts[2]}${parts[3]}`);
  return Number(ticks / TICKS_PER_MS - GREGORIAN_OFFSET_MS);
}

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
function maskedMessageOf(error: unknown): string {
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

/**
 * Returns the `consecutiveCount` of a new error: it, and the newest records in a row with its task and message,
 * ignoring accidental differences. 1 for an empty history.
 */
export function countConsecutiveErrors(
  history: readonly ErrorRecord[],
  message: string,
  taskId: string | null,
): number {
  const wanted = errorFingerprint(maskedMessageOf(message));
  const other = history.findLastIndex(
    (record) => errorFingerprint(record.message) !== wanted || record.taskId !== taskId,
  );
  return history.length - other;
}
