import { INTERRUPT, type SerializerProtocol, TASKS } from '@langchain/langgraph-checkpoint';
import { type LimitName, type Limits, MAX_LIMITS, tooLarge } from '../../config/limits.ts';
import { DevsError, isDevsError } from '../../errors/DevsError.ts';
import type { TypedBytes } from '../../state/checkpoints/checkpointRecords.ts';
import { heaviestPlace } from '../../values/heaviestPlace.ts';
import { StrictSerde } from './StrictSerde.ts';

/** Of LangGraph's own channels, by what their authors know. */
const CHANNEL_WORDS: ReadonlyMap<string, string> = new Map([
  [TASKS, 'Send'],
  [INTERRUPT, 'interrupt'],
]);

type Dumped = [type: string, bytes: Uint8Array];

/** The name of a value in messages, and its limits. */
export interface Dumping {
  /** `channel "messages"` */
  readonly what: string;
  /** Its name in the path of a place inside it. */
  readonly root: string;
  readonly limits: readonly LimitName[];
  readonly context?: Readonly<Record<string, string>>;
}

/** A value of a channel, or a write to it. */
export const ofChannel = (channel: string, limit: 'channelBytes' | 'valueBytes'): Dumping => ({
  what: `channel "${channel}"`,
  root: CHANNEL_WORDS.get(channel) ?? channel,
  limits: [limit],
  context: { channel },
});

/** Between values and the bytes of the state file; names what it refuses. */
export class ValueCodec {
  readonly #serde: SerializerProtocol;
  /** Does at once what the protocol promises for later; a subclass may do otherwise. */
  readonly #strict: StrictSerde | null;
  readonly #limits: Limits;

  constructor(serde: SerializerProtocol, limits: Limits) {
    this.#serde = serde;
    this.#strict = serde instanceof StrictSerde && serde.constructor === StrictSerde ? serde : null;
    this.#limits = limits;
  }

  /**
   * The value as it is now, at once where that is possible. Rejects, but never throws: several dumps are begun together.
   *
   * @throws DevsError `VALUE_NOT_STORABLE` or `VALUE_TOO_LARGE`.
   */
  dump(value: unknown, about: Dumping): TypedBytes | Promise<TypedBytes> {
    const dumped = this.#begin(value, about);
    return dumped instanceof Promise
      ? dumped.then((found) => this.#limited(found, value, about))
      : this.#limited(dumped, value, about);
  }

  #begin(value: unknown, about: Dumping): Dumped | Promise<Dumped> {
    const refuse = (error: unknown): Promise<never> =>
      Promise.reject(isDevsError(error) ? placed(error, about) : error);
    try {
      const dumped = this.#strict?.dump(value, about.root) ?? this.#serde.dumpsTyped(value);
      return dumped instanceof Promise ? dumped.catch(refuse) : dumped;
    } catch (error) {
      return refuse(error);
    }
  }

  #limited([type, bytes]: Dumped, value: unknown, about: Dumping): TypedBytes | Promise<never> {
    const { byteLength } = bytes;
    const limit = about.limits.find((name) => byteLength > this.#limits[name]);
    if (limit !== undefined) return Promise.reject(this.#tooLarge(limit, byteLength, value, about));
    // A serde may give back the caller's own bytes, which may change before they are written.
    return { type, bytes: bytes === value ? bytes.slice() : bytes };
  }

  #tooLarge(limit: LimitName, bytes: number, value: unknown, { what, root, context }: Dumping): DevsError {
    return tooLarge({
      ...{ what: capitalized(what), limit, bytes, limits: this.#limits },
      path: heaviestPlace(value, root),
      context: { ...context, value: what },
    });
  }

  /** A value that can be had without waiting, such as in the transaction that reads it; `null` for any other. */
  loadPlain<T>({ type, bytes }: TypedBytes): { readonly value: T } | null {
    return (this.#strict?.loadPlain(type, bytes) ?? null) as { readonly value: T } | null;
  }

  async load<T>({ type, bytes }: TypedBytes): Promise<T> {
    const value: unknown = await this.#serde.loadsTyped(type, bytes);
    // The store keeps its bytes, and a caller may change what it was given.
    return (value === bytes ? bytes.slice() : value) as T;
  }

  /**
   * @param sizes - Bytes of the values of a checkpoint, by channel.
   * @throws DevsError `VALUE_TOO_LARGE` if together they have more than are allowed.
   */
  assertCheckpointSize(sizes: readonly (readonly [channel: string, bytes: number])[]): void {
    const bytes = sizes.reduce((sum, [, size]) => sum + size, 0);
    if (bytes <= this.#limits.checkpointBytes) return;
    const [channel] = sizes.reduce((most, one) => (one[1] > most[1] ? one : most));
    throw tooLarge({
      ...{ what: 'The checkpoint', limit: 'checkpointBytes', bytes, limits: this.#limits },
      ...{ path: `channel "${channel}"`, context: { channel, value: 'the checkpoint' } },
    });
  }
}

function placed(
  { message, code, remedy, context, cause }: DevsError,
  { what, ...about }: Dumping,
): DevsError {
  return new DevsError(`${capitalized(what)} cannot be stored. ${message}`, {
    code,
    remedy: 'levels' in context ? `${remedy} Or raise \`limits.depth\`, up to ${MAX_LIMITS.depth}.` : remedy,
    context: { ...context, ...about.context, value: what },
    cause,
  });
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
