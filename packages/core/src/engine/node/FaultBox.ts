import { isStorageFault, toStateFault } from '../../db/sqliteFault.ts';
import { type DevsError, type ErrorCode, isDevsError } from '../../errors/DevsError.ts';

/** Failures of the engine or its surroundings: retrying the node or asking a pivot cannot mend them. */
const FAULT_CODES: ReadonlySet<ErrorCode> = new Set([
  'CONFIG_INVALID',
  'LEASE_LOST',
  'REPLAY_MISS',
  'SANDBOX_MISSING',
  'STATE_CORRUPT',
  'STATE_DISK_FULL',
  'STATE_IO',
  'STATE_REPLACED',
  'STEP_AMBIGUOUS',
  'WORKSPACE_BUSY',
  'WORKSPACE_FAILED',
]);

/** The fault behind an error, or `null` when the error is the graph's own business. */
export function engineFaultOf(error: unknown): DevsError | null {
  if (isDevsError(error)) return FAULT_CODES.has(error.code) ? error : null;
  return isStorageFault(error) ? toStateFault(error) : null;
}

/**
 * Carries a fault out of a node. A fault leaves the node as `GraphDrained`, the one throw LangGraph neither
 * retries, handles nor stores, so the task stays pending; the driver takes the fault from here.
 */
export class FaultBox {
  readonly #faults = new Map<string, unknown>();

  put(threadId: string, fault: unknown): void {
    if (!this.#faults.has(threadId)) this.#faults.set(threadId, fault);
  }

  /** Drops what a branch left after its drive had ended. */
  forget(threadId: string): void {
    this.#faults.delete(threadId);
  }

  /** Takes what a node of this run left behind; `null` for nothing. */
  take(threadId: string): unknown {
    const fault = this.#faults.get(threadId) ?? null;
    this.#faults.delete(threadId);
    return fault;
  }
}
