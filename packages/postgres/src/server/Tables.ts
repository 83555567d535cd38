import type { ClientBase, Pool, QueryResultRow } from 'pg';
import { type Patience, pgFault, retryWhileAway } from './faults.ts';
import { withTransaction } from './pool.ts';

export const quoteIdentifier = (schema: string): string => `"${schema.replaceAll('"', '""')}"`;

/** As `pg` takes it. */
export interface Statement {
  /** Under which a connection has planned it. */
  readonly name?: string;
  readonly text: string;
}

export interface TablesOptions {
  readonly schema: string;
  readonly patience: Patience;
  /** Whether a pooler is in between, which need not know a statement again by its name: it is planned anew each time then. */
  readonly isPooled: boolean;
}

/** Tables of one schema of a database, asked until there is an answer. */
export class Tables {
  readonly #pool: Pool;
  readonly #patience: Patience;
  readonly #isPooled: boolean;
  /** As it was named. */
  readonly schemaName: string;
  /** For statements. */
  readonly schema: string;

  constructor(pool: Pool, { schema, patience, isPooled }: TablesOptions) {
    this.#pool = pool;
    this.#patience = patience;
    this.#isPooled = isPooled;
    this.schemaName = schema;
    this.schema = quoteIdentifier(schema);
  }

  /** What is asked for every run: to plan it takes longer than to do it. @param name - Of this text alone. */
  statement(name: string, text: string): Statement {
    return { ...(!this.#isPooled && { name: `devs_${name}` }), text };
  }

  /**
   * A statement that may be made twice.
   *
   * @param values - A function is called each time.
   * @throws DevsError `STATE_IO`, `CONFIG_INVALID`
   */
  async query<Row extends QueryResultRow>(
    sql: string | Statement,
    values: readonly unknown[] | (() => readonly unknown[]),
  ): Promise<readonly Row[]> {
    const statement = typeof sql === 'string' ? { text: sql } : sql;
    return this.insist(async () => {
      const now = typeof values === 'function' ? values() : values;
      return (await this.#pool.query<Row>({ ...statement, values: [...now] })).rows;
    });
  }

  /**
   * One transaction, tried again where its answer was lost: `work` finds out whether it happened. Rolled back when it throws, or
   * says that nothing is to be of it, and what comes of it instead.
   *
   * @throws DevsError `STATE_IO`, `CONFIG_INVALID`; what `work` throws.
   */
  async transaction<Result>(
    work: (client: ClientBase, undo: (result: Result) => never) => Promise<Result>,
  ): Promise<Result> {
    const undo = (result: Result): never => {
      throw new Undone(result);
    };
    return this.insist(async () => {
      try {
        return await withTransaction(this.#pool, (client) => work(client, undo));
      } catch (error) {
        if (error instanceof Undone) return error.result as Result;
        throw error;
      }
    });
  }

  /** Does what may be done twice until there was an answer. @throws DevsError `STATE_IO`, `CONFIG_INVALID`; what `work` throws. */
  async insist<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await retryWhileAway(work, this.#patience);
    } catch (error) {
      throw pgFault(error);
    }
  }
}

/** Thrown through a transaction for it to be rolled back. */
class Undone extends Error {
  readonly result: unknown;

  constructor(result: unknown) {
    super();
    this.result = result;
  }
}
