import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint';
import type { Thread } from '../../state/ThreadStore.ts';

/** A run's first input, as it is kept with the run until its first checkpoint exists. Base64 of serialized bytes. */
interface RecordedInput {
  readonly type: string;
  readonly bytes: string;
}

type Serde = Pick<BaseCheckpointSaver['serde'], 'dumpsTyped' | 'loadsTyped'>;

export async function recordInput(input: unknown, serde: Serde): Promise<RecordedInput> {
  const [type, bytes] = await serde.dumpsTyped(input);
  return { type, bytes: Buffer.from(bytes).toString('base64') };
}

export async function readInput({ policies }: Thread, serde: Serde): Promise<unknown> {
  const { type, bytes } = policies['input'] as RecordedInput;
  return serde.loadsTyped(type, new Uint8Array(Buffer.from(bytes, 'base64')));
}
