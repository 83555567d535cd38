import type { PutOperation } from '@langchain/langgraph-checkpoint';
import { type Limits, tooLarge } from '../../config/limits.ts';
import { DevsError } from '../../errors/DevsError.ts';
import { LABEL_SEPARATOR } from '../../state/StoreItems.ts';
import { canonicalJson } from '../../values/canonicalJson.ts';
import { heaviestPlace } from '../../values/heaviestPlace.ts';

/** Bytes of a key, and of the labels of a namespace with the colons between them. */
const MAX_NAME_BYTES = 1024;

/**
 * The value of what is put, as JSON; refuses what would be another item when it is read. Nothing has been written yet.
 *
 * @throws DevsError `VALUE_NOT_STORABLE` for a value that is no plain JSON object; `VALUE_TOO_LARGE`.
 */
export function checkedItem({ namespace, key, value }: PutOperation, limits: Limits): string {
  const name = namespace.join(LABEL_SEPARATOR);
  assertItemName('The namespace of an item', name);
  assertItemName('The key of an item', key);
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw itemNotStorable(
      `The value of item "${key}" is not an object.`,
      'Put the value into a field of an object.',
    );
  }
  canonicalJson({ namespace, key, value });
  const json = JSON.stringify(value);
  const bytes = Buffer.byteLength(json);
  if (bytes <= limits.valueBytes) return json;
  const what = `The value of item "${key}"`;
  throw tooLarge({ what, limit: 'valueBytes', bytes, path: heaviestPlace(value, 'value'), limits });
}

function assertItemName(what: string, text: string): void {
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_NAME_BYTES) return;
  throw new DevsError(`${what} is ${bytes} bytes; the limit is ${MAX_NAME_BYTES} bytes.`, {
    code: 'VALUE_TOO_LARGE',
    remedy: 'Use a shorter name, such as an id or a hash, and put long text into the value.',
    context: { bytes, limit: MAX_NAME_BYTES },
  });
}

function itemNotStorable(message: string, remedy: string): DevsError {
  return new DevsError(message, { code: 'VALUE_NOT_STORABLE', remedy });
}
