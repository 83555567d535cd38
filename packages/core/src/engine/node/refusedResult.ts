import { DevsError, isDevsError } from '../../errors/DevsError.ts';
import { maskSensitiveData } from '../../masking/maskSensitiveData.ts';
import type { Refusal, StepResult, StepStore } from '../../state/StepStore.ts';

/**
 * A result encoded. It is read at once: what the caller does to it later changes nothing.
 *
 * @throws DevsError `VALUE_NOT_STORABLE` or `VALUE_TOO_LARGE`, naming step and place.
 */
export async function resultToRecord(value: unknown, name: string, steps: StepStore): Promise<StepResult> {
  try {
    return await steps.encode(value);
  } catch (error) {
    throw isUnstorable(error) ? refusedResult(name, error) : error;
  }
}

/** What is recorded of a refusal. */
export function refusalOf({ code, message }: DevsError): Refusal {
  return { code: code as Refusal['code'], message: maskSensitiveData(message) };
}

/** The refusal of a call that was made in an execution before: nobody has decided to pay for it again. */
export function refusedBefore({ code, message }: Refusal, name: string): DevsError {
  return new Unkept(message, { code, remedy: REMEDY, context: { step: name } });
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

const REMEDY =
  'Return from the step what can be stored: plain values, messages and documents of LangChain, dates, maps, sets, bytes. Then run it again: the call is made anew.';

function refusedResult(name: string, cause: DevsError): DevsError {
  return new Unkept(`The result of step "${name}" cannot be stored. ${cause.message}`, {
    code: cause.code,
    remedy: REMEDY,
    context: { ...cause.context, step: name },
    cause,
  });
}
