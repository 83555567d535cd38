import type { Database, RunResult, Statement } from 'better-sqlite3';
import { toStatementFault } from './sqliteFault.ts';

/** What a row of a statement is given as. */
type Shape = 'object' | 'first column' | 'array';

/** The statements of one connection, and the `prepare` that made them. */
interface Prepared {
  readonly by: Database['prepare'];
  readonly statements: Map<string, Statement>;
}

const prepared = new WeakMap<Database, Prepared>();

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
  return new LateStatement(db, sql, 'object') as unknown as Statement<Bound, Row>;
}

/** Runs SQL text of the engine's own, several statements of it; faults as of {@link prepare}. */
export function execute(db: Database, sql: string): void {
  withStatementFaults(() => db.exec(sql));
}

/** Sets or reads a setting; faults as of {@link prepare}. */
export function pragma(db: Database, text: string): unknown {
  return withStatementFaults(() => db.pragma(text));
}

/** The first value of {@link pragma}. */
export function pragmaValue(db: Database, text: string): unknown {
  return withStatementFaults(() => db.pragma(text, { simple: true }));
}

class LateStatement {
  readonly #db: Database;
  readonly #sql: string;
  readonly #shape: Shape;
  #statement: Statement | null = null;
  #by: Database['prepare'] | null = null;

  constructor(db: Database, sql: string, shape: Shape) {
    this.#db = db;
    this.#sql = sql;
    this.#shape = shape;
  }

  run(...bound: unknown[]): RunResult {
    try {
      return this.#prepared().run(...bound);
    } catch (error) {
      throw toStatementFault(error) ?? error;
    }
  }

  get(...bound: unknown[]): unknown {
    try {
      return this.#prepared().get(...bound);
    } catch (error) {
      throw toStatementFault(error) ?? error;
    }
  }

  all(...bound: unknown[]): unknown[] {
    return withStatementFaults(() => this.#prepared().all(...bound));
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
    return new LateStatement(this.#db, this.#sql, 'first column');
  }

  raw(): LateStatement {
    return new LateStatement(this.#db, this.#sql, 'array');
  }

  /** Whoever wraps the connection's `prepare` later on is heard from then on. */
  #prepared(): Statement {
    if (this.#statement !== null && this.#by === this.#db.prepare) return this.#statement;
    const statement = preparedOnce(this.#db, this.#sql, this.#shape);
    this.#by = this.#db.prepare;
    this.#statement = statement;
    return statement;
  }
}

function preparedOnce(db: Database, sql: string, shape: Shape): Statement {
  const statements = statementsOf(db);
  const key = `${shape}: ${sql}`;
  const known = statements.get(key);
  if (known !== undefined) return known;
  const statement = shaped(db.prepare(sql), shape);
  statements.set(key, statement);
  return statement;
}

function statementsOf(db: Database): Map<string, Statement> {
  const known = prepared.get(db);
  if (known?.by === db.prepare) return known.statements;
  const statements = new Map<string, Statement>();
  prepared.set(db, { by: db.prepare, statements });
  return statements;
}

function shaped(statement: Statement, shape: Shape): Statement {
  if (shape === 'object') return statement;
  return shape === 'array' ? statement.raw() : statement.pluck();
}

function withStatementFaults<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw toStatementFault(error) ?? error;
  }
}
