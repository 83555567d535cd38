import { isDeepStrictEqual } from 'node:util';
import type { SerializerProtocol } from '@langchain/langgraph-checkpoint';
import { MOST_BYTES } from '../../config/limits.ts';
import { DevsError } from '../../errors/DevsError.ts';
import type { ResultCodec } from '../../state/steps/stepRecords.ts';
import { isLasting, lastingJson, onceForLasting } from '../../values/lasting.ts';
import { decodeTagged } from './decodeTagged.ts';
import { type LangChainInstance, StrictEncoder, valueNotStorable } from './StrictEncoder.ts';
import { DEFAULT_MAX_DEPTH, decodeUtf8, type Numbers, readPlain, type Tag } from './strictTags.ts';

export interface StrictSerdeOptions {
  /** Levels of arrays and objects; deeper values are refused. @defaultValue 200 */
  readonly maxDepth?: number;
  /** `every`: `NaN`, the infinities and bigints are taken, too. @defaultValue 'finite' */
  readonly numbers?: Numbers;
}

/** `plain` is JSON itself, `tagged` JSON with tags; see `strictTags.ts`. None of them is LangGraph's `json`. */
type StoredType = 'plain' | 'tagged' | 'bytes' | 'buffer';

type DumpedValue = [StoredType, Uint8Array];

/** Three times as fast as `Buffer.from`. */
const utf8Encoder = new TextEncoder();

/** LangChain instances whose return was proved, with what they held then: a tree, as the same texts are compared in no time. */
const proved = new WeakMap<object, unknown>();

/**
 * LangGraph's serializer with one promise: a value comes back equal, or it is refused when it is written.
 *
 * Comes back: JSON, `undefined`, `-0`, objects without prototype, dates, maps, sets, patterns, bytes, errors of the
 * language's own classes, LangGraph's `Send`, `Command` and `Overwrite`, LangChain's documents and messages and whatever
 * else its serialization gives back. Is refused: everything else, among it `NaN`, bigints, functions, symbols, cycles, holes in
 * arrays, lone surrogates, instances of other classes, and the keys `__proto__`, `constructor`, `prototype`. Plain data
 * stays plain data, whatever it looks like: no class is made of it.
 *
 * Source: 2_TAS-REQ-016.
 *
 * @throws DevsError `VALUE_NOT_STORABLE` or `VALUE_TOO_LARGE` from `dumpsTyped`, naming the place.
 */
export class StrictSerde implements SerializerProtocol {
  readonly #maxDepth: number;
  readonly #numbers: Numbers;
  /** Whether a lasting value is JSON as it is, with a level to spare. What is not is encoded again, by who says where. */
  readonly #encodesAsIs = onceForLasting((value: object): boolean => {
    const encoder = new StrictEncoder(this.#maxDepth - 1, this.#numbers);
    try {
      encoder.encode(value);
    } catch {
      return false;
    }
    return !encoder.tagged;
  });
  /** The bytes of a lasting value that is JSON as it is. */
  readonly #plainBytes = onceForLasting((value: object): Uint8Array | null => {
    const isList = Array.isArray(value) && value.every(isLasting);
    const isPlain = isList ? value.every(this.#encodesAsIs) : this.#encodesAsIs(value);
    return isPlain ? utf8Encoder.encode(lastingJson(value)) : null;
  });

  /** @throws RangeError if `maxDepth` is not a whole number of at least 1. */
  constructor({ maxDepth = DEFAULT_MAX_DEPTH, numbers = 'finite' }: StrictSerdeOptions = {}) {
    if (!Number.isSafeInteger(maxDepth) || maxDepth < 1) throw new RangeError(`maxDepth: ${maxDepth}`);
    this.#maxDepth = maxDepth;
    this.#numbers = numbers;
  }

  async dumpsTyped(value: unknown): Promise<DumpedValue> {
    return await this.dump(value);
  }

  /**
   * {@link dumpsTyped} at once, unless the value holds LangChain instances: to prove them takes waiting.
   *
   * @param root - What the value is called where a message says a place. @defaultValue '$'
   */
  dump(value: unknown, root?: string): DumpedValue | Promise<DumpedValue> {
    if (value instanceof Uint8Array) {
      const prototype: unknown = Object.getPrototypeOf(value);
      if (prototype === Uint8Array.prototype) return ['bytes', value.slice()];
      if (prototype === Buffer.prototype) return ['buffer', Buffer.from(value)];
    }
    const plain = isLasting(value) ? this.#plainBytes(value) : null;
    if (plain !== null) return ['plain', plain];
    const encoder = new StrictEncoder(this.#maxDepth, this.#numbers, root);
    const text = textOfTree(encoder.encode(value));
    const dumped: DumpedValue = [encoder.tagged ? 'tagged' : 'plain', utf8Encoder.encode(text)];
    return encoder.instances.length === 0 ? dumped : this.#proveAll(encoder.instances).then(() => dumped);
  }

  /** Any value as JSON with tags, bytes too; `loadsTyped` gives it back as `tagged`. */
  async dumpText(value: unknown): Promise<string> {
    const encoder = new StrictEncoder(this.#maxDepth, this.#numbers);
    const text = textOfTree(encoder.encode(value));
    await this.#proveAll(encoder.instances);
    return text;
  }

  /** A value that is plain JSON; `null` where it is of another kind and `loadsTyped` has to be awaited. */
  loadPlain(type: string, bytes: Uint8Array): { readonly value: unknown } | null {
    return readPlain({ type, bytes });
  }

  async loadsTyped(type: string, data: Uint8Array | string): Promise<unknown> {
    const bytes = typeof data === 'string' ? Buffer.from(data) : data;
    switch (type) {
      case 'plain':
        return JSON.parse(decodeUtf8(bytes));
      case 'tagged':
        return await decodeTagged(JSON.parse(decodeUtf8(bytes)));
      case 'bytes':
        return new Uint8Array(bytes);
      case 'buffer':
        return Buffer.from(bytes);
      default:
        throw unknownType(type);
    }
  }

  async #proveAll(instances: readonly LangChainInstance[]): Promise<void> {
    const claims = instances.map((found) => ({
      ...found,
      held: this.#fieldsOf(found.instance, found.path),
    }));
    for (const claim of claims) await this.#prove(claim);
  }

  /** Reads back what was written for an instance: its class may be unknown to LangChain, or leave fields out. */
  async #prove({
    instance,
    written,
    path,
    held,
  }: LangChainInstance & { readonly held: unknown }): Promise<void> {
    if (isDeepStrictEqual(proved.get(instance), held)) return;
    const { name } = instance.constructor;
    const revived = await revivedFrom(written).catch((error: unknown) => {
      throw valueNotStorable(path, `an instance of ${name}, which cannot be loaded`, error);
    });
    const same = Object.getPrototypeOf(revived) === Object.getPrototypeOf(instance);
    if (!same || !isDeepStrictEqual(this.#fieldsOf(revived, path), held)) {
      throw valueNotStorable(path, `an instance of ${name}, which changes when it is loaded`);
    }
    proved.set(instance, held);
  }

  /** Without the arguments of the constructor, which LangChain keeps beside the fields they became. */
  #fieldsOf(instance: object, path: string): unknown {
    const fields = Object.entries(instance).filter(([name]) => name !== 'lc_kwargs');
    return new StrictEncoder(this.#maxDepth, this.#numbers, path).encode(Object.fromEntries(fields));
  }
}

/** @throws DevsError `VALUE_TOO_LARGE` for what is longer than any text of Node.js. */
function textOfTree(tree: unknown): string {
  try {
    return JSON.stringify(tree);
  } catch (cause) {
    throw new DevsError('The value is longer than the longest string in Node.js.', {
      code: 'VALUE_TOO_LARGE',
      remedy: 'Store large content elsewhere and keep a reference to it here.',
      context: { most: MOST_BYTES },
      cause,
    });
  }
}

async function revivedFrom(written: Tag): Promise<object> {
  return (await decodeTagged(structuredClone(written))) as object;
}

function unknownType(type: string): DevsError {
  return new DevsError(`A stored value has the unknown type "${type}".`, {
    code: 'STATE_CORRUPT',
    remedy: 'Give SqliteSaver the serde that wrote the file, or use the version of @devs/core that wrote it.',
    context: { type },
  });
}

const stepSerde = new StrictSerde({ numbers: 'every' });

/** Results of steps that are more than JSON, such as the messages of a model: they come back as what they were. */
export const STEP_CODEC: ResultCodec = {
  encode: (value) => stepSerde.dumpText(value),
  decode: (text) => stepSerde.loadsTyped('tagged', text),
};
