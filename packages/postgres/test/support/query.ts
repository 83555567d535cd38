import pg from 'pg';

/** By the URL of their server: to connect costs it more than most questions do. They end with their server or database. */
const connections = new Map<string, Promise<pg.Client>>();

/** Runs SQL on a server, over one connection for all that is asked so. */
export async function query(
  url: string,
  sql: string,
  values: readonly unknown[] = [],
): Promise<readonly Record<string, unknown>[]> {
  const client = await (connections.get(url) ?? connect(url));
  const { rows } = await client.query<Record<string, unknown>>(
    sql,
    values.length === 0 ? undefined : [...values],
  );
  return rows;
}

function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  const connection = client.connect().then(() => client);
  const forget = (): void => {
    if (connections.get(url) === connection) connections.delete(url);
  };
  client.on('error', forget).on('end', forget); // a server that is ended meanwhile: the query tells it
  connection.catch(forget);
  connections.set(url, connection);
  return connection;
}
