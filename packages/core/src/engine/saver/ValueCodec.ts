import { INTERRUPT, type SerializerProtocol, TASKS } from '@langchain/langgraph-checkpoint';
import { DevsError, isDevsError } from '../../errors/DevsError.ts';
import type { TypedBytes } from '../../state/checkpointRecords.ts';
import type { SaverLimits } from './limits.ts';
import { StrictSerde } from './StrictSerde.ts';

/** Of LangGraph's own channels, by what their authors know. */
const NAMES: ReadonlyMap<string, string> = new Map([
  [TASKS, 'Send'],
  [INTERRUPT, 'interrupt'],
]);

type Dumped = [type: string, bytes: Uint8Array];

/** Between values and the bytes of the state file; names what it refuses. */
export class ValueCodec {
  readonly #serde: SerializerProtocol;
  /** Does at once what the protocol promises for later; a subclass may do otherwise. */
  readonly #strict: StrictSerde | null;
  readonly #limits: SaverLimits;

  constructor(serde: SerializerProtocol, limits: SaverLimits) {
    this.#serde = serde;
    this.#strict = serde instanceof StrictSerde && serde.constructor === StrictSerde ? serde : null;
    this.#limits = limits;
  }

  /**
   * The value as it is now, at once where that is possible. Rejects, but never throws: several dumps are begun together.
   *
   * @param what - What the value is, for messages: `channel "messages"`.
   * @param root - What it is called in the path of a refusal.
   * @throws DevsError `VALUE_NOT_STORABLE` or `VALUE_TOO_LARGE`.
   */
  dump(value: unknown, what: string, root?: string): TypedBytes | Promise<TypedBytes> {
    const dumped = this.#begin(value, what, root);
    return dumped instanceof Promise
      ? dumped.then((found) => this.#limited(found, value, what))
      : this.#limited(dumped, value, what);
  }

  /** The value of a channel: what is refused is named by it, as in `messages[3].content.image`. */
  dumpChannel(value: unknown, channel: string): TypedBytes | Promise<TypedBytes> {
    return this.dump(value, `channel "${channel}"`, NAMES.get(channel) ?? channel);
  }

  #begin(value: unknown, what: string, root: string | undefined): Dumped | Promise<Dumped> {
    const refuse = (error: unknown): Promise<never> =>
      Promise.reject(isDevsError(error) ? placed(error, what) : error);
    try {
      const dumped = this.#strict?.dump(value, root) ?? this.#serde.dumpsTyped(value);
      return dumped instanceof Promise ? dumped.catch(refuse) : dumped;
    } catch (error) {
      return refuse(error);
    }
  }

  #limited([type, bytes]: Dumped, value: unknown, what: string): TypedBytes | Promise<never> {
    const { valueBytes } = this.#limits;
    if (bytes.byteLength > valueBytes) return Promise.reject(tooLarge(what, bytes.byteLength, valueBytes));
    // A serde may give back the caller's own bytes, which may change before they are written.
    return { type, bytes: bytes === value ? bytes.slice() : bytes };
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

  /** @throws DevsError `VALUE_TOO_LARGE` if a checkpoint's values have more bytes together than are allowed. */
  assertCheckpointSize(bytes: number): void {
    const { checkpointBytes } = this.#limits;
    if (bytes > checkpointBytes) throw tooLarge('the checkpoint', bytes, checkpointBytes);
  }
}

function placed({ message, code, remedy, context, cause }: DevsError, what: string): DevsError {
  return new DevsError(`${capitalized(what)} cannot be stored. ${message}`, {
    code,
    remedy,
    context: { ...context, value: what },
    cause,
  });
}

function tooLarge(what: string, bytes: number, limit: number): DevsError {
  return new DevsError(`${capitalized(what)} has ${bytes} bytes; ${limit} are allowed.`, {
    code: 'VALUE_TOO_LARGE',
    remedy:
      'Keep large content outside the state and a reference to it inside, or raise the limits of SqliteSaver.',
    context: { value: what, bytes, limit },
  });
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
