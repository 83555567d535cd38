import { hash } from 'node:crypto';
import { DevsError } from '../errors/DevsError.ts';
import { isLasting } from './lasting.ts';

/** Levels of arrays and objects; deeper values are refused before they exhaust the stack. */
const MAX_DEPTH = 200;

const LONE_SURROGATE = /\p{Surrogate}/u;

const POLLUTING_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/** Of values that can never change. */
const frozenTexts = new WeakMap<object, string>();

/** Where the walk stands: the path for messages, and the containers around it for cycles. */
interface WalkPosition {
  readonly path: string;
  readonly ancestors: readonly object[];
}

/**
 * JSON with sorted keys: equal values give equal text, and the text gives back an equal value.
 *
 * Object properties that are `undefined` are left out, as in `JSON.stringify`, and `-0` is written as `0`. Everything
 * else that JSON would change without a word is refused. Keys are sorted by UTF-16 code unit.
 *
 * ```ts
 * canonicalJson({ b: 1, a: [true, null] }); // '{"a":[true,null],"b":1}'
 * ```
 *
 * @throws DevsError `VALUE_NOT_STORABLE` naming the place, such as `$.a[3].b`: for `undefined` (outside object properties),
 *   functions, symbols, bigints, `NaN`, infinities, dates, maps, sets and instances of classes, sparse arrays, cycles,
 *   text with lone surrogates, and the keys `__proto__`, `constructor` and `prototype`.
 * @throws DevsError `VALUE_TOO_LARGE` for a value nested deeper than 200 levels.
 */
export function canonicalJson(value: unknown): string {
  const place = { path: '$', ancestors: [] };
  try {
    return canonicalText(value, place);
  } catch (error) {
    if (error instanceof DevsError) throw error;
    throw notStorable('reading it throws an error', place, error);
  }
}

/** SHA-256 of bytes, or of a text's UTF-8, as 64 hex digits. */
export function sha256Hex(data: string | Uint8Array): string {
  return hash('sha256', data, 'hex');
}

/** SHA-256 of a value's canonical JSON, as 64 hex digits. @throws DevsError as {@link canonicalJson}. */
export function hashOf(value: unknown): string {
  return sha256Hex(canonicalJson(value));
}

function canonicalText(value: unknown, place: WalkPosition): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return stringText(value, place);
  if (typeof value === 'object') return containerText(value, place);
  if (typeof value !== 'number') throw notStorable(typeof value, place);
  if (!Number.isFinite(value)) throw notStorable(String(value), place);
  return JSON.stringify(value);
}

function stringText(text: string, place: WalkPosition): string {
  if (LONE_SURROGATE.test(text)) throw notStorable('text with a lone surrogate', place);
  return JSON.stringify(text);
}

function containerText(value: object, place: WalkPosition): string {
  if (place.ancestors.includes(value)) throw notStorable('a cycle', place);
  if (place.ancestors.length >= MAX_DEPTH) throw valueTooDeep(place);
  const known = frozenTexts.get(value);
  if (known !== undefined) return known;
  const inside = { path: place.path, ancestors: [...place.ancestors, value] };
  const text = Array.isArray(value) ? arrayText(value, inside) : canonicalObject(value, inside);
  if (isLasting(value)) frozenTexts.set(value, text);
  return text;
}

function arrayText(array: readonly unknown[], { path, ancestors }: WalkPosition): string {
  if (Reflect.ownKeys(array).length !== array.length + 1) {
    throw notStorable('an array with holes or properties', { path, ancestors });
  }
  return `[${array.map((item, index) => canonicalText(item, { path: `${path}[${index}]`, ancestors })).join(',')}]`;
}

function canonicalObject(object: object, place: WalkPosition): string {
  assertPlain(object, place);
  const members = Object.entries(object)
    .filter(([, value]) => value !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => memberText(key, value, place));
  return `{${members.join(',')}}`;
}

function memberText(key: string, value: unknown, { path, ancestors }: WalkPosition): string {
  const place = { path: `${path}.${key}`, ancestors };
  if (POLLUTING_KEYS.has(key)) throw notStorable(`the key ${key}`, place);
  return `${stringText(key, place)}:${canonicalText(value, place)}`;
}

function assertPlain(object: object, place: WalkPosition): void {
  const prototype: unknown = Object.getPrototypeOf(object);
  if (prototype !== Object.prototype && prototype !== null) {
    throw notStorable(`an instance of ${object.constructor?.name ?? 'a class'}`, place);
  }
  if (Object.getOwnPropertySymbols(object).length > 0) throw notStorable('a symbol as a key', place);
}

function notStorable(what: string, { path }: WalkPosition, cause?: unknown): DevsError {
  return new DevsError(`The value at ${path} cannot be stored as JSON: ${what}.`, {
    code: 'VALUE_NOT_STORABLE',
    remedy: 'Use plain JSON in the state: strings, finite numbers, booleans, null, arrays and plain objects.',
    context: { path, found: what },
    cause,
  });
}

function valueTooDeep({ path }: WalkPosition): DevsError {
  return new DevsError(`The value is nested deeper than ${MAX_DEPTH} levels.`, {
    code: 'VALUE_TOO_LARGE',
    remedy:
      'Store a flatter value, for example objects that refer to each other by id instead of a deep tree.',
    context: { path: path.slice(0, 200), limit: MAX_DEPTH },
  });
}
