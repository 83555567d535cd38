// Pools of connections, and a transaction on one of them.
import pg, { type Pool, type PoolClient, type PoolConfig } from 'pg';
import { isAway } from './faults.ts';
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

/**
 * Does `work` in one transaction. A connection that could not be rolled back is not used again. Nor is one to a server that cannot be
 * used now, as the next one may be to another server.
 */
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
        isBroken = isAway(error);
      },
      () => undefined,
    );
    throw error;
  } finally {
    client.release(isBroken);
  }
}

/** Of the pattern below. */
const LOOKS = 3;

/**
 * Whether transactions of one connection are in several sessions of the server, or those of several connections in one. Where only
 * this process asks, the first look finds it. A pooler gives one connection another session each time, or both connections the
 * session that was used last.
 */
export async function sharesSessions(pool: Pool): Promise<boolean> {
  return withClient(pool, async (one) => {
    const own = await sessionOf(one);
    // The server names its process when a connection begins; a pooler makes up a number.
    if (Reflect.get(one, 'processID') === own) return false;
    return withClient(pool, async (other) => {
      for (let look = 0; look < LOOKS; look += 1)
        if ((await sessionOf(one)) !== own || (await sessionOf(other)) === own) return true;
      return false;
    });
  });
}

async function withClient<Result>(
  pool: Pool,
  work: (client: PoolClient) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  let isBroken = true;
  try {
    const result = await work(client);
    isBroken = false;
    return result;
  } finally {
    client.release(isBroken);
  }
}

async function sessionOf(client: PoolClient): Promise<number | undefined> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return rows[0]?.pid;
}
