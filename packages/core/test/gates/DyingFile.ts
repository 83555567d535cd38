import type { Database, Statement } from 'better-sqlite3';

/** Which write statement is the last thing a process does, counted from 1, and on which side of it. */
export interface Death {
  readonly write: number;
  readonly side: 'before' | 'after';
}

/**
 * Makes the process of a connection die at one of its write statements: the connection is closed, a transaction that
 * was open is gone, and nothing that comes later in the same process reaches the file, as after `kill -9`. Dying before a
 * transaction's first statement is dying after the commit before.
 */
export class DyingFile {
  readonly #db: Database;
  readonly #death: Death | null;
  #writes = 0;

  /** @param db - Nothing may have been prepared on it. */
  constructor(db: Database, death: Death | null) {
    this.#db = db;
    this.#death = death;
    const prepare = db.prepare.bind(db) as (sql: string) => Statement;
    db.prepare = ((sql: string) => this.#mortal(prepare(sql))) as typeof db.prepare;
  }

  get writes(): number {
    return this.#writes;
  }

  #mortal(statement: Statement): Statement {
    if (statement.readonly) return statement;
    for (const name of ['run', 'get', 'all'] as const) {
      const work = statement[name].bind(statement) as (...args: unknown[]) => unknown;
      Object.assign(statement, { [name]: (...args: unknown[]) => this.#during(() => work(...args)) });
    }
    return statement;
  }

  #during(work: () => unknown): unknown {
    this.#writes += 1;
    const isLast = this.#writes === this.#death?.write;
    if (isLast && this.#death?.side === 'before') this.#die();
    const result = work();
    if (isLast) this.#die();
    return result;
  }

  #die(): never {
    this.#db.close();
    throw new Error('The process is gone.');
  }
}
