import { isDeepStrictEqual } from 'node:util';
import { isCommand } from '@langchain/langgraph';
import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint';
import { DevsError } from '../../errors/DevsError.ts';
import type { TypedBytes } from '../../state/checkpointRecords.ts';

// A run's first input, as it is kept with the run until its first checkpoint exists.

type Serde = Pick<BaseCheckpointSaver['serde'], 'dumpsTyped' | 'loadsTyped'>;

/**
 * A `Command` steers a graph past its gates, and a run that has not begun has nothing to steer.
 *
 * @throws DevsError `INVALID_INPUT`
 */
export function assertInput(input: unknown, threadId: string): void {
  if (!isCommand(input)) return;
  throw new DevsError(`The input of run "${threadId}" is a Command.`, {
    code: 'INVALID_INPUT',
    remedy: 'Start the run with values of its state; answer its questions with decide().',
    context: { threadId },
  });
}

export async function dumpInput(input: unknown, serde: Serde): Promise<TypedBytes> {
  const [type, bytes] = await serde.dumpsTyped(input);
  return { type, bytes };
}

export async function loadInput({ type, bytes }: TypedBytes, serde: Serde): Promise<unknown> {
  return serde.loadsTyped(type, bytes);
}

/**
 * The id of a run names what it was given: another input under it would never be read.
 *
 * @throws DevsError `INPUT_NOT_TAKEN`
 */
export async function assertSameInput(
  given: TypedBytes,
  recorded: TypedBytes,
  { serde, threadId }: { readonly serde: Serde; readonly threadId: string },
): Promise<void> {
  const [left, right] = await Promise.all([loadInput(given, serde), loadInput(recorded, serde)]);
  if (isDeepStrictEqual(left, right)) return;
  throw new DevsError(`Run "${threadId}" was given another input when it was started.`, {
    code: 'INPUT_NOT_TAKEN',
    remedy: 'Go on with the run by its id alone, or start another run for this input.',
    context: { threadId },
  });
}
