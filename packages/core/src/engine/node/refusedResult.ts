import { type Limits, tooLarge } from '../../config/limits.ts';
import { DevsError, isDevsError } from '../../errors/DevsError.ts';
import { maskSensitiveData } from '../../masking/maskSensitiveData.ts';
import type { Refusal, StepResult, StepStore } from '../../state/steps/StepStore.ts';
import { heaviestPlace } from '../../values/heaviestPlace.ts';

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

/** What is recorded of a refusal. */
export function resultRefusal({ code, message }: DevsError): Refusal {
  return { code: code as Refusal['code'], message: maskSensitiveData(message) };
}

/** The refusal of a call that was made in an execution before: nobody has decided to pay for it again. */
export function refusedBefore({ code, message }: Refusal, name: string): DevsError {
  return new Unkept(message, { code, remedy: REMEDIES[code], context: { step: name } });
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

const REMEDIES: Readonly<Record<Refusal['code'], string>> = {
  VALUE_NOT_STORABLE:
    'Return plain values, LangChain messages or documents, dates, maps, sets or bytes from the step. Then resume the run, which repeats the call.',
  VALUE_TOO_LARGE:
    'Return a smaller or flatter value from the step, or raise `limits.stepBytes`. Then resume the run, which repeats the call.',
};

function refusedResult(name: string, cause: DevsError): DevsError {
  return new Unkept(`The result of step "${name}" cannot be stored. ${cause.message}`, {
    code: cause.code,
    remedy:
      `option` in cause.context
        ? `${cause.remedy} Then resume the run, which repeats the call.`
        : REMEDIES[cause.code as Refusal['code']],
    context: { ...cause.context, step: name },
    cause,
  });
}
