import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint';
import type { TypedBytes } from '../../state/checkpointRecords.ts';

// A run's first input, as it is kept with the run until its first checkpoint exists.

type Serde = Pick<BaseCheckpointSaver['serde'], 'dumpsTyped' | 'loadsTyped'>;

export async function dumpInput(input: unknown, serde: Serde): Promise<TypedBytes> {
  const [type, bytes] = await serde.dumpsTyped(input);
  return { type, bytes };
}

export async function loadInput({ type, bytes }: TypedBytes, serde: Serde): Promise<unknown> {
  return serde.loadsTyped(type, bytes);
}
