import type { Database, RunResult, Statement } from 'better-sqlite3';
import { afterBusy } from './busy.ts';
import { toStatementFault } from './sqliteFault.ts';

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

  constructor(db: Database, sql: string, shape: Shape) {
    this.#db = db;
    this.#sql = sql;
    this.#shape = shape;
  }

  run(...bound: unknown[]): RunResult {
    try {
      return this.#prepared().run(...bound);
    } catch (error) {
      return this.#again(error, (statement) => statement.run(...bound));
    }
  }

  get(...bound: unknown[]): unknown {
    try {
      return this.#prepared().get(...bound);
    } catch (error) {
      return this.#again(error, (statement) => statement.get(...bound));
    }
  }

  all(...bound: unknown[]): unknown[] {
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
