import { type DevsError, type ErrorCode, isDevsError } from '../../errors/DevsError.ts';
import type { FencedLease } from '../../state/commits/immediateTransaction.ts';

/** Failures of the engine: no run goes on without its file and its lease. */
const FAULT_CODES: ReadonlySet<ErrorCode> = new Set([
  'LEASE_LOST',
  'STATE_CORRUPT',
  'STATE_DISK_FULL',
  'STATE_IO',
  'STATE_REPLACED',
  'STEP_AMBIGUOUS',
]);

const NO_CODES: ReadonlySet<ErrorCode> = new Set();

/**
 * The fault of the engine behind an error; `null` when it is the graph's own business, as a fault of a database of the
 * author's is: those of the state file are typed.
 *
 * @param surroundings - See `GraphProfile`.
 */
export function engineFaultOf(error: unknown, surroundings = NO_CODES): DevsError | null {
  if (!isDevsError(error)) return null;
  return FAULT_CODES.has(error.code) || surroundings.has(error.code) ? error : null;
}

/** {@link engineFaultOf} what code inside a node has thrown: that another lease is lost, or a call had none, is its own failure. */
export function faultInside(
  error: unknown,
  { threadId }: Pick<FencedLease, 'threadId'>,
  surroundings = NO_CODES,
): DevsError | null {
  const fault = engineFaultOf(error, surroundings);
  if (fault?.code !== 'LEASE_LOST') return fault;
  const { threadId: lost = threadId, isWithout } = fault.context;
  return lost === threadId && isWithout === undefined ? fault : null;
}

/**
 * Carries a fault out of a node. A fault leaves the node as `GraphDrained`, the one throw LangGraph neither
 * retries, handles nor stores, so the task stays pending; the driver takes the fault from here.
 */
export class EngineFaults {
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
