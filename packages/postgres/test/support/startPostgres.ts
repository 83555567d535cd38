import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

/** A PostgreSQL server of its own, with nothing in it. */
export interface PostgresServer {
  readonly url: string;
  /** As the power goes out: what was not committed is lost, connections end. It is up again when this resolves. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

interface Ids {
  readonly uid: number;
  readonly gid: number;
}

/** PostgreSQL refuses to be root, and nobody else sees the folder of root's tests. */
const USER: Ids | null = userInfo().uid === 0 ? idsOf('postgres') : null;
const FOLDERS = USER === null ? tmpdir() : '/tmp';

function idsOf(user: string): Ids {
  const id = (flag: string): number => Number(execFileSync('id', [flag, user], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function accepts(url: string, child: ChildProcess): Promise<void> {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`PostgreSQL ended with ${child.exitCode}.`);
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.end();
      return;
    } catch {
      await sleep(20);
    }
  }
}

export async function startPostgres(): Promise<PostgresServer> {
  const dir = mkdtempSync(join(FOLDERS, 'devs-pg-'));
  if (USER !== null) chownSync(dir, USER.uid, USER.gid);
  const data = join(dir, 'data');
  execFileSync('initdb', ['-D', data, '-U', 'devs', '-A', 'trust', '--no-sync', '-E', 'UTF8', '--locale=C'], {
    ...USER,
    cwd: dir,
    stdio: 'ignore',
  });
  const port = await freePort();
  const url = `postgres://devs@127.0.0.1:${port}/postgres`;
  const args = [
    '-D',
    data,
    '-h',
    '127.0.0.1',
    '-p',
    String(port),
    '-k',
    dir,
    '-c',
    'fsync=off',
    '-c',
    'max_connections=60',
  ];
  const start = async (): Promise<ChildProcess> => {
    const child = spawn('postgres', args, { ...USER, cwd: dir, stdio: 'ignore' });
    await accepts(url, child);
    return child;
  };
  let child = await start();
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await ended;
  };
  return {
    url,
    restart: async () => {
      await end('SIGQUIT');
      child = await start();
    },
    stop: async () => {
      await end('SIGQUIT');
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
