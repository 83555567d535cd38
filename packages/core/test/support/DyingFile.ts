import type { Database } from 'better-sqlite3';
import { interceptStatements } from './interceptStatements.ts';

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
    interceptStatements(db, (work, { readonly }) => (readonly ? work() : this.#during(work)));
  }

  get writes(): number {
    return this.#writes;
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
