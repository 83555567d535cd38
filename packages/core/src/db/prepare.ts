import type { Database, RunResult, Statement, Transaction } from 'better-sqlite3';
import { DevsError } from '../errors/DevsError.ts';
import { afterBusy, isBusy } from './busy.ts';
import { toStatementFault } from './sqliteFault.ts';
import { noteUndone, noteWrites, tablesWritten } from './tableWrites.ts';

/** What a row of a statement is given as. */
type Shape = 'object' | 'first column' | 'array';

/** By connection, what has been asked for. */
const knownStatements = new WeakMap<Database, Map<string, LateStatement>>();

/**
 * A statement of the engine's own, prepared when it is first executed and once per connection, however many ask for it. As
 * `db.prepare`, but a storage fault leaves it typed, whether it strikes while the statement is prepared, executed or read
 * row by row.
 *
 * @param sql - A constant of the engine: what SQLite cannot make sense of is the file's fault.
 * @returns What the engine uses of the driver's statement: `run`, `get`, `all`, `iterate`, `pluck`, `raw`. They throw
 *   DevsError `STATE_IO`, `STATE_DISK_FULL`, `STATE_CORRUPT`.
 */
export function prepare<Bound extends unknown[] = unknown[], Row = unknown>(
  db: Database,
  sql: string,
): Statement<Bound, Row> {
  const statements = knownStatements.get(db) ?? new Map<string, LateStatement>();
  const statement = statements.get(sql) ?? new LateStatement(db, sql, 'object');
  knownStatements.set(db, statements.set(sql, statement));
  return statement as unknown as Statement<Bound, Row>;
}

/** Runs SQL text of the engine's own, several statements of it; faults as of {@link prepare}. */
export function execute(db: Database, sql: string): void {
  withStatementFaults(() => patiently(db, () => db.exec(sql)));
  noteWrites(db, tablesWritten(sql));
}

/** Sets or reads a setting; faults as of {@link prepare}. */
export function pragma(db: Database, text: string): unknown {
  return withStatementFaults(() => patiently(db, () => db.pragma(text)));
}

/** The first value of {@link pragma}. */
export function pragmaValue(db: Database, text: string): unknown {
  return withStatementFaults(() => patiently(db, () => db.pragma(text, { simple: true })));
}

class LateStatement {
  readonly #db: Database;
  readonly #sql: string;
  readonly #shape: Shape;
  #statement: Statement | null = null;
  #by: Database['prepare'] | null = null;
  #plucked: LateStatement | null = null;
  #asArrays: LateStatement | null = null;
  readonly #written: readonly string[];

  constructor(db: Database, sql: string, shape: Shape) {
    this.#db = db;
    this.#sql = sql;
    this.#shape = shape;
    this.#written = tablesWritten(sql);
  }

  run(...bound: unknown[]): RunResult {
    if (this.#written.length > 0) noteWrites(this.#db, this.#written);
    try {
      return this.#prepared().run(...bound);
    } catch (error) {
      return this.#again(error, (statement) => statement.run(...bound));
    }
  }

  get(...bound: unknown[]): unknown {
    if (this.#written.length > 0) noteWrites(this.#db, this.#written);
    try {
      return this.#prepared().get(...bound);
    } catch (error) {
      return this.#again(error, (statement) => statement.get(...bound));
    }
  }

  all(...bound: unknown[]): unknown[] {
    if (this.#written.length > 0) noteWrites(this.#db, this.#written);
    try {
      return this.#prepared().all(...bound);
    } catch (error) {
      return this.#again(error, (statement) => statement.all(...bound));
    }
  }

  /** Of a statement of its own: one that is being read is of no use to anybody else. */
  *iterate(...bound: unknown[]): IterableIterator<unknown> {
    try {
      yield* shaped(this.#db.prepare(this.#sql), this.#shape).iterate(...bound);
    } catch (error) {
      throw toStatementFault(error) ?? error;
    }
  }

  pluck(): LateStatement {
    this.#plucked ??= new LateStatement(this.#db, this.#sql, 'first column');
    return this.#plucked;
  }

  raw(): LateStatement {
    this.#asArrays ??= new LateStatement(this.#db, this.#sql, 'array');
    return this.#asArrays;
  }

  #again<T>(error: unknown, execute: (statement: Statement) => T): T {
    return withStatementFaults(() => afterBusy(this.#db, error, () => execute(this.#prepared())));
  }

  /** Whoever wraps the connection's `prepare` later on is heard from then on. */
  #prepared(): Statement {
    if (this.#statement !== null && this.#by === this.#db.prepare) return this.#statement;
    const statement = shaped(this.#db.prepare(this.#sql), this.#shape);
    this.#by = this.#db.prepare;
    this.#statement = statement;
    return statement;
  }
}

function shaped(statement: Statement, shape: Shape): Statement {
  if (shape === 'object') return statement;
  return shape === 'array' ? statement.raw() : statement.pluck();
}

function patiently<T>(db: Database, statement: () => T): T {
  try {
    return statement();
  } catch (error) {
    return afterBusy(db, error, statement);
  }
}

function withStatementFaults<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw toStatementFault(error) ?? error;
  }
}

/** A transaction, or a savepoint in it. */
export interface TransactionPart {
  /** Rolled back, or not committed. */
  isUndone: boolean;
}

/** By connection, what {@link outer} has begun and is still at its work, with the savepoints in it, the innermost last. */
const workingParts = new WeakMap<Database, TransactionPart[]>();

/** By connection, its `transaction` of a work that is given later, and what made it. */
const runners = new WeakMap<Database, { readonly by: Database['transaction']; readonly run: Runner }>();

type Runner = Transaction<(work: () => unknown) => unknown>;

/** Connections on which something could not be rolled back: what is open there must never be committed. */
const stuck = new WeakSet<Database>();

/**
 * Runs `work` in one transaction of its own, or in a savepoint of the one around it. Rolled back when `work` throws, and
 * its error is the one that is thrown, whatever becomes of the rollback. Synchronous: nothing may be awaited in `work`,
 * and one that returns a promise is rolled back.
 *
 * @param kind - `immediate` to write; `deferred` to read at one moment.
 * @throws DevsError `STATE_IO`, `STATE_DISK_FULL` or `STATE_CORRUPT`, or what `work` throws. TypeError for a promise.
 */
export function transaction<T>(db: Database, kind: 'immediate' | 'deferred', work: () => T): T {
  const isPart = workingParts.has(db) || (db.inTransaction && !stuck.has(db));
  return isPart ? inSavepoint(db, work) : outer(db, kind, work);
}

/**
 * The transaction that a connection is in and the savepoints in it, the innermost last; `null` where it was not begun by
 * {@link transaction}, so that nobody can tell whether it is committed.
 */
export function openParts(db: Database): readonly TransactionPart[] | null {
  const parts = workingParts.get(db);
  return parts === undefined ? null : [...parts];
}

function outer<T>(db: Database, kind: 'immediate' | 'deferred', work: () => T): T {
  if (stuck.has(db)) {
    if (db.inTransaction) prepare(db, 'ROLLBACK').run();
    stuck.delete(db);
  }
  const whole: TransactionPart = { isUndone: false };
  let thrown: { readonly error: unknown } | null = null;
  const watched = (): T => {
    workingParts.set(db, [whole]);
    try {
      const result = work();
      if (stuck.has(db)) throw notRolledBack();
      return result;
    } catch (error) {
      thrown = { error };
      throw error;
    }
  };
  try {
    return begunWhenFree(db, () => runnerOf(db)[kind](watched) as T);
  } catch (error) {
    whole.isUndone = true;
    noteUndone(db);
    if (db.inTransaction) stuck.add(db);
    else stuck.delete(db);
    throw firstError(thrown, error);
  } finally {
    workingParts.delete(db);
  }
}

/** Of a file that others write: what was refused before its work began is begun again. */
function begunWhenFree<T>(db: Database, begin: () => T): T {
  try {
    return begin();
  } catch (error) {
    return afterBusy(db, error, begin, (refusal) => !workingParts.has(db) && isBusy(refusal));
  }
}

/**
 * The driver's own `transaction`, made once for a connection: making it takes as long as a commit does. Where somebody has
 * wrapped that of the connection, it is made each time, so that they hear of each.
 */
function runnerOf(db: Database): Runner {
  const known = runners.get(db);
  if (known?.by === db.transaction && !Object.hasOwn(db, 'transaction')) return known.run;
  const run = db.transaction((work: () => unknown) => work());
  runners.set(db, { by: db.transaction, run });
  return run;
}

/** What `work` has thrown; else what was thrown by beginning, committing or rolling back. */
function firstError(thrown: { readonly error: unknown } | null, error: unknown): unknown {
  return thrown === null ? (toStatementFault(error) ?? error) : thrown.error;
}

function inSavepoint<T>(db: Database, work: () => T): T {
  if (stuck.has(db)) throw notRolledBack();
  prepare(db, 'SAVEPOINT part').run();
  const part: TransactionPart = { isUndone: false };
  const parts = workingParts.get(db);
  parts?.push(part);
  try {
    const result = work();
    prepare(db, 'RELEASE part').run();
    return result;
  } catch (error) {
    part.isUndone = true;
    noteUndone(db);
    undo(db, ['ROLLBACK TO part', 'RELEASE part']);
    throw error;
  } finally {
    parts?.pop();
  }
}

/** After some faults SQLite has rolled back by itself. */
function undo(db: Database, statements: readonly string[]): void {
  if (!db.inTransaction) return;
  try {
    for (const statement of statements) prepare(db, statement).run();
  } catch {
    stuck.add(db);
  }
}

function notRolledBack(): DevsError {
  return new DevsError('A part of a transaction could not be rolled back.', {
    code: 'STATE_IO',
    remedy: 'Check the disk, then run the same command again. Nothing was written.',
  });
}
