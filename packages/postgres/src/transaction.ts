import type { Pool, PoolClient } from 'pg';

/** Does `work` in one transaction; a connection that could not be rolled back is not used again. */
export async function transaction<Result>(
  pool: Pool,
  work: (client: PoolClient) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  let broken = true;
  try {
    await client.query('BEGIN');
    const result = await work(client);
    await client.query('COMMIT');
    broken = false;
    return result;
  } catch (error) {
    await client.query('ROLLBACK').then(
      () => (broken = false),
      () => undefined,
    );
    throw error;
  } finally {
    client.release(broken);
  }
}
