import { DevsError, isDevsError } from '../../errors/DevsError.ts';
import { maskPreciseDeep } from '../../masking/maskPrecise.ts';
import type { StepResult, StepStore } from '../../state/StepStore.ts';

/** What is recorded of a call's result, and how many secrets were masked in it. */
export interface ResultToRecord {
  readonly result: StepResult;
  readonly count: number;
}

/**
 * A result masked and encoded. It is read at once: what the caller does to it later changes nothing.
 *
 * @throws DevsError `VALUE_NOT_STORABLE` or `VALUE_TOO_LARGE`, naming step and place.
 */
export async function resultToRecord(
  value: unknown,
  name: string,
  steps: StepStore,
): Promise<ResultToRecord> {
  try {
    const { value: masked, count } = maskOrLeave(value);
    return { result: await steps.encode(masked), count };
  } catch (error) {
    throw isRefusal(error) ? refusedResult(name, error.message, error) : error;
  }
}

/** What cannot be searched is too deep or contains itself; the encoder refuses it and says which. */
function maskOrLeave(value: unknown): { readonly value: unknown; readonly count: number } {
  try {
    return maskPreciseDeep(value);
  } catch (error) {
    if (isDevsError(error, 'VALUE_TOO_LARGE')) return { value, count: 0 };
    throw error;
  }
}

/** Of a step whose result was refused before: LangGraph's retry of its node is nobody's decision to pay again. */
export function refusedBefore(name: string): DevsError {
  return refusedResult(name, 'Its call was made, and is not made again by a retry of its node.');
}

export function isRefusal(error: unknown): error is DevsError {
  return isDevsError(error, 'VALUE_NOT_STORABLE') || isDevsError(error, 'VALUE_TOO_LARGE');
}

/** A refusal as an error of the graph, which ends the run as failed; it leaves the node even if the node caught it. */
export function asFailure(refusal: DevsError): Error {
  return new Error(`${refusal.code}: ${refusal.message}`, { cause: refusal });
}

function refusedResult(name: string, why: string, cause?: DevsError): DevsError {
  return new DevsError(`The result of step "${name}" cannot be stored. ${why}`, {
    code: cause?.code ?? 'VALUE_NOT_STORABLE',
    remedy:
      'Return from the step what can be stored: plain values, messages and documents of LangChain, dates, maps, sets, bytes. Then run it again: the call is made anew.',
    context: { ...cause?.context, step: name },
    cause,
  });
}
