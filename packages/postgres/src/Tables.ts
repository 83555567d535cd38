import type { ClientBase, Pool, QueryResultRow } from 'pg';
import { insist, type Patience } from './insist.ts';
import { pgFault } from './pgFault.ts';
import { quoted } from './schema.ts';

/** Tables of one schema of a database, asked until there is an answer. */
export class Tables {
  readonly #pool: Pool;
  readonly #patience: Patience;
  /** As it was named. */
  readonly schemaName: string;
  /** For statements. */
  readonly schema: string;

  constructor(pool: Pool, schema: string, patience: Patience) {
    this.#pool = pool;
    this.#patience = patience;
    this.schemaName = schema;
    this.schema = quoted(schema);
  }

  /** A statement that may be made twice. @throws DevsError `STATE_IO`, `CONFIG_INVALID` */
  async query<Row extends QueryResultRow>(sql: string, values: readonly unknown[]): Promise<readonly Row[]> {
    return this.#faultsOf(async () => (await this.#pool.query<Row>(sql, [...values])).rows);
  }

  /**
   * One transaction, tried again where its answer was lost: `work` finds out whether it happened. Rolled back when it throws,
   * or says that nothing is to be.
   *
   * @throws DevsError `STATE_IO`, `CONFIG_INVALID`; what `work` throws.
   */
  async transaction<Result>(
    work: (client: ClientBase, undo: () => void) => Promise<Result>,
  ): Promise<Result> {
    return this.#faultsOf(async () => {
      const client = await this.#pool.connect();
      let [isBroken, isUndone] = [true, false];
      try {
        await client.query('BEGIN');
        const result = await work(client, () => {
          isUndone = true;
        });
        await client.query(isUndone ? 'ROLLBACK' : 'COMMIT');
        isBroken = false;
        return result;
      } catch (error) {
        await client.query('ROLLBACK').then(
          () => {
            isBroken = false;
          },
          () => undefined,
        );
        throw error;
      } finally {
        client.release(isBroken);
      }
    });
  }

  async #faultsOf<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await insist(work, this.#patience);
    } catch (error) {
      throw pgFault(error);
    }
  }
}
