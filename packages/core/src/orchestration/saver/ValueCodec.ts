import type { SerializerProtocol } from '@langchain/langgraph-checkpoint';
import { DevsError, isDevsError } from '../../errors/DevsError.ts';
import type { TypedBytes } from '../../state/GraphCheckpointStore.ts';
import type { SaverLimits } from './limits.ts';
import { StrictSerde } from './StrictSerde.ts';

/** Between values and the bytes of the state file; names what it refuses. */
export class ValueCodec {
  readonly #serde: SerializerProtocol;
  readonly #limits: SaverLimits;

  constructor(serde: SerializerProtocol, limits: SaverLimits) {
    this.#serde = serde;
    this.#limits = limits;
  }

  /**
   * @param what - What the value is, for messages: `channel "messages"`.
   * @throws DevsError `VALUE_NOT_STORABLE` or `VALUE_TOO_LARGE`.
   */
  async dump(value: unknown, what: string): Promise<TypedBytes> {
    const [type, bytes] = await this.#serde.dumpsTyped(value).catch((error: unknown) => {
      throw isDevsError(error) ? placed(error, what) : error;
    });
    const { valueBytes } = this.#limits;
    if (bytes.byteLength > valueBytes) throw tooLarge(what, bytes.byteLength, valueBytes);
    // A serde may give back the caller's own bytes, which may change before they are written.
    return { type, bytes: bytes === value ? bytes.slice() : bytes };
  }

  /** A value that can be had without waiting, such as in the transaction that reads it; `null` for any other. */
  loadPlain<T>({ type, bytes }: TypedBytes): { readonly value: T } | null {
    if (!(this.#serde instanceof StrictSerde)) return null;
    return this.#serde.loadPlain(type, bytes) as { readonly value: T } | null;
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
