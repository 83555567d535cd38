// What JSON cannot say is written as an object with one key, `$`, that holds a list: a name and what belongs to it.
// A plain object of that shape is itself written as a tag, so data is never taken for one.

import type { TypedBytes } from '../../state/checkpoints/checkpointRecords.ts';

/** The one key of a tag. */
export const TAG_KEY = '$';

/** Levels of arrays and objects. */
export const DEFAULT_MAX_DEPTH = 200;

/** Which numbers are taken. `every`: `NaN`, the infinities and bigints, too. */
export type Numbers = 'finite' | 'every';

export type TagName =
  | 'undefined'
  | 'negative zero'
  | 'number'
  | 'bigint'
  | 'document'
  /** A plain object with `$` as its only key. */
  | 'object'
  | 'object without prototype'
  | 'date'
  | 'map'
  | 'set'
  | 'regexp'
  | 'bytes'
  | 'buffer'
  | 'error'
  | 'send'
  | 'command'
  | 'overwrite'
  | 'delta snapshot'
  | 'langchain'
  /** One with fields that LangChain's own serialization would change: they are beside its record. */
  | 'langchain with parts';

export type Tag = Readonly<Record<typeof TAG_KEY, readonly [TagName, ...unknown[]]>>;

export function tag(name: TagName, ...parts: readonly unknown[]): Tag {
  return { [TAG_KEY]: [name, ...parts] };
}

/** The errors of the language itself, which can be made again from what they hold. */
export const ERROR_CLASSES: Readonly<Record<string, ErrorConstructor>> = {
  Error,
  EvalError,
  RangeError,
  ReferenceError,
  SyntaxError,
  TypeError,
  URIError,
};

/** A stored value that is JSON itself; `null` where it is of another kind and only the serde can tell. */
export function readPlain({ type, bytes }: TypedBytes): { readonly value: unknown } | null {
  return type === 'plain' ? { value: JSON.parse(decodeUtf8(bytes)) as unknown } : null;
}

export function decodeUtf8(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}
