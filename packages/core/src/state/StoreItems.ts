import type { Database, Statement } from 'better-sqlite3';
import { prepare } from '../db/prepare.ts';
import { DevsError } from '../errors/DevsError.ts';
import { isSound, STORE_ITEM_SEAL, sealOf, useSeals } from './rows/rows.ts';

/** Between the labels of a namespace; no label has it. */
export const LABEL_SEPARATOR = ':';
const AFTER_SEPARATOR = ';';

/** An item of a store, as it is in the file. */
export interface StoredItem {
  /** Grows; never used again. */
  readonly seq: number;
  /** Labels with {@link LABEL_SEPARATOR} between. */
  readonly namespace: string;
  readonly key: string;
  /** Plain JSON, masked. */
  readonly json: string;
  /** Milliseconds since the Unix epoch, UTC. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

type NewItem = Pick<StoredItem, 'namespace' | 'key' | 'json'>;

interface ItemRow extends StoredItem {
  readonly born: number;
  /** Under the `seq` that it was written with. */
  readonly isInPlace: 0 | 1;
}

interface NamespaceRow {
  readonly namespace: string;
  readonly born: number;
}

const COLUMNS = `
  seq, namespace, born, key, value_json AS json, created_at AS createdAt, updated_at AS updatedAt,
  ${isSound(STORE_ITEM_SEAL)} AS sound, seal IS NULL OR seal = seal_of(seq, row_sha256) AS isInPlace`;

const SELECT = `SELECT ${COLUMNS} FROM store_items WHERE namespace = ? AND key = ?`;

const SELECT_PAGE = `
  SELECT ${COLUMNS} FROM store_items WHERE namespace = @namespace AND seq > @after ORDER BY seq ASC LIMIT @count`;

const SELECT_BORN = 'SELECT born FROM store_items WHERE namespace = ? LIMIT 1';

const SELECT_NEXT = 'SELECT coalesce(max(seq), 0) + 1 FROM store_items';

// From one namespace to the next one by the index: items are not read, however many a namespace has.
const SELECT_NAMESPACES = `
  WITH RECURSIVE spaces (namespace) AS (
    SELECT min(namespace) FROM store_items WHERE namespace >= @from AND namespace < @to
    UNION ALL
    SELECT (SELECT min(namespace) FROM store_items WHERE namespace > spaces.namespace AND namespace < @to)
    FROM spaces WHERE spaces.namespace IS NOT NULL
  )
  SELECT namespace, (SELECT born FROM store_items WHERE namespace = spaces.namespace LIMIT 1) AS born
  FROM spaces WHERE namespace IS NOT NULL`;

const SEAL = sealOf(STORE_ITEM_SEAL, [
  ...['@namespace', 'CAST(@born AS INTEGER)', '@key', '@json'],
  ...['CAST(@createdAt AS INTEGER)', 'CAST(@updatedAt AS INTEGER)'],
]);

const INSERT = `
  INSERT INTO store_items (namespace, born, key, value_json, created_at, updated_at, row_sha256)
  VALUES (@namespace, @born, @key, @json, @createdAt, @updatedAt, ${SEAL})`;

const SEAL_PLACE = 'UPDATE store_items SET seal = seal_of(seq, row_sha256) WHERE seq = ?';

const UPDATE = `
  UPDATE store_items SET value_json = @json, updated_at = @updatedAt, row_sha256 = ${SEAL},
                         seal = iif(seal IS NULL, NULL, seal_of(seq, ${SEAL}))
  WHERE seq = @seq`;

// A namespace that had items before it was counted is not counted any more.
const COUNT_FIRST = `
  INSERT INTO store_counts (namespace, items)
  SELECT @namespace, 0 WHERE NOT EXISTS (SELECT 1 FROM store_items WHERE namespace = @namespace)
  ON CONFLICT DO NOTHING`;

const COUNT = 'UPDATE store_counts SET items = items + @added WHERE namespace = @namespace';

const SELECT_COUNTED = `
  SELECT items, (SELECT count(*) FROM store_items WHERE namespace = @namespace) AS found
  FROM store_counts WHERE namespace = @namespace`;

/** Items read at a time, so that a large namespace need not be in memory as a whole. */
const PAGE = 64;

/** A text is less than any blob: the end of all namespaces. */
const END_OF_TEXTS = Buffer.alloc(0);

/** Rows of `store_items`: what graphs keep beyond a run. All in the caller's transaction. */
export class StoreItems {
  readonly #select: Statement<[string, string], ItemRow>;
  readonly #selectPage: Statement<[object], ItemRow>;
  readonly #selectBorn: Statement<[string], number>;
  readonly #selectNext: Statement<[], number>;
  readonly #selectNamespaces: Statement<[object], NamespaceRow>;
  readonly #insert: Statement<[object]>;
  readonly #sealPlace: Statement<[number | bigint]>;
  readonly #update: Statement<[object]>;
  readonly #delete: Statement<[string, string]>;
  readonly #countFirst: Statement<[{ readonly namespace: string }]>;
  readonly #count: Statement<[{ readonly namespace: string; readonly added: number }]>;
  readonly #selectCounted: Statement<[{ readonly namespace: string }], ItemTally>;
  /** Namespaces that were found whole by this connection. */
  readonly #whole = new Set<string>();

  /** @param db - An open, migrated state file. */
  constructor(db: Database) {
    useSeals(db);
    this.#select = prepare(db, SELECT);
    this.#selectPage = prepare(db, SELECT_PAGE);
    this.#selectBorn = prepare<[string], number>(db, SELECT_BORN).pluck();
    this.#selectNext = prepare<[], number>(db, SELECT_NEXT).pluck();
    this.#selectNamespaces = prepare(db, SELECT_NAMESPACES);
    this.#insert = prepare(db, INSERT);
    this.#sealPlace = prepare(db, SEAL_PLACE);
    this.#update = prepare(db, UPDATE);
    this.#delete = prepare(db, 'DELETE FROM store_items WHERE namespace = ? AND key = ?');
    this.#countFirst = prepare(db, COUNT_FIRST);
    this.#count = prepare(db, COUNT);
    this.#selectCounted = prepare(db, SELECT_COUNTED);
  }

  /** @throws DevsError `STATE_CORRUPT` if it is not what was written, or one is missing; so do all that read items. */
  get(namespace: string, key: string): StoredItem | null {
    const found = this.#select.get(namespace, key);
    if (found === undefined) this.#assertWhole(namespace);
    return found === undefined ? null : inPlace(found);
  }

  /** Items of one namespace, in the order in which they were first put. */
  *in(namespace: string): Generator<StoredItem> {
    this.#assertWhole(namespace);
    for (let after = 0; ; ) {
      const page = this.#selectPage.all({ namespace, after, count: PAGE });
      yield* page.map(inPlace);
      if (page.length < PAGE) return;
      after = page.at(-1)?.seq ?? after;
    }
  }

  /** The namespace itself and those below it that have items, in the order in which they came to be; `''` is above all. */
  namespaces(path: string): readonly string[] {
    return this.#under(path)
      .toSorted((a, b) => a.born - b.born)
      .map(({ namespace }) => namespace);
  }

  #under(path: string): readonly NamespaceRow[] {
    if (path === '') return this.#selectNamespaces.all({ from: '', to: END_OF_TEXTS });
    const born = this.#selectBorn.get(path);
    const own = born === undefined ? [] : [{ namespace: path, born }];
    const [from, to] = [`${path}${LABEL_SEPARATOR}`, `${path}${AFTER_SEPARATOR}`];
    return [...own, ...this.#selectNamespaces.all({ from, to })];
  }

  /** Puts an item, or another value for it, which then keeps its place. @param now - ms since the Unix epoch, UTC. */
  put(item: NewItem, now: number): void {
    const known = this.#select.get(item.namespace, item.key);
    if (known !== undefined) {
      this.#update.run({ ...inPlace(known), ...item, updatedAt: now });
      return;
    }
    const { namespace } = item;
    const born = this.#selectBorn.get(namespace) ?? this.#selectNext.get();
    this.#countFirst.run({ namespace });
    this.#count.run({ namespace, added: 1 });
    const { lastInsertRowid } = this.#insert.run({ ...item, born, createdAt: now, updatedAt: now });
    this.#sealPlace.run(lastInsertRowid);
  }

  delete(namespace: string, key: string): void {
    const { changes } = this.#delete.run(namespace, key);
    if (changes > 0) this.#count.run({ namespace, added: -changes });
  }

  /** Counted once: what is asked for most often is there. */
  #assertWhole(namespace: string): void {
    if (this.#whole.has(namespace)) return;
    const counted = this.#selectCounted.get({ namespace });
    if (counted === undefined) return;
    if (counted.items !== counted.found) throw itemsMissing(namespace, counted);
    this.#whole.add(namespace);
  }
}

function inPlace(row: ItemRow): StoredItem {
  if (row.isInPlace === 1) return row;
  throw new DevsError(`Item "${row.key}" of the store is in the wrong place.`, {
    code: 'STATE_CORRUPT',
    remedy: 'Run devs admin doctor, then restore a backup of the state file.',
    context: { namespace: row.namespace, key: row.key },
  });
}

interface ItemTally {
  /** As written. */
  readonly items: number;
  readonly found: number;
}

function itemsMissing(namespace: string, { items, found }: ItemTally): DevsError {
  return new DevsError(`Only ${found} of ${items} items in the store namespace "${namespace}" are present.`, {
    code: 'STATE_CORRUPT',
    remedy: 'Run devs admin doctor, then restore a backup of the state file.',
    context: { namespace },
  });
}
