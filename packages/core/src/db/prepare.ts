import type { Database, Statement } from 'better-sqlite3';
import { toStatementFault } from './sqliteFault.ts';

const EXECUTIONS = ['run', 'get', 'all'] as const;

/**
 * Prepares a statement of the engine's own. As `db.prepare`, but a storage fault leaves it typed, whether it strikes
 * while the statement is prepared, executed or read row by row.
 *
 * @param sql - A constant of the engine: what SQLite cannot make sense of is the file's fault.
 * @throws DevsError `STATE_IO`, `STATE_DISK_FULL`, `STATE_CORRUPT`; so do the statement's methods.
 */
export function prepare<Bound extends unknown[] = unknown[], Row = unknown>(
  db: Database,
  sql: string,
): Statement<Bound, Row> {
  const statement = withStatementFaults(() => db.prepare<Bound, Row>(sql) as Statement<Bound, Row>);
  for (const name of EXECUTIONS) {
    const execute = statement[name] as (...bound: unknown[]) => unknown;
    const guarded = (...bound: unknown[]): unknown =>
      withStatementFaults(() => Reflect.apply(execute, statement, bound));
    shadow(statement, name, guarded);
  }
  const iterate = statement.iterate as (...bound: unknown[]) => IterableIterator<Row>;
  const rows = (...bound: unknown[]): IterableIterator<Row> =>
    guardedRows(withStatementFaults(() => Reflect.apply(iterate, statement, bound) as IterableIterator<Row>));
  shadow(statement, 'iterate', rows);
  return statement;
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

/** The driver's statement goes on as itself: what it returns for chaining is guarded, too. */
function shadow(statement: object, name: string, value: unknown): void {
  Object.defineProperty(statement, name, { value, configurable: true, writable: true });
}

function* guardedRows<Row>(rows: IterableIterator<Row>): IterableIterator<Row> {
  try {
    yield* rows;
  } catch (error) {
    throw toStatementFault(error) ?? error;
  }
}

function withStatementFaults<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw toStatementFault(error) ?? error;
  }
}
