import { type ErrorCode, isDevsError, maskSensitiveData } from '@devs/core';
import { CommanderError } from 'commander';
import { EXIT, type ExitCode } from '../exitCodes.ts';
import { visibleJson, visibleText } from '../terminal/visible.ts';

const EXIT_CODES: Readonly<Record<ErrorCode, ExitCode>> = {
  AGENT_FAILED: EXIT.runFailed,
  AGENT_INVALID_OUTPUT: EXIT.runFailed,
  AGENT_MAY_NOT_DECIDE: EXIT.gateRefused,
  ALREADY_VOTED: EXIT.gateRefused,
  ASK_UNSUPPORTED: EXIT.gateRefused,
  BUDGET_SPENT: EXIT.gateRefused,
  CHECKPOINT_NOT_FOUND: EXIT.notFound,
  CHILD_NOT_TAKEN: EXIT.usage,
  CONFIG_INVALID: EXIT.usage,
  CONFIG_NOT_TRUSTED: EXIT.usage,
  DAG_INVALID: EXIT.runFailed,
  FEEDBACK_REQUIRED: EXIT.gateRefused,
  GATE_ALREADY_DECIDED: EXIT.gateRefused,
  GATE_HIDDEN: EXIT.gateRefused,
  GATE_NOT_FOUND: EXIT.notFound,
  GATE_NOT_READY: EXIT.gateRefused,
  GATE_STALE: EXIT.gateRefused,
  GITHUB_FAILED: EXIT.runFailed,
  GRAPH_CHANGED: EXIT.stateFile,
  GRAPH_NOT_ACCEPTED: EXIT.gateRefused,
  INPUT_NOT_TAKEN: EXIT.usage,
  INTERRUPT_IN_EDGE: EXIT.runFailed,
  INVALID_ANSWER: EXIT.gateRefused,
  INVALID_INPUT: EXIT.usage,
  INVALID_PRINCIPAL: EXIT.usage,
  JOURNAL_DEGRADED: EXIT.stateFile,
  LEASE_LOST: EXIT.busy,
  MAY_NOT_APPROVE: EXIT.gateRefused,
  MIGRATION_EDITED: EXIT.stateFile,
  MIGRATION_GAP: EXIT.stateFile,
  NO_PROGRESS: EXIT.runFailed,
  PATH_REFUSED: EXIT.runFailed,
  POLICY_NOT_DECLARED: EXIT.gateRefused,
  QUOTE_NOT_SHOWN: EXIT.gateRefused,
  REMOVE_REFUSED: EXIT.gateRefused,
  REPLAY_MISS: EXIT.runFailed,
  REWIND_CONFLICT: EXIT.runFailed,
  REWIND_REFUSED: EXIT.gateRefused,
  RUN_ELSEWHERE: EXIT.usage,
  RUN_FAILED: EXIT.runFailed,
  SANDBOX_MISSING: EXIT.usage,
  SCHEMA_FOREIGN: EXIT.stateFile,
  SCHEMA_TOO_NEW: EXIT.stateFile,
  SIGNAL_NOT_TAKEN: EXIT.usage,
  STATE_CORRUPT: EXIT.stateFile,
  STATE_BUSY: EXIT.busy,
  STATE_DISK_FULL: EXIT.stateFile,
  STATE_IO: EXIT.stateFile,
  STATE_NOT_TRUSTED: EXIT.usage,
  STATE_KEY_MISMATCH: EXIT.stateFile,
  STATE_REPLACED: EXIT.stateFile,
  STEP_AMBIGUOUS: EXIT.stateFile,
  STORE_UNSUPPORTED: EXIT.runFailed,
  NOT_KEPT: EXIT.notFound,
  STREAM_NOT_KEPT: EXIT.notFound,
  SYNC_CONFLICT: EXIT.runFailed,
  THREAD_BUSY: EXIT.busy,
  THREAD_DEAD: EXIT.runFailed,
  THREAD_EXISTS: EXIT.usage,
  THREAD_NOT_FOUND: EXIT.notFound,
  THREAD_NOT_OURS: EXIT.usage,
  TRANSFER_REFUSED: EXIT.gateRefused,
  UPDATE_REFUSED: EXIT.gateRefused,
  USE_DECIDE: EXIT.gateRefused,
  VALUE_NOT_STORABLE: EXIT.runFailed,
  VALUE_TOO_LARGE: EXIT.runFailed,
  WORKSPACE_BUSY: EXIT.busy,
  WORKSPACE_DIRTY: EXIT.runFailed,
  WORKSPACE_FAILED: EXIT.runFailed,
};

export interface RenderedError {
  /** For stderr; empty when commander has said it. */
  readonly text: string;
  readonly exitCode: ExitCode;
}

interface Described {
  readonly code: string;
  readonly message: string;
  readonly remedy: string;
  readonly exitCode: ExitCode;
}

/** Turns whatever was thrown into what goes to stderr, masked. An unknown value is a bug: 70. */
export function renderError(thrown: unknown, { json }: { readonly json: boolean }): RenderedError {
  if (thrown instanceof CommanderError && isHelp(thrown)) {
    return { text: '', exitCode: thrown.exitCode === 0 ? EXIT.ok : EXIT.usage };
  }
  const { exitCode, ...error } = describe(thrown);
  const { code, message, remedy } = maskedDescription(error);
  const text = json
    ? visibleJson(JSON.stringify({ error: { code, message, remedy } }))
    : `${code}: ${visibleText(message)}\n  → ${visibleText(remedy)}`;
  return { text: `${text}\n`, exitCode };
}

function describe(thrown: unknown): Described {
  if (isDevsError(thrown)) {
    const { code, message, remedy } = thrown;
    return { code, message, remedy, exitCode: EXIT_CODES[code] ?? EXIT.internal };
  }
  if (thrown instanceof CommanderError) {
    const message = thrown.message.replace(/^error: /, '');
    return { code: 'USAGE', message, remedy: 'Use --help to see the options.', exitCode: EXIT.usage };
  }
  return {
    code: 'INTERNAL',
    message: thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown),
    remedy: 'This is a bug. Please report it with the text above. Recorded runs can be resumed.',
    exitCode: EXIT.internal,
  };
}

function maskedDescription({
  code,
  message,
  remedy,
}: Omit<Described, 'exitCode'>): Omit<Described, 'exitCode'> {
  return { code, message: maskSensitiveData(message), remedy: maskSensitiveData(remedy) };
}

function isHelp({ code }: CommanderError): boolean {
  return code === 'commander.help' || code === 'commander.helpDisplayed' || code === 'commander.version';
}
