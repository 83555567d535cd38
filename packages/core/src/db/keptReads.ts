import type { Database } from 'better-sqlite3';
import { openParts, prepare, type TransactionPart } from './prepare.ts';
import { writesTo } from './tableWrites.ts';
import { isWorkingCopy } from './workingCopies.ts';

/** A value that was read, and the writes up to then. */
interface Kept<T = unknown> {
  readonly value: T;
  /** Commits of other connections. */
  readonly others: number;
  /** Writes of this connection to the tables that were read. */
  readonly own: number;
}

interface KeptOfRun {
  users: number;
  readonly reads: Map<string, Kept>;
}

const keptOf = new WeakMap<Database, Map<string, KeptOfRun>>();

/**
 * Keeps rows of a run while this process executes it. They are read again after any write that may have changed them. Returns the way
 * to end that.
 */
export function keepReads(db: Database, threadId: string): () => void {
  const runs = keptOf.get(db) ?? new Map<string, KeptOfRun>();
  keptOf.set(db, runs);
  const kept = runs.get(threadId) ?? { users: 0, reads: new Map() };
  runs.set(threadId, kept);
  kept.users += 1;
  return () => {
    kept.users -= 1;
    if (kept.users === 0) runs.delete(threadId);
  };
}

/** A transaction sees the file at one moment. */
const seenIn = new WeakMap<TransactionPart, number>();

/** Another number once another connection has committed. A working copy has one connection. */
export function commitsOfOthers(db: Database): number {
  if (isWorkingCopy(db)) return 0;
  const whole = openParts(db)?.[0];
  const seen = whole === undefined ? undefined : seenIn.get(whole);
  if (seen !== undefined) return seen;
  const commits = prepare<[], number>(db, 'PRAGMA data_version').pluck().get() ?? 0;
  if (whole !== undefined) seenIn.set(whole, commits);
  return commits;
}

/** A fact about tables, known until they are written in a way that may change it. */
export class TableKnowledge<T> {
  readonly #db: Database;
  readonly #tables: readonly string[];
  #known: Kept<T> | null = null;

  constructor(db: Database, tables: readonly string[]) {
    this.#db = db;
    this.#tables = tables;
  }

  /** `undefined` where it has to be read. */
  get(): T | undefined {
    const isKnown =
      this.#known?.own === writesTo(this.#db, this.#tables) &&
      this.#known.others === commitsOfOthers(this.#db);
    return isKnown ? this.#known?.value : undefined;
  }

  set(value: T): void {
    const [others, own] = [commitsOfOthers(this.#db), writesTo(this.#db, this.#tables)];
    // The end of a transaction that `transaction` has not begun is unknown here.
    const isTold = !this.#db.inTransaction || openParts(this.#db) !== null;
    this.#known = isTold ? { value, others, own } : null;
  }

  /** Does a write that leaves the fact true. */
  keeping<R>(write: () => R): R {
    const value = this.get();
    const result = write();
    if (value !== undefined) this.set(value);
    return result;
  }
}

/** A read, and its tables. */
export interface KeptRead<T> {
  readonly threadId: string;
  /** Unique among the reads of a run. */
  readonly name: string;
  /** All that `read` looks at. */
  readonly tables: readonly string[];
  readonly read: () => T;
}

/** Which rows are kept. */
type KeptRows = Omit<KeptRead<unknown>, 'read'>;

/** They are known, as {@link readKept} would read them. */
export function keepRead(db: Database, { threadId, name, tables }: KeptRows, value: unknown): void {
  const reads = keptOf.get(db)?.get(threadId)?.reads;
  reads?.set(name, { value, others: commitsOfOthers(db), own: writesTo(db, tables) });
}

/** A value that {@link readKept} would return without reading. */
export function knownRead(db: Database, { threadId, name, tables }: KeptRows): unknown {
  const known = keptOf.get(db)?.get(threadId)?.reads.get(name);
  const isKnown = known?.own === writesTo(db, tables) && known.others === commitsOfOthers(db);
  return isKnown ? known.value : undefined;
}

/** Reads it, unless it {@link keepReads is kept} and its tables are as they were. Must not be changed. */
export function readKept<T>(db: Database, { threadId, name, tables, read }: KeptRead<T>): T {
  const reads = keptOf.get(db)?.get(threadId)?.reads;
  if (reads === undefined) return read();
  const known = reads.get(name);
  const [others, own] = [commitsOfOthers(db), writesTo(db, tables)];
  if (known?.own === own && known.others === others) return known.value as T;
  const value = read();
  reads.set(name, { value, others, own });
  return value;
}

/** Does a write that leaves the rows that are kept true. */
export function keepingRead<R>(db: Database, rows: KeptRows, write: () => R): R {
  const value = knownRead(db, rows);
  const result = write();
  if (value !== undefined) keepRead(db, rows, value);
  return result;
}
