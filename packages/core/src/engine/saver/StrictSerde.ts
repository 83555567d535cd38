import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Send } from '@langchain/langgraph';
import { DeltaSnapshot, type SerializerProtocol } from '@langchain/langgraph-checkpoint';
import { MOST_BYTES } from '../../config/limits.ts';
import { DevsError } from '../../errors/DevsError.ts';
import type { ResultCodec } from '../../state/steps/stepRecords.ts';
import { isLasting, lastingJson, onceForLasting } from '../../values/lasting.ts';
import { isMessageClass, langChainInUse } from './langChainCopies.ts';
import { type LangChainInstance, StrictEncoder, valueNotStorable } from './StrictEncoder.ts';
import {
  DEFAULT_MAX_DEPTH,
  decodeUtf8,
  ERROR_CLASSES,
  type Numbers,
  readPlain,
  TAG_KEY,
  type Tag,
  type TagName,
} from './strictTags.ts';

type TimeoutOption = NonNullable<NonNullable<ConstructorParameters<typeof Send>[2]>['timeout']>;
type DecodedMembers = Record<string | number, unknown>;
type Build = (parts: readonly unknown[]) => unknown;

/** A value that cannot be made without waiting; it takes its place when it is. */
class Later {
  readonly build: () => unknown;

  constructor(build: () => unknown) {
    this.build = build;
  }
}

const BUILDERS: Readonly<Record<TagName, Build>> = {
  undefined: () => undefined,
  'negative zero': () => -0,
  number: ([text]) => Number(text),
  bigint: ([text]) => BigInt(text as string),
  document: ([members]) =>
    Object.assign(Object.create(langChainInUse().Document.prototype) as object, members),
  object: ([members]) => members,
  'object without prototype': ([members]) => Object.assign(Object.create(null) as object, members),
  date: ([time]) => new Date(time as number),
  map: ([entries]) => new Map(entries as [unknown, unknown][]),
  set: ([items]) => new Set(items as unknown[]),
  regexp: ([source, flags]) => new RegExp(source as string, flags as string),
  bytes: ([base64]) => new Uint8Array(Buffer.from(base64 as string, 'base64')),
  buffer: ([base64]) => Buffer.from(base64 as string, 'base64'),
  error: buildError,
  'delta snapshot': ([value]) => new DeltaSnapshot(value),
  send: async ([node, args, timeout]) => {
    const { Send: SendClass } = await import('@langchain/langgraph');
    const options = timeout === undefined ? undefined : { timeout: timeout as TimeoutOption };
    return new SendClass(node as string, args, options);
  },
  command: async ([graph, update, resume, goto]) => {
    const { Command } = await import('@langchain/langgraph');
    return new Command({ graph, update, resume, goto } as ConstructorParameters<typeof Command>[0]);
  },
  overwrite: async ([value]) => {
    const { Overwrite } = await import('@langchain/langgraph');
    return new Overwrite(value);
  },
  // Only what came from LangChain's own serialization gets here: it has escaped every other object of its shape.
  langchain: ([record]) => loadLangChain(record),
  'langchain with parts': async ([record, parts]) => {
    const instance = (await loadLangChain(record)) as { readonly lc_kwargs: object };
    Object.assign(instance.lc_kwargs, parts); // by these it is written the next time
    return Object.assign(instance, parts);
  },
};

/** Tags whose parts have to be made first, and which then wait themselves. */
const WAITING: ReadonlySet<TagName> = new Set([
  'send',
  'command',
  'overwrite',
  'langchain',
  'langchain with parts',
]);

/**
 * The value of a tree that `StrictEncoder` has made; changes the tree in place.
 *
 * @throws DevsError `STATE_CORRUPT` for a tag this version does not know.
 */
async function decodeTagged(tree: unknown): Promise<unknown> {
  const holder: DecodedMembers = { value: tree };
  const jobs: (() => Promise<void>)[] = [];
  reviveMember(holder, 'value', jobs);
  // In this order: what is inside another value comes before it.
  for (const job of jobs) await job();
  return holder['value'];
}

function reviveMember(container: DecodedMembers, key: string | number, jobs: (() => Promise<void>)[]): void {
  const value = reviveNode(container[key], jobs);
  container[key] = value;
  if (!(value instanceof Later)) return;
  jobs.push(async () => {
    container[key] = await value.build();
  });
}

function reviveNode(node: unknown, jobs: (() => Promise<void>)[]): unknown {
  if (typeof node !== 'object' || node === null) return node;
  const parts = tagParts(node);
  if (parts !== null) return reviveTag(parts, jobs);
  for (const key of Object.keys(node)) reviveMember(node as DecodedMembers, key, jobs);
  return node;
}

function tagParts(node: object): unknown[] | null {
  if (!(TAG_KEY in node) || !Array.isArray(node[TAG_KEY])) return null;
  return Object.keys(node).length === 1 ? node[TAG_KEY] : null;
}

function reviveTag([name, ...parts]: readonly unknown[], jobs: (() => Promise<void>)[]): unknown {
  if (!isTagName(name)) throw unknownTag(name);
  const waiting = jobs.length;
  if (name === 'object') {
    reviveMember(parts[0] as DecodedMembers, TAG_KEY, jobs);
    return parts[0];
  }
  for (const at of parts.keys()) reviveMember(parts as unknown as DecodedMembers, at, jobs);
  const build = (): unknown => BUILDERS[name](parts);
  return WAITING.has(name) || jobs.length > waiting ? new Later(build) : build();
}

function buildError([name, message, stack, members, causes]: readonly unknown[]): Error {
  const ErrorClass = ERROR_CLASSES[name as string] ?? Error;
  const [cause] = causes as unknown[];
  const error = new ErrorClass(message as string, (causes as unknown[]).length === 0 ? undefined : { cause });
  Object.defineProperty(error, 'stack', {
    value: stack,
    writable: true,
    configurable: true,
    enumerable: false,
  });
  return Object.assign(error, members);
}

function isTagName(name: unknown): name is TagName {
  return typeof name === 'string' && Object.hasOwn(BUILDERS, name);
}

function unknownTag(name: unknown): DevsError {
  return new DevsError(`A stored value has a part of the unknown type ${JSON.stringify(name)}.`, {
    code: 'STATE_CORRUPT',
    remedy: 'Read the file with the version of @devs/core that wrote it.',
  });
}

/** Characters from which a text is kept out of LangChain's reading, which makes JSON of every record twice. */
const LONG_TEXT = 1_024;

/** Stands for a long text meanwhile; a text cannot contain it by chance. */
const TEXT_MARK = `\0${randomUUID()}:`;

interface MessageRecord {
  readonly id: readonly unknown[];
  readonly kwargs: Readonly<Record<string, unknown>>;
}

/**
 * An instance of LangChain's, from the record that its own serialization made. Classes do not look into the texts of a message's
 * content. These are put into the instance that was made without them, as the very texts of the record.
 */
export async function loadLangChain(record: unknown): Promise<object> {
  const { load } = langChainInUse();
  if (!isMessage(record)) return await load<object>(JSON.stringify(record));
  const texts: string[] = [];
  const content = withoutTexts(record.kwargs['content'], texts);
  if (texts.length === 0) return await load<object>(JSON.stringify(record));
  const short = { ...record, kwargs: { ...record.kwargs, content } };
  const instance = await load<object>(JSON.stringify(short));
  putBack(instance, texts, new Set());
  return instance;
}

function isMessage(record: unknown): record is MessageRecord {
  const { id, kwargs } = Object(record) as Partial<MessageRecord>;
  const isOfCore = Array.isArray(id) && id[0] === 'langchain_core' && id[1] === 'messages';
  return isOfCore && typeof kwargs === 'object' && kwargs !== null;
}

function withoutTexts(value: unknown, texts: string[]): unknown {
  if (typeof value === 'string')
    return value.length < LONG_TEXT ? value : `${TEXT_MARK}${texts.push(value) - 1}`;
  if (Array.isArray(value)) return value.map((item) => withoutTexts(item, texts));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, withoutTexts(field, texts)]));
}

function putBack(value: object, texts: readonly string[], seen: Set<object>): void {
  if (seen.has(value)) return;
  seen.add(value);
  for (const [key, field] of Object.entries(value) as [string, unknown][]) {
    if (typeof field === 'object' && field !== null) putBack(field, texts, seen);
    else if (typeof field === 'string' && field.startsWith(TEXT_MARK)) {
      (value as Record<string, unknown>)[key] = texts[Number(field.slice(TEXT_MARK.length))];
    }
  }
}

interface StrictSerdeOptions {
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
    const prototype: object = Object.getPrototypeOf(revived);
    let same = prototype === Object.getPrototypeOf(instance);
    if (!same && idOf(revived) === idOf(instance)) {
      same = isMessageClass(instance.constructor);
      if (!same && !Object.prototype.isPrototypeOf.call(prototype, instance))
        throw ofAnotherCopy(instance, path);
    }
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

/** Modules and name of the class, as LangChain writes them. */
const idOf = (instance: object): string => String(Reflect.get(instance, 'lc_id'));

const LANGCHAIN = '@langchain/core';

function ofAnotherCopy(instance: object, path: string): DevsError {
  const found = `a ${idOf(instance).split(',').at(-1)} of another copy of ${LANGCHAIN}`;
  return new DevsError(`The value at ${path} cannot be stored: ${found}.`, {
    code: 'VALUE_NOT_STORABLE',
    remedy: `Load one ${LANGCHAIN}: run npm dedupe. A bundle takes in all of @langchain/* and @devs/*, or leaves all of them outside.`,
    context: { path, found, package: LANGCHAIN },
  });
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
