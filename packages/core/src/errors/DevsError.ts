/** Every code that the engine can raise. Match on the code, not on the message. */
export const ERROR_CODES = [
  'AGENT_FAILED',
  'AGENT_INVALID_OUTPUT',
  'AGENT_MAY_NOT_DECIDE',
  'ALREADY_VOTED',
  'ASK_UNSUPPORTED',
  'BUDGET_SPENT',
  'CHECKPOINT_NOT_FOUND',
  'CHILD_NOT_TAKEN',
  'CONFIG_INVALID',
  'CONFIG_NOT_TRUSTED',
  'DAG_INVALID',
  'FEEDBACK_REQUIRED',
  'GATE_ALREADY_DECIDED',
  'GATE_HIDDEN',
  'GATE_NOT_FOUND',
  'GATE_NOT_READY',
  'GATE_STALE',
  'GITHUB_FAILED',
  'GRAPH_CHANGED',
  'GRAPH_NOT_ACCEPTED',
  'INPUT_NOT_TAKEN',
  'INTERRUPT_IN_EDGE',
  'INVALID_ANSWER',
  'INVALID_INPUT',
  'INVALID_PRINCIPAL',
  'JOURNAL_DEGRADED',
  'LEASE_LOST',
  'MAY_NOT_APPROVE',
  'MIGRATION_EDITED',
  'MIGRATION_GAP',
  'NOT_KEPT',
  'NO_PROGRESS',
  'PATH_REFUSED',
  'POLICY_NOT_DECLARED',
  'QUOTE_NOT_SHOWN',
  'REMOVE_REFUSED',
  'REPLAY_MISS',
  'REWIND_CONFLICT',
  'REWIND_REFUSED',
  'RUN_ELSEWHERE',
  'RUN_FAILED',
  'SANDBOX_MISSING',
  'SCHEMA_FOREIGN',
  'SCHEMA_TOO_NEW',
  'SIGNAL_NOT_TAKEN',
  'STATE_BUSY',
  'STATE_CORRUPT',
  'STATE_DISK_FULL',
  'STATE_IO',
  'STATE_KEY_MISMATCH',
  'STATE_NOT_TRUSTED',
  'STATE_REPLACED',
  'STEP_AMBIGUOUS',
  'STORE_UNSUPPORTED',
  'STREAM_NOT_KEPT',
  'SYNC_CONFLICT',
  'THREAD_BUSY',
  'THREAD_DEAD',
  'THREAD_EXISTS',
  'THREAD_NOT_FOUND',
  'THREAD_NOT_OURS',
  'TRANSFER_REFUSED',
  'UPDATE_REFUSED',
  'USE_DECIDE',
  'VALUE_NOT_STORABLE',
  'VALUE_TOO_LARGE',
  'WORKSPACE_BUSY',
  'WORKSPACE_DIRTY',
  'WORKSPACE_FAILED',
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

export interface DevsErrorOptions {
  readonly code: ErrorCode;
  /** One imperative sentence the operator can act on. Shown by every surface. */
  readonly remedy: string;
  /** Identifiers only (task, file, version). Never prompts, secrets or whole states. */
  readonly context?: Readonly<Record<string, string | number>>;
  readonly cause?: unknown;
}

/**
 * An operational failure, for a reason outside the calling program.
 *
 * Wrong arguments are `TypeError` or `RangeError`. Suspensions are signals, not errors.
 */
export class DevsError extends Error {
  readonly code: ErrorCode;
  readonly remedy: string;
  readonly context: Readonly<Record<string, string | number>>;

  constructor(message: string, { code, remedy, context = {}, cause }: DevsErrorOptions) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.remedy = remedy;
    this.context = context;
  }

  static {
    Object.defineProperty(DevsError.prototype, 'name', { value: 'DevsError' });
  }
}

/** Returns true for a {@link DevsError}, optionally of one code; also across duplicated packages. */
export function isDevsError(error: unknown, code?: ErrorCode): error is DevsError {
  if (!(error instanceof Error) || error.name !== 'DevsError') return false;
  return code === undefined || (error as DevsError).code === code;
}

/** Does `work`, then `end`, whatever came of it; of two errors the first is the one that is thrown. */
export async function endingWith<T>(end: () => void, work: () => Promise<T>): Promise<T> {
  const [done] = await Promise.allSettled([work()]);
  try {
    end();
  } catch (error) {
    if (done.status === 'fulfilled') throw error;
  }
  if (done.status === 'rejected') throw done.reason;
  return done.value;
}
