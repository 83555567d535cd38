// Pools of connections, and a transaction on one of them.
import pg, { type Pool, type PoolClient, type PoolConfig } from 'pg';
import { DEAD_AFTER_MS } from './Owner.ts';

export const CONNECT_MS = 10_000;

export const CONNECTION = {
  application_name: 'devs',
  connectionTimeoutMillis: CONNECT_MS,
  keepAlive: true,
} as const;

export function poolOf(config: PoolConfig): Pool {
  const pool = new pg.Pool(config);
  // One whose connection ends is not used again; who was using it is told by the query.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

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
