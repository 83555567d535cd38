import type { Database, Statement } from 'better-sqlite3';
import { transactionOfStatements } from './transactionOfStatements.ts';

/** Does a statement's work, or what a test puts in its place. */
export type Around = (work: () => unknown, statement: Statement) => unknown;

/** What begins, ends or divides a transaction. */
const CONTROL = /^(?:BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE)\b/;

/** Asked by the clock, whatever the engine does: no moment of it. */
const BY_THE_CLOCK = 'PRAGMA data_version';

/**
 * Puts `around` around every execution of every statement that is prepared from now on. `BEGIN`, `COMMIT` and the like are
 * among them with `controls` only.
 */
export function interceptStatements(
  db: Database,
  around: Around,
  { controls = false }: { readonly controls?: boolean } = {},
): void {
  const prepare = db.prepare.bind(db) as (sql: string) => Statement;
  const intercepted = (sql: string): Statement => {
    const statement = prepare(sql);
    if (sql === BY_THE_CLOCK || (!controls && CONTROL.test(sql))) return statement;
    const methods = statement.reader ? (['get', 'all'] as const) : (['run'] as const);
    for (const name of methods) {
      const work = statement[name].bind(statement) as (...args: unknown[]) => unknown;
      Object.assign(statement, { [name]: (...args: unknown[]) => around(() => work(...args), statement) });
    }
    return statement;
  };
  db.prepare = intercepted as typeof db.prepare;
  if (controls) db.transaction = transactionOfStatements(db, intercepted);
}
