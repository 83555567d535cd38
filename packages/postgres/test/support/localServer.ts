import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { chownSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env } from 'node:process';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { leaveFreshData, takeFreshData } from './freshData.ts';
import { type Ids, otherUser, postgresPrograms } from './postgresPrograms.ts';

/** A server of its own process, which ends when that of its caller does. */
export interface LocalServer {
  readonly port: number;
  /** @param meanwhile - Is given the folder of its data. */
  restart(meanwhile?: (data: string) => void): Promise<void>;
  /** Restarts and answers whoever comes with 57P03, as long as it recovers: until what this resolves to is called. */
  recover(): Promise<() => Promise<void>>;
  stop(): Promise<void>;
}

/**
 * Runs the server as long as its input is open: the system closes that when the caller ends, even if it is killed. The log
 * ends when the server has; then its folder goes, unless the last word was to keep it.
 */
const WATCH = `
exec 3<&0 4>&1 </dev/null >/dev/null 2>&1
bin=$1 data=$2; shift 2
if [ ! -e "$data" ]; then
  "$bin/initdb" -D "$data" -U devs -A trust --no-sync -E UTF8 --locale=C >&4 2>&4 || rm -rf "$data"
  cp -a "$data" "$data.fresh"
fi
"$bin/postgres" -D "$data" "$@" >&4 2>&4 3<&- 4>&- & server=$!
exec 4>&-
read -r word <&3
kill -QUIT $server
wait $server
[ "$word" = keep ] || rm -rf "$PWD"
`;

const READY = /database system is ready to accept connections/;
const RECOVERS = /entering standby mode/;
const KEEP = 'keep';
const PORT_TAKEN = /could not create any TCP\/IP sockets/;

/** For speed, not for power cuts. There is no socket file: its path would be too long for some systems. */
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  fsync: 'off',
  max_connections: '100',
  shared_buffers: '32MB',
};

type Process = ChildProcessByStdio<Writable, Readable, null>;

/** `null` where the port is taken. */
export async function startLocalServer(
  port: number,
  settings: Readonly<Record<string, string>>,
): Promise<LocalServer | null> {
  const user = otherUser();
  // Nobody else sees the temporary folder of root's tests.
  const dir = mkdtempSync(join(user === null ? tmpdir() : '/tmp', 'devs-pg-'));
  if (user !== null) chownSync(dir, user.uid, user.gid);
  const bin = programsOrNoFolder(dir, user);
  const options = Object.entries({ ...SETTINGS, ...settings }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ]);
  const data = join(dir, 'data');
  const isFirst = await takeFreshData(data);
  const standby = join(data, 'standby.signal');
  const args = ['-c', WATCH, 'sh', bin, data, '-p', String(port), ...options];
  const start = (more: readonly string[] = [], isThere = READY): Promise<Process | null> =>
    ready(
      spawn('/bin/sh', [...args, ...more], {
        ...user,
        cwd: dir,
        env: { PATH: env['PATH'] ?? '/usr/bin:/bin', LC_ALL: 'C' },
        stdio: ['pipe', 'pipe', 'ignore'],
        // An interrupt from the keyboard is for the tests: their end is the server's.
        detached: true,
      }),
      isThere,
    );
  let running = await start();
  if (isFirst) leaveFreshData(`${data}.fresh`);
  if (running === null) rmSync(dir, { recursive: true });
  return running === null ? null : { port, restart, recover, stop };

  async function restart(meanwhile?: (data: string) => void): Promise<void> {
    await again(() => {
      rmSync(standby, { force: true });
      meanwhile?.(data);
    });
  }

  async function again(meanwhile: () => void, ...how: Parameters<typeof start>): Promise<Process> {
    await end(running, KEEP);
    meanwhile();
    // Another server of these tests may try the port; it goes at once to another one.
    do running = await start(...how);
    while (running === null);
    return running;
  }

  async function recover(): Promise<() => Promise<void>> {
    const awaitMore = (): void => writeFileSync(standby, '');
    const { stdout } = await again(awaitMore, ['-c', 'hot_standby=off'], RECOVERS);
    return async () => {
      stdout.pause();
      const isReady = saysIn(stdout, READY);
      // What `pg_ctl promote` does.
      writeFileSync(join(data, 'promote'), '');
      process.kill(Number.parseInt(readFileSync(join(data, 'postmaster.pid'), 'utf8'), 10), 'SIGUSR1');
      await isReady;
    };
  }

  function stop(): Promise<void> {
    return end(running, '');
  }
}

function programsOrNoFolder(dir: string, user: Ids | null): string {
  try {
    return postgresPrograms(dir, user);
  } catch (error) {
    rmSync(dir, { recursive: true });
    throw error;
  }
}

/** `null` where the port is taken. */
async function ready(server: Process, isThere: RegExp): Promise<Process | null> {
  const log: string[] = [];
  if (await saysIn(server.stdout, isThere, log)) return server;
  const isTaken = log.some((line) => PORT_TAKEN.test(line));
  await end(server, isTaken ? KEEP : '');
  if (isTaken) return null;
  throw new Error(`PostgreSQL did not start:\n${log.join('\n')}`);
}

/** Whether a line of the log is there before it ends. */
async function saysIn(output: Readable, word: RegExp, log: string[] = []): Promise<boolean> {
  for await (const line of createInterface({ input: output })) {
    log.push(line);
    if (!word.test(line)) continue;
    output.resume(); // or the server would wait for a reader
    return true;
  }
  return false;
}

async function end(server: Process | null, word: string): Promise<void> {
  if (server === null || server.exitCode !== null) return;
  const ended = new Promise((resolve) => server.once('exit', resolve));
  server.stdin.end(`${word}\n`);
  await ended;
}
