import { DevsError } from '../../errors/DevsError.ts';
import type { TypedBytes } from '../../state/checkpointRecords.ts';
import type { RecordedMode } from '../../state/StreamStore.ts';
import { StrictSerde } from '../saver/StrictSerde.ts';

/** In bytes, as a value of the state. */
const MAX_CUSTOM_BYTES = 1024 * 1024;

/** Chunks of tasks: as deep as what they are made of, and the names around it. */
const serde = new StrictSerde({ maxDepth: 900, numbers: 'every' });

/**
 * A chunk as it is kept.
 *
 * @throws DevsError `VALUE_NOT_STORABLE`; `VALUE_TOO_LARGE` for what a node tells.
 */
export function dumpChunk(chunk: unknown, mode: RecordedMode): TypedBytes | Promise<TypedBytes> {
  const dumped = serde.dump(chunk);
  const limited = ([type, bytes]: [string, Uint8Array]): TypedBytes => {
    if (mode === 'custom' && bytes.byteLength > MAX_CUSTOM_BYTES) throw tooLarge(bytes.byteLength);
    return { type, bytes };
  };
  return dumped instanceof Promise ? dumped.then(limited) : limited(dumped);
}

function tooLarge(bytes: number): DevsError {
  return new DevsError(`A chunk for the stream has ${bytes} bytes; ${MAX_CUSTOM_BYTES} are allowed.`, {
    code: 'VALUE_TOO_LARGE',
    remedy: 'Write a reference to large content, or write it in parts.',
    context: { bytes, limit: MAX_CUSTOM_BYTES },
  });
}
