import type { Pool, PoolClient } from 'pg';
import { DEAD_AFTER_MS } from './Owner.ts';

/** The server ends one whose client stands still: what it has locked is in the way of who takes its runs. */
export const BEGIN = `BEGIN; SET LOCAL idle_in_transaction_session_timeout = ${DEAD_AFTER_MS}`;

/** Does `work` in one transaction; a connection that could not be rolled back is not used again. */
export async function withTransaction<Result>(
  pool: Pool,
  work: (client: PoolClient) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  let isBroken = true;
  try {
    await client.query(BEGIN);
    const result = await work(client);
    await client.query('COMMIT');
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
}
