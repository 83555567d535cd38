import type { Database, Statement } from 'better-sqlite3';

/** Does a statement's work, or what a test puts in its place. */
export type Around = (work: () => unknown, statement: Statement) => unknown;

/**
 * Puts `around` around every execution of every statement that is prepared from now on. `BEGIN` and `COMMIT` of
 * transactions are not among them.
 */
export function interceptStatements(db: Database, around: Around): void {
  const prepare = db.prepare.bind(db) as (sql: string) => Statement;
  const intercepted = (sql: string): Statement => {
    const statement = prepare(sql);
    const methods = statement.reader ? (['get', 'all'] as const) : (['run'] as const);
    for (const name of methods) {
      const work = statement[name].bind(statement) as (...args: unknown[]) => unknown;
      Object.assign(statement, { [name]: (...args: unknown[]) => around(() => work(...args), statement) });
    }
    return statement;
  };
  db.prepare = intercepted as typeof db.prepare;
}
