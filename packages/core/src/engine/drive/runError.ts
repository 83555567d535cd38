import { maskSensitiveData } from '../../masking/maskSensitiveData.ts';

/** What a node threw, in words: an error may hold what must not leave the process. Masked. */
export interface RunError {
  /** Of its class, such as `InvalidUpdateError`. */
  readonly name: string;
  readonly message: string;
  readonly stack: string;
  /** What it was thrown because of. */
  readonly cause?: RunError;
}

/** Errors told of a chain of causes: one may lead back to itself. */
const MAX_CAUSES = 8;

export function runError(thrown: unknown, causes = MAX_CAUSES): RunError {
  if (!(thrown instanceof Error)) {
    return { name: typeof thrown, message: maskSensitiveData(String(thrown)), stack: '' };
  }
  const { name, message, stack = '', cause } = thrown;
  return {
    name,
    message: maskSensitiveData(message),
    stack: maskSensitiveData(stack),
    ...(cause !== undefined && causes > 0 && { cause: runError(cause, causes - 1) }),
  };
}
