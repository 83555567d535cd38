import { DevsError } from '../../errors/DevsError.ts';
import { POLLUTING_KEYS } from '../../values/canonicalJson.ts';
import { MAX_PATH_LENGTH } from '../../values/heaviestPlace.ts';
import { isWellFormed } from '../../values/isWellFormed.ts';
import { isDocumentPrototype } from './langChainCopies.ts';
import {
  DEFAULT_MAX_DEPTH,
  ERROR_CLASSES,
  type Numbers,
  TAG_KEY,
  type Tag,
  type TagName,
  tag,
} from './strictTags.ts';

/** A value with LangChain's own serialization, and what was written for it. */
export interface LangChainInstance {
  readonly instance: LangChainSerializable;
  readonly written: Tag;
  /** Where it is, for messages. */
  readonly path: string;
}

type LangChainSerializable = object & {
  readonly lc_serializable: true;
  toJSON(): unknown;
};

const SURROGATE_FOUND = 'text with a lone surrogate';

type EncodedMembers = Record<string, unknown>;

/**
 * Turns one value into a tree that JSON gives back unchanged, or refuses it and names the place. Used once per value.
 *
 * Reads every property once, so a getter or a proxy cannot show one value here and another one later.
 */
export class StrictEncoder {
  readonly #maxDepth: number;
  readonly #root: string;
  readonly #numbers: Numbers;
  readonly #path: (string | number)[] = [];
  /** The containers around the one that is encoded, outermost first. Few, so searching them is faster than a set. */
  readonly #open: object[] = [];
  readonly #instances: LangChainInstance[] = [];
  #tagged = false;

  /**
   * @param maxDepth - Levels of arrays and objects.
   * @param numbers - Whether numbers that JSON cannot say are taken.
   * @param root - Where the value itself is, for messages.
   */
  constructor(maxDepth: number, numbers: Numbers = 'finite', root = '$') {
    this.#maxDepth = maxDepth;
    this.#numbers = numbers;
    this.#root = root;
  }

  /** True when the tree holds tags: it then has to be decoded, not just parsed. */
  get tagged(): boolean {
    return this.#tagged;
  }

  /** Instances whose return has to be proved, which takes waiting. */
  get instances(): readonly LangChainInstance[] {
    return this.#instances;
  }

  /** @throws DevsError `VALUE_NOT_STORABLE` or `VALUE_TOO_LARGE`. */
  encode(value: unknown): unknown {
    try {
      return this.#encode(value);
    } catch (error) {
      if (error instanceof DevsError) throw error;
      throw this.#refusal('reading it throws an error', error);
    }
  }

  #encode(value: unknown): unknown {
    if (isPlainJson(value)) return value;
    switch (typeof value) {
      case 'object':
        return this.#container(value as object);
      case 'undefined':
        return this.#tag('undefined');
      case 'string':
        throw this.#refusal(SURROGATE_FOUND);
      case 'number':
      case 'bigint':
        return this.#number(value as number | bigint);
      case 'boolean':
      case 'function':
      case 'symbol':
        throw this.#refusal(`a ${typeof value}`);
    }
  }

  #number(value: number | bigint): Tag {
    if (value === 0) return this.#tag('negative zero');
    const isBig = typeof value === 'bigint';
    if (this.#numbers === 'every') return this.#tag(isBig ? 'bigint' : 'number', String(value));
    throw this.#refusal(isBig ? 'a bigint' : String(value));
  }

  #container(value: object): unknown {
    if (this.#open.includes(value)) throw this.#refusal('a cycle');
    if (this.#open.length >= this.#maxDepth) throw this.#tooDeep();
    this.#open.push(value);
    const encoded = this.#byPrototype(value);
    this.#open.pop();
    return encoded;
  }

  #byPrototype(value: object): unknown {
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype === Object.prototype) return this.#object(value as EncodedMembers);
    if (prototype === null)
      return this.#tag('object without prototype', this.#object(value as EncodedMembers));
    if (prototype === Array.prototype) return this.#array(value as readonly unknown[]);
    return this.#builtIn(value, prototype) ?? this.#instance(value);
  }

  #object(object: EncodedMembers): unknown {
    const members = this.#members(object);
    const keys = Object.keys(members);
    return keys.length === 1 && keys[0] === TAG_KEY ? this.#tag('object', members) : members;
  }

  /** A spread reads every property once, and costs a fraction of an object built key by key. */
  #members(object: EncodedMembers): EncodedMembers {
    const members = { ...object };
    const keys = Object.keys(members);
    if (countOfKeys(object) !== keys.length) throw this.#refusal('a symbol as a key, or a hidden property');
    for (const key of keys) {
      const value = members[this.#key(key)];
      if (!isPlainJson(value)) members[key] = this.#at(key, value);
    }
    return members;
  }

  #key(key: string): string {
    if (POLLUTING_KEYS.has(key)) throw this.#refusal(`the key ${key}`);
    if (isPlainJson(key)) return key;
    throw this.#refusal(SURROGATE_FOUND);
  }

  #array(array: readonly unknown[]): unknown[] {
    if (countOfKeys(array) !== array.length + 1) {
      throw this.#refusal('an array with holes or properties');
    }
    return array.map((item, index) => (isPlainJson(item) ? item : this.#at(index, item)));
  }

  #at(key: string | number, value: unknown): unknown {
    this.#path.push(key);
    const encoded = this.#encode(value);
    this.#path.pop();
    return encoded;
  }

  /** Instances of the language's own classes; `null` for any other. */
  #builtIn(value: object, prototype: unknown): Tag | null {
    switch (prototype) {
      case Date.prototype:
        return this.#date(this.#bare(value as Date));
      case Map.prototype:
        return this.#tag(
          'map',
          [...this.#bare(value as Map<unknown, unknown>)].map((pair, at) => this.#at(at, pair)),
        );
      case Set.prototype:
        return this.#tag(
          'set',
          [...this.#bare(value as Set<unknown>)].map((item, at) => this.#at(at, item)),
        );
      case RegExp.prototype:
        return this.#regExp(value as RegExp);
      case Uint8Array.prototype:
        return this.#tag('bytes', base64Of(value as Uint8Array));
      case Buffer.prototype:
        return this.#tag('buffer', base64Of(value as Uint8Array));
      default:
        return isDocumentPrototype(prototype)
          ? this.#tag('document', this.#members(value as EncodedMembers))
          : this.#error(value, prototype);
    }
  }

  /** @throws DevsError if somebody has put properties on the instance. */
  #bare<T extends object>(value: T): T {
    if (Reflect.ownKeys(value).length === 0) return value;
    throw this.#refusal('an instance with extra properties');
  }

  #date(date: Date): Tag {
    const time = date.getTime();
    if (Number.isNaN(time)) throw this.#refusal('an invalid date');
    return this.#tag('date', time);
  }

  #regExp(pattern: RegExp): Tag {
    if (Reflect.ownKeys(pattern).length === 1 && pattern.lastIndex === 0) {
      return this.#tag('regexp', pattern.source, pattern.flags);
    }
    throw this.#refusal('a regular expression with a lastIndex');
  }

  #error(value: object, prototype: unknown): Tag | null {
    const name = Object.keys(ERROR_CLASSES).find((key) => ERROR_CLASSES[key]?.prototype === prototype);
    if (name === undefined) return null;
    const { message, stack, cause } = value as Error;
    const hidden = ['message', 'stack', 'cause'].filter((key) => Object.hasOwn(value, key));
    const own = Object.keys(value).filter((key) => !hidden.includes(key));
    if (countOfKeys(value) !== own.length + hidden.length) throw this.#refusal('a hidden property');
    const members = this.#members(
      Object.fromEntries(own.map((key) => [key, (value as unknown as EncodedMembers)[key]])),
    );
    const texts = [this.#at('message', message), this.#at('stack', stack)];
    const causes = hidden.includes('cause') ? [this.#at('cause', cause)] : [];
    return this.#tag('error', name, ...texts, members, causes);
  }

  /** Instances of LangGraph's and LangChain's classes. */
  #instance(value: object): Tag {
    if ('lg_name' in value) {
      const encoded = this.#ofLangGraph(value as EncodedMembers);
      if (encoded !== null) return encoded;
    }
    if (isLangChainSerializable(value)) return this.#ofLangChain(value);
    throw this.#refusal(`an instance of ${value.constructor?.name ?? 'a class'}`);
  }

  #ofLangGraph(value: EncodedMembers): Tag | null {
    const parts = (...names: readonly string[]): unknown[] =>
      names.map((name) => this.#at(name, value[name]));
    switch (value['lg_name']) {
      case 'Send':
        return this.#tag('send', ...parts('node', 'args', 'timeout'));
      case 'Command':
        return this.#tag('command', ...parts('graph', 'update', 'resume', 'goto'));
      case 'Overwrite':
        return this.#tag('overwrite', ...parts('value'));
      case 'DeltaSnapshot':
        return this.#tag('delta snapshot', ...parts('value'));
      default:
        return null;
    }
  }

  #ofLangChain(instance: LangChainSerializable): Tag {
    const record = instance.toJSON();
    const parts = this.#partsBeside(record, instance);
    const written =
      parts === null
        ? this.#tag('langchain', this.#record(record))
        : this.#tag('langchain with parts', this.#record(withoutParts(record, parts)), parts);
    this.#instances.push({ instance, written, path: this.#place() });
    return written;
  }

  /** The fields of an instance are its own in a path, not of the record that LangChain makes of it. */
  #record(record: unknown): unknown {
    if (typeof record !== 'object' || record === null || !('kwargs' in record)) return this.#encode(record);
    const { kwargs, ...head } = record;
    return { ...(this.#encode(head) as object), kwargs: this.#encode(kwargs) };
  }

  /** Fields that LangChain's own serialization, which is JSON, would change, such as a map in an artifact. */
  #partsBeside(record: unknown, instance: object): EncodedMembers | null {
    const kwargs = Object(kwargsOf(record)) as object;
    const lost = Object.entries(instance).filter(
      ([key, value]) => Object.hasOwn(kwargs, key) && typeof value === 'object' && isLostInJson(value),
    );
    if (lost.length === 0) return null;
    return Object.fromEntries(lost.map(([key, value]) => [key, this.#at(key, value)]));
  }

  #tag(name: TagName, ...parts: readonly unknown[]): Tag {
    this.#tagged = true;
    return tag(name, ...parts);
  }

  #place(): string {
    const path = this.#path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`)).join('');
    return `${this.#root}${path}`.replace(/^\./, '').slice(0, MAX_PATH_LENGTH);
  }

  #refusal(found: string, cause?: unknown): DevsError {
    return valueNotStorable(this.#place(), found, cause);
  }

  #tooDeep(): DevsError {
    return new DevsError(`The value is nested deeper than ${this.#maxDepth} levels.`, {
      code: 'VALUE_TOO_LARGE',
      remedy:
        'Store a flatter value, for example objects that refer to each other by id instead of a deep tree.',
      context: { path: this.#place(), levels: this.#maxDepth },
    });
  }
}

export function valueNotStorable(path: string, found: string, cause?: unknown): DevsError {
  return new DevsError(`The value at ${path} cannot be stored without changing it: ${found}.`, {
    code: 'VALUE_NOT_STORABLE',
    remedy:
      'Use plain data in the state: strings, finite numbers, booleans, null, arrays, plain objects, dates, maps, sets and bytes.',
    context: { path, found },
    cause,
  });
}

/** Own keys of every kind, as `Reflect.ownKeys` counts them in five times the time. */
function countOfKeys(object: object): number {
  return Object.getOwnPropertyNames(object).length + Object.getOwnPropertySymbols(object).length;
}

/** As most values: neither a container nor anything that JSON would change. */
function isPlainJson(value: unknown): boolean {
  if (typeof value === 'string') return isWellFormed(value);
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0);
  return value === null || typeof value === 'boolean';
}

/** Whether what is inside a value would not survive JSON. What is too deep to tell is encoded by itself, and refused there. */
function isLostInJson(value: unknown, levels = DEFAULT_MAX_DEPTH): boolean {
  if (typeof value !== 'object' || value === null) return !isPlainJson(value);
  if (isLangChainSerializable(value)) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) return value.some((item) => isLostInJson(item, levels - 1));
  if (Object.getPrototypeOf(value) !== Object.prototype) return true;
  return Object.values(value).some((item) => isLostInJson(item, levels - 1));
}

function kwargsOf(record: unknown): unknown {
  return (record as { readonly kwargs?: unknown }).kwargs;
}

/** A record of LangChain's without the fields that are written beside it. */
function withoutParts(record: unknown, parts: EncodedMembers): object {
  const kwargs = Object.entries(kwargsOf(record) as object).filter(([key]) => !Object.hasOwn(parts, key));
  return { ...(record as object), kwargs: Object.fromEntries(kwargs) };
}

function base64Of(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

function isLangChainSerializable(value: object): value is LangChainSerializable {
  return 'lc_serializable' in value && value.lc_serializable === true && 'toJSON' in value;
}
