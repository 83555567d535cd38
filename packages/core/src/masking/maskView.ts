import { inTurns, runToEnd, type Work } from './inTurns.ts';
import { mapTexts, membersOf, objectOf, type Parts, pairsOf } from './mapTexts.ts';
import { isShownAtGate } from './maskAtGate.ts';
import { maskingOf, maskSensitiveData } from './maskSensitiveData.ts';

const REDACTED = '[REDACTED]';

/** Ids that the engine issues, and such as count: they open nothing, and a client needs them to name a gate. */
const ISSUED_ID = /^sessionId:(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[a-z]{1,2}-\d{1,6})$/;

/** Characters of a text that tell whether its name makes it a secret; longer values are judged by their length alone. */
const NAMED_REACH = 1_024;
/** Longer texts are seldom there twice. */
const MAX_REMEMBERED = 256;

/**
 * Masks every text of a plain value with the broad rules for output [8_RISKS-REQ-001]. A text is also looked at
 * together with the name of its field, since `hunter2` is no secret until it is called a password. Text by text,
 * never over serialized JSON: a rule that ends at a quote would break it. What a gate shows, `maskAtGate`, stays as it is.
 *
 * @throws DevsError `VALUE_TOO_LARGE` for a value that contains itself.
 */
export const maskView = (view: unknown, field = ''): unknown => runToEnd(viewWork(view, field));

/**
 * {@link maskView} for what may be long, a text alone too: the event loop turns meanwhile, at the latest every 10 ms.
 *
 * @example
 * ```ts
 * await maskInTurns(log); // as maskSensitiveData(log)
 * ```
 */
export const maskInTurns = <View>(view: View): Promise<View> => inTurns(viewWork(view, '') as Work<View>);

function viewWork(view: unknown, field: string): Work<unknown> {
  // What stands in a view a thousand times, such as the names of its fields, is looked at once: by field, then by text, as what
  // is a secret under one name may be none under another.
  const known = new Map<string, Map<string, string>>();
  const text = (given: string, name: string): string | Work<string> => {
    if (given.length > MAX_REMEMBERED) return longText(given, name);
    const ofName = known.get(name) ?? new Map<string, string>();
    known.set(name, ofName);
    const masked = ofName.get(given) ?? shortText(given, name);
    ofName.set(given, masked);
    return masked;
  };
  return mapTexts(view, field, { text, partsOf: viewParts });
}

const shortText = (text: string, name: string): string => withName(text, maskSensitiveData(text), name);

function* longText(text: string, name: string): Work<string> {
  return withName(text, yield* maskingOf(text), name);
}

function withName(text: string, masked: string, name: string): string {
  if (masked !== text || name === '' || ISSUED_ID.test(`${name}:${text}`)) return masked;
  const named = JSON.stringify({ [name]: text.slice(0, NAMED_REACH) });
  return maskSensitiveData(named) === named ? text : REDACTED;
}

function viewParts(value: object, name: string): Parts | null {
  if (isShownAtGate(value)) return null;
  if (Array.isArray(value)) return partsOfList(value as readonly unknown[], name);
  if (value instanceof Map) return { ...membersOf([...value]), build: objectOf };
  if (value instanceof Set) return partsOfList([...value], name);
  const { toJSON } = value as { readonly toJSON?: unknown };
  const json: unknown = typeof toJSON === 'function' ? toJSON.call(value) : value;
  if (json !== value) return { items: [json], nameOf: () => name, build: ([item]) => item };
  return { ...membersOf(Object.entries(value)), build: objectOf };
}

/** A list hands its name on to its items; of pairs, as a map is written down, the first names the second. */
function partsOfList(items: readonly unknown[], name: string): Parts {
  if (!items.every(isEntryPair) || items.length === 0)
    return { items, nameOf: () => name, build: (built) => built };
  return { ...membersOf(items), build: (built) => pairsOf(built).map((pair) => [...pair]) };
}

const isEntryPair = (item: unknown): item is readonly [string, unknown] =>
  Array.isArray(item) && item.length === 2 && typeof item[0] === 'string';
