import { type Limits, tooLarge } from '../../config/limits.ts';
import type { DevsError } from '../../errors/DevsError.ts';
import type { TypedBytes } from '../../state/checkpoints/checkpointRecords.ts';
import type { RecordedMode } from '../../state/events/StreamStore.ts';
import { heaviestPlace } from '../../values/heaviestPlace.ts';
import { StrictSerde } from '../saver/StrictSerde.ts';

/** Chunks of tasks: as deep as what they are made of, and the names around it. */
const chunkSerde = new StrictSerde({ maxDepth: 900, numbers: 'every' });

/**
 * A chunk as it is kept.
 *
 * @throws DevsError `VALUE_NOT_STORABLE`; `VALUE_TOO_LARGE` for what a node tells.
 */
export function dumpChunk(
  chunk: unknown,
  mode: RecordedMode,
  limits: Limits,
): TypedBytes | Promise<TypedBytes> {
  const dumped = chunkSerde.dump(chunk);
  const limited = ([type, bytes]: [string, Uint8Array]): TypedBytes => {
    if (mode === 'custom' && bytes.byteLength > limits.chunkBytes)
      throw oversize(chunk, bytes.byteLength, limits);
    return { type, bytes };
  };
  return dumped instanceof Promise ? dumped.then(limited) : limited(dumped);
}

function oversize(chunk: unknown, bytes: number, limits: Limits): DevsError {
  const path = heaviestPlace(chunk, 'chunk');
  return tooLarge({ what: 'A chunk for the stream', limit: 'chunkBytes', bytes, path, limits });
}
