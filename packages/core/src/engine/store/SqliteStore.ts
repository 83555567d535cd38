import {
  BaseStore,
  type GetOperation,
  type Item,
  type ListNamespacesOperation,
  type MatchCondition,
  type Operation,
  type OperationResults,
  type PutOperation,
  type SearchItem,
  type SearchOperation,
  validateNamespace,
} from '@langchain/langgraph-checkpoint';
import type { Database } from 'better-sqlite3';
import { type Limits, tooLarge, validLimits } from '../../config/limits.ts';
import { transaction } from '../../db/prepare.ts';
import { DevsError } from '../../errors/DevsError.ts';
import { immediateTransaction } from '../../state/commits/immediateTransaction.ts';
import { parseStored, type StoreOptions } from '../../state/rows/rows.ts';
import { LABEL_SEPARATOR, type StoredItem, StoreItems } from '../../state/StoreItems.ts';
import { canonicalJson } from '../../values/canonicalJson.ts';
import { heaviestPlace } from '../../values/heaviestPlace.ts';
import { currentDrive } from '../execution/driveContext.ts';

export interface SqliteStoreOptions extends Pick<StoreOptions, 'now'> {
  /** Bytes of one value, as JSON. @defaultValue 8 MiB */
  readonly limits?: Partial<Pick<Limits, 'valueBytes'>>;
}

/** A put of a batch, checked; a `null` deletes. */
interface Planned {
  readonly namespace: string;
  readonly key: string;
  readonly json: string | null;
}

/**
 * LangGraph's store in a state file: items by namespace and key, for all runs and processes that open the file. Returns
 * the same results as `InMemoryStore`, in the same order, without embeddings: search by namespace and filter.
 *
 * A batch is one transaction: its reads see the state before it, and the last of several puts of an item wins. Values
 * are plain JSON objects.
 *
 * @example
 * ```ts
 * const store = new SqliteStore(createDatabase({ dbPath: 'state.sqlite' }));
 * await store.put(['users', 'ada'], 'language', { code: 'en' });
 * await store.search(['users'], { filter: { code: { $ne: 'de' } }, limit: 20 });
 * ```
 */
export class SqliteStore extends BaseStore {
  readonly #db: Database;
  readonly #items: StoreItems;
  readonly #now: () => number;
  readonly #limits: Limits;

  /**
   * @param db - An open, migrated state file.
   * @throws RangeError if the limit is not a whole number of at least 1.
   */
  constructor(db: Database, { now = Date.now, limits = {} }: SqliteStoreOptions = {}) {
    super();
    this.#db = db;
    this.#items = new StoreItems(db);
    this.#now = now;
    this.#limits = validLimits(limits);
  }

  /**
   * Executes all operations or none.
   *
   * @throws InvalidNamespaceError as LangGraph's stores; TypeError, RangeError for an invalid operation.
   * @throws DevsError `STORE_UNSUPPORTED` for a `query` or `index`; `VALUE_NOT_STORABLE`, `VALUE_TOO_LARGE` for a put;
   *   `LEASE_LOST` for a put in a run that another process took over; `STATE_…`. The store is unchanged then.
   */
  override async batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    const puts = new Map<string, Planned>();
    const reads = operations.map((operation): (() => unknown) => {
      if (!('value' in operation)) return this.#reader(operation);
      const { name, ...planned } = plannedPut(operation, this.#limits);
      puts.set(name, planned);
      return () => null;
    });
    const work = (): unknown[] => {
      if (puts.size > 0) currentDrive()?.fence.assertInTx();
      const results = reads.map((read) => read());
      for (const put of puts.values()) this.#write(put);
      return results;
    };
    const results =
      puts.size === 0 ? transaction(this.#db, 'deferred', work) : immediateTransaction(this.#db, work);
    return results as OperationResults<Op>;
  }

  #reader(operation: Exclude<Operation, PutOperation>): () => unknown {
    if ('namespacePrefix' in operation) {
      assertSearch(operation);
      return () => this.#search(operation);
    }
    if ('namespace' in operation) {
      const namespace = namespaceText(operation);
      return () => this.#get(namespace, operation.key);
    }
    assertListing(operation);
    return () => listedNamespaces(this.#items.namespaces(commonNamespace(operation)), operation);
  }

  #get(namespace: string, key: string): Item | null {
    const stored = this.#items.get(namespace, key);
    return stored === null ? null : itemOf(stored);
  }

  #search({ namespacePrefix, filter, limit = 10, offset = 0 }: SearchOperation): SearchItem[] {
    const found: SearchItem[] = [];
    let skipped = 0;
    for (const item of this.#under(namespacePrefix.join(LABEL_SEPARATOR))) {
      if (found.length >= limit) break;
      if (!matchesFilter(item.value, filter)) continue;
      if (skipped < offset) skipped += 1;
      else found.push(item);
    }
    return found;
  }

  *#under(path: string): Generator<Item> {
    for (const namespace of this.#items.namespaces(path)) {
      for (const stored of this.#items.in(namespace)) yield itemOf(stored);
    }
  }

  #write({ namespace, key, json }: Planned): void {
    if (json === null) this.#items.delete(namespace, key);
    else this.#items.put({ namespace, key, json }, this.#now());
  }
}

function plannedPut(operation: PutOperation, limits: Limits): Planned & { name: string } {
  const namespace = namespaceText(operation);
  const { key, value, index } = operation;
  if (index !== undefined && index !== false) throw withoutEmbeddings('index');
  const json = value === null ? null : checkedItem(operation, limits);
  return { name: `${namespace}${LABEL_SEPARATOR}${key}`, namespace, key, json };
}

/** The namespace of an item as one text. @throws InvalidNamespaceError, TypeError */
function namespaceText({ namespace, key }: GetOperation): string {
  assertLabels(namespace);
  validateNamespace(namespace, { allowReservedRoot: true });
  if (typeof key !== 'string') throw new TypeError(`The key of an item must be a string, got ${typeof key}.`);
  return namespace.join(LABEL_SEPARATOR);
}

function assertSearch({ namespacePrefix, query, limit = 10, offset = 0 }: SearchOperation): void {
  assertLabels(namespacePrefix);
  validateNamespace(namespacePrefix, { allowReservedRoot: true, allowEmpty: true });
  assertPage({ limit, offset });
  if (query) throw withoutEmbeddings('query');
}

function assertListing({ maxDepth = 1, limit = 0, offset = 0 }: ListNamespacesOperation): void {
  assertPage({ limit, offset });
  if (!(maxDepth >= 1)) throw new RangeError(`Expected maxDepth to be at least 1, got ${String(maxDepth)}.`);
}

function assertLabels(namespace: unknown): void {
  if (!Array.isArray(namespace)) throw new TypeError('A namespace must be a list of labels.');
}

function assertPage(page: { readonly limit: number; readonly offset: number }): void {
  for (const [name, value] of Object.entries(page)) {
    if (Number.isSafeInteger(value) && value >= 0) continue;
    throw new RangeError(`Expected ${name} to be a whole number of at least 0, got ${String(value)}.`);
  }
}

function itemOf({ namespace, key, json, createdAt, updatedAt }: StoredItem): Item {
  return {
    value: parseStored(json, `store item "${key}"`) as Item['value'],
    key,
    namespace: namespace.split(LABEL_SEPARATOR),
    createdAt: new Date(createdAt),
    updatedAt: new Date(updatedAt),
  };
}

function withoutEmbeddings(what: 'query' | 'index'): DevsError {
  return new DevsError(`The store in the state file has no embeddings, so it does not support \`${what}\`.`, {
    code: 'STORE_UNSUPPORTED',
    remedy: 'Search by namespace and filter, or set the `store` of durable() to a store with embeddings.',
    context: { option: what },
  });
}

/** Bytes of a key, and of the labels of a namespace with the colons between them. */
const MAX_NAME_BYTES = 1024;

/**
 * The value of what is put, as JSON; refuses what would be another item when it is read. Nothing has been written yet.
 *
 * @throws DevsError `VALUE_NOT_STORABLE` for a value that is no plain JSON object; `VALUE_TOO_LARGE`.
 */
function checkedItem({ namespace, key, value }: PutOperation, limits: Limits): string {
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

const ANY = '*';

/** The namespace that all namespaces of a listing are or lie in; `''` for any. */
function commonNamespace({ matchConditions = [] }: ListNamespacesOperation): string {
  const { path = [] } = matchConditions.find(({ matchType }) => matchType === 'prefix') ?? {};
  const wildcard = path.indexOf(ANY);
  return path.slice(0, wildcard < 0 ? path.length : wildcard).join(LABEL_SEPARATOR);
}

/** The namespaces that a listing wants, in its order, cut to its depth. */
function listedNamespaces(
  all: readonly string[],
  { matchConditions = [], maxDepth, limit, offset = 0 }: ListNamespacesOperation,
): string[][] {
  const wanted = all
    .map((namespace) => namespace.split(LABEL_SEPARATOR))
    .filter((labels) => matchConditions.every((condition) => isMatch(labels, condition)))
    .map((labels) => labels.slice(0, maxDepth).join(LABEL_SEPARATOR));
  return [...new Set(wanted)]
    .sort((a, b) => a.localeCompare(b))
    .slice(offset, limit === undefined ? undefined : offset + limit)
    .map((namespace) => namespace.split(LABEL_SEPARATOR));
}

function isMatch(labels: readonly string[], { matchType, path }: MatchCondition): boolean {
  if (path.length > labels.length) return false;
  const start = matchType === 'prefix' ? 0 : labels.length - path.length;
  return path.every((label, at) => label === ANY || label === labels[start + at]);
}

type FilteredItem = Readonly<Record<string, unknown>>;
type Compare = (found: unknown, wanted: unknown) => boolean;

const OPERATORS: Readonly<Record<string, Compare>> = {
  $eq: (found, wanted) => found === wanted,
  $ne: (found, wanted) => found !== wanted,
  $gt: (found, wanted) => Number(found) > Number(wanted),
  $gte: (found, wanted) => Number(found) >= Number(wanted),
  $lt: (found, wanted) => Number(found) < Number(wanted),
  $lte: (found, wanted) => Number(found) <= Number(wanted),
  $in: (found, wanted) => Array.isArray(wanted) && wanted.includes(found),
  $nin: (found, wanted) => !Array.isArray(wanted) || !wanted.includes(found),
};

/**
 * Whether an item's value is as a filter wants it, field by field, as LangGraph's own store decides: equal to a plain
 * value, or as each of its operators says. The ordering ones compare numbers.
 */
function matchesFilter(value: FilteredItem, filter: FilteredItem = {}): boolean {
  return Object.entries(filter).every(([field, wanted]) => matches(value[field], wanted));
}

function matches(found: unknown, wanted: unknown): boolean {
  if (!isOperators(wanted)) return found === wanted;
  return Object.entries(wanted).every(([name, operand]) => OPERATORS[name]?.(found, operand));
}

function isOperators(wanted: unknown): wanted is FilteredItem {
  if (typeof wanted !== 'object' || wanted === null) return false;
  return Object.keys(wanted).every((name) => Object.hasOwn(OPERATORS, name));
}
