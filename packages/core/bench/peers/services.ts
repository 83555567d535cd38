// The servers a stack needs beside Node.js, each private to one scenario and on loopback only.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export type ServiceName = 'postgres' | 'restate';

export interface Service {
  /** What its clients are told. */
  readonly env: Readonly<Record<string, string>>;
  /** Folder of the state. */
  readonly state: string;
  /** Of the server; null where none is needed. */
  readonly pid: number | null;
  /** Milliseconds from its start until it answered. */
  readonly readyMs: number;
  readonly stop: () => Promise<void>;
}

const LOOPBACK = '127.0.0.1';

async function freePort(): Promise<number> {
  const server = createServer().listen(0, LOOPBACK);
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** @returns Milliseconds it took. @throws Error if `isUp` is not true within 60 s. */
async function untilUp(name: string, isUp: () => Promise<boolean>): Promise<number> {
  const begun = Date.now();
  for (; Date.now() < begun + 60_000; await sleep(20)) if (await isUp()) return Date.now() - begun;
  throw new Error(`${name} did not start.`);
}

function stopper(child: ChildProcess, signal: NodeJS.Signals): () => Promise<void> {
  const ended = new Promise((resolve) => child.on('close', resolve));
  return async () => {
    child.kill(signal);
    await ended;
  };
}

/** Where Debian puts the server, the newest version of it; null if it is not installed. */
export function postgresFolder(): string | null {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = versions.map((version) => join(debian, version, 'bin'));
  return folders.find((folder) => existsSync(join(folder, 'initdb'))) ?? null;
}

/** PostgreSQL refuses to run as root; Debian's package brings a user for it. */
function postgresUser(): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const id = (flag: string): number => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

async function postgres(folder: string): Promise<Service> {
  const bin = postgresFolder() ?? '';
  const data = join(folder, 'postgres');
  const user = postgresUser();
  mkdirSync(data);
  if (user.uid !== undefined) execFileSync('chown', [`${user.uid}:${user.gid}`, data]);
  const options = { ...user, cwd: data, stdio: 'ignore' } as const;
  execFileSync(join(bin, 'initdb'), ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8'], options);
  const port = await freePort();
  const child = spawn(
    join(bin, 'postgres'),
    ['-D', data, '-h', LOOPBACK, '-p', `${port}`, '-k', ''],
    options,
  );
  const isReady = async (): Promise<boolean> => {
    try {
      execFileSync(join(bin, 'pg_isready'), ['-q', '-h', LOOPBACK, '-p', `${port}`]);
      return true;
    } catch {
      return false;
    }
  };
  return {
    env: { PEERS_POSTGRES: `postgresql://postgres@${LOOPBACK}:${port}/peers` },
    state: data,
    pid: child.pid ?? null,
    readyMs: await untilUp('PostgreSQL', isReady),
    stop: stopper(child, 'SIGINT'),
  };
}

/** The server's own binary: its npm package only starts it. */
function restateBinary(modules: string): string {
  const store = join(modules, '.pnpm');
  const platform = readdirSync(store).find((name) => name.startsWith('@restatedev+restate-server-'));
  if (platform === undefined) throw new Error('No binary of restate-server for this platform.');
  const scope = join(store, platform, 'node_modules', '@restatedev');
  return join(scope, readdirSync(scope)[0] ?? '', 'bin', 'restate-server');
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).ok;
  } catch {
    return false;
  }
}

async function restate(folder: string, installed: string): Promise<Service> {
  const at = async (): Promise<string> => `${LOOPBACK}:${await freePort()}`;
  const [ingress, admin, node, endpoint] = [await at(), await at(), await at(), await at()];
  const data = join(folder, 'restate');
  const env = {
    ...process.env,
    RESTATE_DISABLE_TELEMETRY: 'true',
    RESTATE_LISTEN_MODE: 'tcp',
    RESTATE_BIND_ADDRESS: node,
    RESTATE_ADVERTISED_HOST: LOOPBACK,
    RESTATE_INGRESS__BIND_ADDRESS: ingress,
    RESTATE_ADMIN__BIND_ADDRESS: admin,
  };
  const binary = restateBinary(join(installed, 'node_modules'));
  const child = spawn(binary, ['--no-logo', '--base-dir', data], { env, stdio: 'ignore' });
  const isReady = async (): Promise<boolean> =>
    (await answers(`http://${admin}/health`)) && (await answers(`http://${ingress}/restate/health`));
  return {
    env: {
      PEERS_INGRESS: `http://${ingress}`,
      PEERS_ADMIN: `http://${admin}`,
      PEERS_ENDPOINT: endpoint,
      RESTATE_LOGGING: 'ERROR',
    },
    state: data,
    pid: child.pid ?? null,
    readyMs: await untilUp('restate-server', isReady),
    stop: stopper(child, 'SIGTERM'),
  };
}

/** @param installed Folder in which the stack is installed. */
export async function startService(
  name: ServiceName | null,
  folder: string,
  installed: string,
): Promise<Service> {
  if (name === 'postgres') return postgres(folder);
  if (name === 'restate') return restate(folder, installed);
  return { env: {}, state: folder, pid: null, readyMs: 0, stop: async () => {} };
}
