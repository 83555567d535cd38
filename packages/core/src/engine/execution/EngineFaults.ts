// Failures that end a node even if its author caught them: faults of the engine, and results that cannot be stored.

import { type Limits, tooLarge } from '../../config/limits.ts';
import { DevsError, type ErrorCode, isDevsError } from '../../errors/DevsError.ts';
import { maskSensitiveData } from '../../masking/maskSensitiveData.ts';
import type { FencedLease } from '../../state/commits/immediateTransaction.ts';
import type { StepStore } from '../../state/steps/StepStore.ts';
import type { Refusal, StepResult } from '../../state/steps/stepRecords.ts';
import { heaviestPlace } from '../../values/heaviestPlace.ts';

/** Failures of the engine: no run goes on without its file and its lease. */
const ENGINE_FAULT_CODES: ReadonlySet<ErrorCode> = new Set([
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
  return ENGINE_FAULT_CODES.has(error.code) || surroundings.has(error.code) ? error : null;
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

/**
 * A result encoded. It is read at once: what the caller does to it later changes nothing.
 *
 * @throws DevsError `VALUE_NOT_STORABLE` or `VALUE_TOO_LARGE`, naming step and place.
 */
export async function resultToRecord(
  value: unknown,
  name: string,
  { steps, limits }: { readonly steps: StepStore; readonly limits: Limits },
): Promise<StepResult> {
  try {
    const result = await steps.encode(value);
    assertResultSize(result, value, limits);
    return result;
  } catch (error) {
    throw isUnstorable(error) ? refusedResult(name, error) : error;
  }
}

function assertResultSize({ json }: StepResult, value: unknown, limits: Limits): void {
  const bytes = Buffer.byteLength(json ?? '');
  if (bytes <= limits.stepBytes) return;
  throw tooLarge({ what: 'It', limit: 'stepBytes', bytes, path: heaviestPlace(value, '$'), limits });
}

/** The record of a refusal. */
export function resultRefusal({ code, message }: DevsError): Refusal {
  return { code: code as Refusal['code'], message: maskSensitiveData(message) };
}

/** The refusal of a call that was made in an execution before: nobody has decided to pay for it again. */
export function refusedBefore({ code, message }: Refusal, name: string): DevsError {
  return new Unkept(message, { code, remedy: REFUSAL_REMEDIES[code], context: { step: name } });
}

/** A result that cannot be kept, and no refusal that the call has met itself. */
class Unkept extends DevsError {}

export const isRefusal = (error: unknown): error is DevsError => error instanceof Unkept;

function isUnstorable(error: unknown): error is DevsError {
  return isDevsError(error, 'VALUE_NOT_STORABLE') || isDevsError(error, 'VALUE_TOO_LARGE');
}

/**
 * A refusal as the end of its run: it leaves the node even if the node caught it, and no handler of the graph's and no retry
 * makes up for it.
 */
export class RefusedResult extends Error {
  constructor(refusal: DevsError) {
    super(`${refusal.code}: ${refusal.message}`, { cause: refusal });
  }
}

const REFUSAL_REMEDIES: Readonly<Record<Refusal['code'], string>> = {
  VALUE_NOT_STORABLE:
    'Return plain values, LangChain messages or documents, dates, maps, sets or bytes from the step. Then resume the run, which repeats the call.',
  VALUE_TOO_LARGE:
    'Return a smaller or flatter value from the step, or raise `limits.stepBytes`. Then resume the run, which repeats the call.',
};

function refusedResult(name: string, cause: DevsError): DevsError {
  return new Unkept(`The result of step "${name}" cannot be stored. ${cause.message}`, {
    code: cause.code,
    remedy:
      `option` in cause.context || `package` in cause.context
        ? `${cause.remedy} Then resume the run, which repeats the call.`
        : REFUSAL_REMEDIES[cause.code as Refusal['code']],
    context: { ...cause.context, step: name },
    cause,
  });
}
