import type { PutOperation } from '@langchain/langgraph-checkpoint';
import { DevsError } from '../../errors/DevsError.ts';
import { canonicalJson } from '../../state/canonicalJson.ts';
import { LABEL_SEPARATOR } from '../../state/StoreItems.ts';

/** Bytes of a key, and of the labels of a namespace with the colons between them. */
const MAX_NAME_BYTES = 1024;

/**
 * The value of what is put, as JSON; refuses what would be another item when it is read. Nothing has been written yet.
 *
 * @throws DevsError `VALUE_NOT_STORABLE` for a value that is no plain JSON object; `VALUE_TOO_LARGE`.
 */
export function checkedItem({ namespace, key, value }: PutOperation, maxBytes: number): string {
  const name = namespace.join(LABEL_SEPARATOR);
  assertSize('The namespace of an item', name, MAX_NAME_BYTES);
  assertSize('The key of an item', key, MAX_NAME_BYTES);
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw notStorable(`The value of item "${key}" is no object.`, 'Put it into a field of an object.');
  }
  canonicalJson({ namespace, key, value });
  const json = JSON.stringify(value);
  assertSize(`The value of item "${key}"`, json, maxBytes);
  return json;
}

function assertSize(what: string, text: string, limit: number): void {
  const bytes = Buffer.byteLength(text);
  if (bytes <= limit) return;
  throw new DevsError(`${what} has ${bytes} bytes; ${limit} are allowed.`, {
    code: 'VALUE_TOO_LARGE',
    remedy:
      'Keep large content outside the store and a reference to it inside, or raise `limits.valueBytes`.',
    context: { bytes, limit },
  });
}

function notStorable(message: string, remedy: string): DevsError {
  return new DevsError(message, { code: 'VALUE_NOT_STORABLE', remedy });
}
