/** Selects a page of a long list. */
export interface PageRequest {
  /** Length of the page, from 1 to 1,000. @defaultValue 50 */
  readonly limit?: number;
  /** The `next` of the page before. @defaultValue the first page */
  readonly after?: string;
}

/** Where a page ended: a time in ms since the Unix epoch, and an id among those of that time. */
interface PageCursor {
  readonly at: number;
  readonly id: string;
}

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 1000;

/** @throws RangeError */
export function pageLimit(limit: number = DEFAULT_LIMIT): number {
  if (Number.isSafeInteger(limit) && limit >= 1 && limit <= MAX_LIMIT) return limit;
  throw new RangeError(`limit: expected a whole number from 1 to ${MAX_LIMIT}, got ${String(limit)}`);
}

/** A place as text: for a URL as it is. */
export function cursorOf({ at, id }: PageCursor): string {
  return Buffer.from(JSON.stringify([at, id])).toString('base64url');
}

/** @throws RangeError for a text that no page gave. */
export function parseCursor(after: string | undefined): PageCursor | null {
  if (after === undefined) return null;
  const [at, id] = parseCursorText(after);
  if (Number.isSafeInteger(at) && typeof id === 'string') return { at: at as number, id };
  throw new RangeError('after: expected the `next` of a page');
}

function parseCursorText(after: unknown): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(String(after), 'base64url').toString());
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

/** One more than the page was read: whether there is another. */
export function pageOf<T>(
  found: readonly T[],
  limit: number,
  toPlace: (item: T) => PageCursor,
): { readonly items: readonly T[]; readonly next: string | null } {
  const items = found.slice(0, limit);
  const last = found.length > limit ? items.at(-1) : undefined;
  return { items, next: last === undefined ? null : cursorOf(toPlace(last)) };
}

/** What a list of pages is made of. */
export const pages = { limit: pageLimit, place: parseCursor, of: pageOf } as const;
