import pg from 'pg';

/** Runs SQL on a server, over a connection of its own. */
export async function query(
  url: string,
  sql: string,
  values: readonly unknown[] = [],
): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined); // of a server that is ended meanwhile: the query tells it
  await client.connect();
  try {
    const { rows } = await client.query<Record<string, unknown>>(
      sql,
      values.length === 0 ? undefined : [...values],
    );
    return rows;
  } finally {
    await client.end();
  }
}
