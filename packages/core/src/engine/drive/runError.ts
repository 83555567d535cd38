import { maskStart } from '../../masking/maskStart.ts';

/** What a node threw, in words: an error may hold what must not leave the process. Masked. */
export interface RunError {
  /** Of its class, such as `InvalidUpdateError`. */
  readonly name: string;
  readonly message: string;
  readonly stack: string;
  /** What it was thrown because of. */
  readonly cause?: RunError;
}

/** Characters of a message or a stack that are told. */
const MAX_TEXT = 64 * 1024;

/** Errors told of a chain of causes: one may lead back to itself. */
const MAX_CAUSES = 8;

export function runError(thrown: unknown, causes = MAX_CAUSES): RunError {
  if (!(thrown instanceof Error)) {
    return { name: typeof thrown, message: maskStart(String(thrown), MAX_TEXT), stack: '' };
  }
  const { name, message, stack = '', cause } = thrown;
  return {
    name,
    message: maskStart(message, MAX_TEXT),
    stack: maskStart(stack, MAX_TEXT),
    ...(cause !== undefined && causes > 0 && { cause: runError(cause, causes - 1) }),
  };
}
