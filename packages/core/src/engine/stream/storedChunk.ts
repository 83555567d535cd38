import type { PendingWrite } from '@langchain/langgraph-checkpoint';
import { type Limits, tooLarge } from '../../config/limits.ts';
import type { DevsError } from '../../errors/DevsError.ts';
import type { TypedBytes } from '../../state/checkpoints/checkpointRecords.ts';
import type { RecordedMode } from '../../state/events/StreamStore.ts';
import { heaviestPlace } from '../../values/heaviestPlace.ts';
import { isRecord } from '../../values/isRecord.ts';
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

// An update that LangGraph streams is made of what its task wrote, and those writes are in the file: of the update itself
// only the names are stored, and in the place of each value which of the writes it is.

/** Which of the task's writes a value is. */
type WriteIndex = number;

type ShapePart = WriteIndex | { readonly [channel: string]: WriteIndex };

export interface UpdateShape {
  readonly [node: string]: ShapePart | readonly ShapePart[];
}

/**
 * The update as places among the writes; `null` where it is not made of them, as one that the node's cache has given,
 * which LangGraph marks. A channel that the file does not keep is left out.
 */
export function shapeOfUpdate(
  update: Readonly<Record<string, unknown>>,
  writes: readonly PendingWrite[],
): UpdateShape | null {
  const free = new Set(writes.keys());
  const kept = new Set(writes.map(([channel]) => channel));
  const place = (value: unknown, channel?: string): WriteIndex | null => {
    for (const at of free) {
      const [written, what] = writes[at] as PendingWrite;
      if (!Object.is(what, value) || (channel !== undefined && written !== channel)) continue;
      free.delete(at);
      return at;
    }
    return null;
  };
  const part = (value: unknown): ShapePart | null => {
    const whole = place(value);
    if (whole !== null || !isRecord(value)) return whole;
    const channels = Object.entries(value).filter(([channel]) => kept.has(channel));
    const places = channels.map(([channel, written]) => [channel, place(written, channel)] as const);
    return places.some(([, at]) => at === null) ? null : (Object.fromEntries(places) as ShapePart);
  };
  const nodes = Object.entries(update).map(([node, value]) => {
    const parts = Array.isArray(value) && place(value) === null ? value.map(part) : part(value);
    return [node, parts] as const;
  });
  const isWhole = nodes.every(([, parts]) => (Array.isArray(parts) ? !parts.includes(null) : parts !== null));
  return isWhole ? (Object.fromEntries(nodes) as UpdateShape) : null;
}

/** The update again. @param valueAt - What the task wrote at a place. */
export async function joinUpdate(
  shape: UpdateShape,
  valueAt: (place: WriteIndex) => Promise<unknown>,
): Promise<Readonly<Record<string, unknown>>> {
  const whole = async (part: ShapePart): Promise<unknown> =>
    typeof part === 'number' ? valueAt(part) : fromPlaces(part, valueAt);
  const nodes = Object.entries(shape).map(async ([node, parts]) => {
    const isList = (given: typeof parts): given is readonly ShapePart[] => Array.isArray(given);
    return [node, isList(parts) ? await Promise.all(parts.map(whole)) : await whole(parts)] as const;
  });
  return Object.fromEntries(await Promise.all(nodes));
}

async function fromPlaces(
  places: { readonly [channel: string]: WriteIndex },
  valueAt: (place: WriteIndex) => Promise<unknown>,
): Promise<Readonly<Record<string, unknown>>> {
  const entries = Object.entries(places).map(async ([channel, at]) => [channel, await valueAt(at)] as const);
  return Object.fromEntries(await Promise.all(entries));
}
